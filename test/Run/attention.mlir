// REQUIRES: host-compiler
// Attention from the op to a kernel, on the simulator against the reference: numbers of queries and
// keys that no tile divides, heads that share keys, row results, operands and results in the order of a projection, head dims of
// their own, masks that are bounds and masks that are none, score functions with operands, queries that see nothing.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_86 --check --sim=check,async=random,order=random,seed=6 | FileCheck %s
// RUN: swage-run %s --entry=lengths --arch=sm_80 --dims='3,2,130,64;3,1,201,64;3,1,201,64;3' --device=sim --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=lengths --dims='3,2,130,64;3,1,201,64;3,1,201,64;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=lengths --dims='3,2,1,64;3,1,1,64;3,1,1,64;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=lengths --dims='3,2,0,64;3,1,0,64;3,1,0,64;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: not swage-run %s --entry=lengths --dims='3,2,1,64;3,1,0,64;3,1,0,64;3' --device=sim --check 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: swage-run %s --entry=batches --dims='2,3,4,70,64;2,3,2,90,64;2,3,90;3,4;90' --device=sim --sim=check --check | FileCheck %s --check-prefix=BATCHES
// RUN: swage-run %s --entry=batches --dims='2,1,4,5,64;2,1,2,1,64;2,1,5;1,4;1' --device=sim --sim=check --check | FileCheck %s --check-prefix=BATCHES
// RUN: swage-run %s --entry=again --device=sim --check | FileCheck %s --check-prefix=AGAIN
// CHECK: reg{{.*}}schedule
// CHECK-COUNT-10: attention_{{[0-9a-f]+}}
// CHECK-COUNT-11: accepted
// CHECK-NOT: rejected
// DYNAMIC: 0 {{.*}} accepted
// NONE: kernel @attention_{{[0-9a-z_]+}}: input 1 has no elements; needed: at least one, because the copy engine reads it for what is written
// BATCHES-COUNT-2: accepted
// BATCHES-NOT: rejected
// AGAIN-COUNT-2: accepted
func.func @main(%q: tensor<2x4x130x64xbf16>, %k: tensor<2x2x201x64xbf16>, %v: tensor<2x2x201x64xbf16>, %packed: tensor<2x70x3x2x72xf16>,
                %qw: tensor<1x2x200x192xbf16>, %kw: tensor<1x2x140x192xbf16>, %vw: tensor<1x2x140x128xbf16>, %slopes: tensor<4xf32>,
                %documents: tensor<2x201xi32>, %bias: tensor<4x130x201xbf16>)
    -> (tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<2x70x144xf16>, tensor<1x2x200x128xbf16>,
        tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>,
        tensor<2x4x130x64xbf16>) {
  %plain = swage.attention %q, %k, %v scale 0.125
      : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  // A query sees keys up to its own position, counted from the last ones, and the sums of its weights.
  %causal, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c71 = arith.constant 71 : index
    %last = arith.addi %i, %c71 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> (tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>)

  // Queries, keys and values beside each other in one projection; heads beside each other in the result.
  %heads = swage.permute %packed [2, 0, 3, 1, 4] : tensor<2x70x3x2x72xf16> -> tensor<3x2x2x70x72xf16>
  %q3 = swage.slice %heads axis 0 from 0 size 1 : tensor<3x2x2x70x72xf16> -> tensor<1x2x2x70x72xf16>
  %k3 = swage.slice %heads axis 0 from 1 size 1 : tensor<3x2x2x70x72xf16> -> tensor<1x2x2x70x72xf16>
  %v3 = swage.slice %heads axis 0 from 2 size 1 : tensor<3x2x2x70x72xf16> -> tensor<1x2x2x70x72xf16>
  %q2 = swage.reshape %q3 : tensor<1x2x2x70x72xf16> -> tensor<2x2x70x72xf16>
  %k2 = swage.reshape %k3 : tensor<1x2x2x70x72xf16> -> tensor<2x2x70x72xf16>
  %v2 = swage.reshape %v3 : tensor<1x2x2x70x72xf16> -> tensor<2x2x70x72xf16>
  %o2 = swage.attention %q2, %k2, %v2 scale 0.1178511302 : (tensor<2x2x70x72xf16>, tensor<2x2x70x72xf16>, tensor<2x2x70x72xf16>) -> tensor<2x2x70x72xf16>
  %rows = swage.permute %o2 [0, 2, 1, 3] : tensor<2x2x70x72xf16> -> tensor<2x70x2x72xf16>
  %merged = swage.reshape %rows : tensor<2x70x2x72xf16> -> tensor<2x70x144xf16>

  // Queries and keys longer than values, and later queries that see nothing.
  %wide = swage.attention %qw, %kw, %vw scale 0.07216878365 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sge, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<1x2x200x192xbf16>, tensor<1x2x140x192xbf16>, tensor<1x2x140x128xbf16>) -> tensor<1x2x200x128xbf16>

  // A window.
  %window = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c40 = arith.constant 40 : index
    %behind = arith.subi %i, %c40 : index
    %from = arith.cmpi sge, %j, %behind : index
    %to = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %from, %to : i1
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  // A bias that grows with the distance.
  %alibi = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%h] : tensor<4xf32>
    %distance = arith.subi %j, %i : index
    %integer = arith.index_cast %distance : index to i32
    %number = arith.sitofp %integer : i32 to f32
    %term = arith.mulf %slope, %number : f32
    %t = arith.addf %s, %term : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  // Documents, of which a query sees its own; before its own position all the same.
  %packing = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%b, %i] : tensor<2x201xi32>
    %other = tensor.extract %documents[%b, %j] : tensor<2x201xi32>
    %same = arith.cmpi eq, %mine, %other : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  // A bias for each score, which is held to a range.
  %biased = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %c4 = arith.constant 4.0 : f32
    %cquarter = arith.constant 0.25 : f32
    %element = tensor.extract %bias[%h, %i, %j] : tensor<4x130x201xbf16>
    %term = arith.extf %element : bf16 to f32
    %sum = arith.addf %s, %term : f32
    %quarter = arith.mulf %sum, %cquarter : f32
    %held = math.tanh %quarter : f32
    %t = arith.mulf %held, %c4 : f32
    swage.yield %t : f32
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  // No query sees anything: zeros, or NaN.
  %blind = swage.attention %q, %k, %v mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sgt, %j, %j : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>
  %nan = swage.attention %q, %k, %v nan_rows mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c3 = arith.constant 3 : index
    %seen = arith.cmpi slt, %i, %c3 : index
    swage.yield %seen : i1
  } : (tensor<2x4x130x64xbf16>, tensor<2x2x201x64xbf16>, tensor<2x2x201x64xbf16>) -> tensor<2x4x130x64xbf16>

  return %plain, %causal, %lse, %merged, %wide, %window, %alibi, %packing, %biased, %blind, %nan
      : tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130xf32>, tensor<2x70x144xf16>, tensor<1x2x200x128xbf16>,
        tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>, tensor<2x4x130x64xbf16>,
        tensor<2x4x130x64xbf16>
}

// Extents that the launch brings, and a number of keys for each sequence.
func.func @lengths(%q: tensor<?x2x?x64xbf16>, %k: tensor<?x1x?x64xbf16>, %v: tensor<?x1x?x64xbf16>, %lengths: tensor<?xi32>) -> tensor<?x2x?x64xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<?xi32>
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x2x?x64xbf16>, tensor<?x1x?x64xbf16>, tensor<?x1x?x64xbf16>) -> tensor<?x2x?x64xbf16>
  return %o : tensor<?x2x?x64xbf16>
}

// One kernel twice, whose tickets begin with what the first launch has left; and work around it that stays outside.
func.func @again(%q: tensor<1x2x130x64xbf16>, %k: tensor<1x2x130x64xbf16>) -> (tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>) {
  %x = arith.addf %q, %k : tensor<1x2x130x64xbf16>
  %y = swage.attention %x, %k, %q scale 0.125 : (tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>) -> tensor<1x2x130x64xbf16>
  %z = swage.attention %y, %k, %q scale 0.125 : (tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>) -> tensor<1x2x130x64xbf16>
  return %z, %y : tensor<1x2x130x64xbf16>, tensor<1x2x130x64xbf16>
}

// Two batch dimensions, of which tensors around it have both, one, or none; heads beside each other in the result.
func.func @batches(%q: tensor<2x?x4x?x64xbf16>, %k: tensor<2x?x2x?x64xbf16>, %documents: tensor<2x?x?xi32>, %slopes: tensor<?x4xf32>, %bias: tensor<?xf32>)
    -> (tensor<2x?x?x4x64xbf16>, tensor<2x?x4x?xf32>) {
  %o, %lse = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %a: index, %b: index, %h: index, %i: index, %j: index):
    %slope = tensor.extract %slopes[%b, %h] : tensor<?x4xf32>
    %term = tensor.extract %bias[%j] : tensor<?xf32>
    %product = arith.mulf %slope, %term : f32
    %t = arith.addf %s, %product : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%a: index, %b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%a, %b, %i] : tensor<2x?x?xi32>
    %number = arith.index_cast %j : index to i32
    %seen = arith.cmpi ne, %mine, %number : i32
    swage.yield %seen : i1
  } : (tensor<2x?x4x?x64xbf16>, tensor<2x?x2x?x64xbf16>, tensor<2x?x2x?x64xbf16>) -> (tensor<2x?x4x?x64xbf16>, tensor<2x?x4x?xf32>)
  %heads = swage.permute %o [0, 1, 3, 2, 4] : tensor<2x?x4x?x64xbf16> -> tensor<2x?x?x4x64xbf16>
  return %heads, %lse : tensor<2x?x?x4x64xbf16>, tensor<2x?x4x?xf32>
}
