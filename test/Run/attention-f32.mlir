// REQUIRES: host-compiler
// Attention of f32 on the simulator against the reference, whose bounds are those of f32: numbers of queries and keys that no
// tile divides, one query, heads that share keys, masks that are bounds and masks that are none, a score function, queries that see
// nothing, head dims of an odd number of steps, results that become narrower; infinities and NaN among the operands.
// RUN: swage-run %s --device=sim --sim=check --check | FileCheck %s
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=5 | FileCheck %s
// RUN: swage-run %s --device=sim --arch=sm_89 --check --sim=async=random,order=random,seed=6 | FileCheck %s
// RUN: swage-run %s --entry=dynamic --dims='3,2,65,64;3,1,33,64;3,1,33,64;3' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// RUN: swage-run %s --entry=dynamic --dims='1,2,1,64;1,1,1,64;1,1,1,64;1' --device=sim --sim=check --check | FileCheck %s --check-prefix=DYNAMIC
// One key, of denormal values among others: what two parts leave out of these is granted.
// RUN: swage-run %s --entry=dynamic --dims='1,2,3,64;1,1,1,64;1,1,1,64;1' --inputs=nasty --device=sim --sim=check --check | FileCheck %s --check-prefix=SPECIAL
// RUN: swage-run %s --entry=special --inputs=nasty --device=sim --check | FileCheck %s --check-prefix=SPECIAL
// RUN: swage-run %s --entry=special --inputs=nasty --seed=3 --device=sim --check | FileCheck %s --check-prefix=SPECIAL
// RUN: swage-run %s --entry=infinite --device=sim --check | FileCheck %s --check-prefix=INFINITE
// CHECK-COUNT-8: accepted
// CHECK-NOT: {{rejected|REJECTED}}
// DYNAMIC-COUNT-2: accepted
// SPECIAL-COUNT-2: accepted
// INFINITE: 0 {{.*}} accepted
// SPECIAL-NOT: {{rejected|REJECTED}}
func.func @main(%q: tensor<2x4x70x64xf32>, %k: tensor<2x2x99x64xf32>, %v: tensor<2x2x99x64xf32>, %packed: tensor<2x67x3x2x72xf32>,
                %qw: tensor<1x2x40x192xf32>, %kw: tensor<1x2x83x192xf32>, %vw: tensor<1x2x83x24xf32>, %one: tensor<2x4x1x256xf32>,
                %cache: tensor<2x2x50x256xf32>, %slopes: tensor<4xf32>, %documents: tensor<2x99xi32>)
    -> (tensor<2x4x70x64xf32>, tensor<2x4x70x64xf32>, tensor<2x4x70xf32>, tensor<2x67x144xf32>, tensor<1x2x40x24xf32>,
        tensor<2x4x1x256xf32>, tensor<2x4x70x64xbf16>, tensor<2x4x70x64xf32>) {
  %plain = swage.attention %q, %k, %v scale 0.125
      : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x64xf32>) -> tensor<2x4x70x64xf32>

  // A query sees keys up to its own position, counted from the last ones, and the sums of its weights.
  %causal, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c29 = arith.constant 29 : index
    %last = arith.addi %i, %c29 : index
    %seen = arith.cmpi sle, %j, %last : index
    swage.yield %seen : i1
  } : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x64xf32>) -> (tensor<2x4x70x64xf32>, tensor<2x4x70xf32>)

  // Queries, keys and values beside each other in one projection; heads beside each other in the result.
  %heads = swage.permute %packed [2, 0, 3, 1, 4] : tensor<2x67x3x2x72xf32> -> tensor<3x2x2x67x72xf32>
  %q3 = swage.slice %heads axis 0 from 0 size 1 : tensor<3x2x2x67x72xf32> -> tensor<1x2x2x67x72xf32>
  %k3 = swage.slice %heads axis 0 from 1 size 1 : tensor<3x2x2x67x72xf32> -> tensor<1x2x2x67x72xf32>
  %v3 = swage.slice %heads axis 0 from 2 size 1 : tensor<3x2x2x67x72xf32> -> tensor<1x2x2x67x72xf32>
  %q2 = swage.reshape %q3 : tensor<1x2x2x67x72xf32> -> tensor<2x2x67x72xf32>
  %k2 = swage.reshape %k3 : tensor<1x2x2x67x72xf32> -> tensor<2x2x67x72xf32>
  %v2 = swage.reshape %v3 : tensor<1x2x2x67x72xf32> -> tensor<2x2x67x72xf32>
  %o2 = swage.attention %q2, %k2, %v2 scale 0.1178511302 : (tensor<2x2x67x72xf32>, tensor<2x2x67x72xf32>, tensor<2x2x67x72xf32>) -> tensor<2x2x67x72xf32>
  %rows = swage.permute %o2 [0, 2, 1, 3] : tensor<2x2x67x72xf32> -> tensor<2x67x2x72xf32>
  %merged = swage.reshape %rows : tensor<2x67x2x72xf32> -> tensor<2x67x144xf32>

  // Queries and keys longer than values; the first queries see nothing.
  %blind = swage.attention %qw, %kw, %vw scale 0.07216878365 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c5 = arith.constant 5 : index
    %before = arith.subi %i, %c5 : index
    %seen = arith.cmpi sle, %j, %before : index
    swage.yield %seen : i1
  } : (tensor<1x2x40x192xf32>, tensor<1x2x83x192xf32>, tensor<1x2x83x24xf32>) -> tensor<1x2x40x24xf32>

  // One query.
  %step = swage.attention %one, %cache, %cache scale 0.0625
      : (tensor<2x4x1x256xf32>, tensor<2x2x50x256xf32>, tensor<2x2x50x256xf32>) -> tensor<2x4x1x256xf32>

  // A bias that grows with the distance; the result becomes narrower.
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
  } : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x64xf32>) -> tensor<2x4x70x64xf32>
  %narrow = arith.truncf %alibi : tensor<2x4x70x64xf32> to tensor<2x4x70x64xbf16>

  // Documents, of which a query sees its own.
  %packing = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %documents[%b, %i] : tensor<2x99xi32>
    %other = tensor.extract %documents[%b, %j] : tensor<2x99xi32>
    %seen = arith.cmpi eq, %mine, %other : i32
    swage.yield %seen : i1
  } : (tensor<2x4x70x64xf32>, tensor<2x2x99x64xf32>, tensor<2x2x99x64xf32>) -> tensor<2x4x70x64xf32>
  return %plain, %causal, %lse, %merged, %blind, %step, %narrow, %packing
      : tensor<2x4x70x64xf32>, tensor<2x4x70x64xf32>, tensor<2x4x70xf32>, tensor<2x67x144xf32>, tensor<1x2x40x24xf32>,
        tensor<2x4x1x256xf32>, tensor<2x4x70x64xbf16>, tensor<2x4x70x64xf32>
}

func.func @dynamic(%q: tensor<?x2x?x64xf32>, %k: tensor<?x1x?x64xf32>, %v: tensor<?x1x?x64xf32>, %lengths: tensor<?xi32>) -> (tensor<?x2x?x64xf32>, tensor<?x2x?xf32>) {
  %o, %l = swage.attention %q, %k, %v mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<?xi32>
    %c20 = arith.constant 20 : i32
    %some = arith.addi %length, %c20 : i32
    %at = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %at, %some : i32
    swage.yield %seen : i1
  } : (tensor<?x2x?x64xf32>, tensor<?x1x?x64xf32>, tensor<?x1x?x64xf32>) -> (tensor<?x2x?x64xf32>, tensor<?x2x?xf32>)
  return %o, %l : tensor<?x2x?x64xf32>, tensor<?x2x?xf32>
}

func.func @special(%q: tensor<2x40x16xf32>, %k: tensor<2x50x16xf32>, %v: tensor<2x50x24xf32>) -> (tensor<2x40x24xf32>, tensor<2x40xf32>) {
  %o, %l = swage.attention %q, %k, %v scale 0.25 : (tensor<2x40x16xf32>, tensor<2x50x16xf32>, tensor<2x50x24xf32>) -> (tensor<2x40x24xf32>, tensor<2x40xf32>)
  return %o, %l : tensor<2x40x24xf32>, tensor<2x40xf32>
}

// A key of -inf has a weight of 0, a value of +inf makes its column infinite.
func.func @infinite(%q: tensor<2x40x16xf32>, %k: tensor<2x50x16xf32>, %v: tensor<2x50x24xf32>) -> tensor<2x40x24xf32> {
  %keys = swage.iota dim 1 : tensor<2x50x16xi32>
  %c9 = arith.constant dense<9> : tensor<2x50x16xi32>
  %isNinth = arith.cmpi eq, %keys, %c9 : tensor<2x50x16xi32>
  %least = arith.constant dense<0xFF800000> : tensor<2x50x16xf32>
  %k9 = arith.select %isNinth, %least, %k : tensor<2x50x16xi1>, tensor<2x50x16xf32>
  %values = swage.iota dim 1 : tensor<2x50x24xi32>
  %columns = swage.iota dim 2 : tensor<2x50x24xi32>
  %c7 = arith.constant dense<7> : tensor<2x50x24xi32>
  %isSeventh = arith.cmpi eq, %values, %c7 : tensor<2x50x24xi32>
  %isColumn = arith.cmpi eq, %columns, %c7 : tensor<2x50x24xi32>
  %isBoth = arith.andi %isSeventh, %isColumn : tensor<2x50x24xi1>
  %most = arith.constant dense<0x7F800000> : tensor<2x50x24xf32>
  %v7 = arith.select %isBoth, %most, %v : tensor<2x50x24xi1>, tensor<2x50x24xf32>
  %above = math.absf %q : tensor<2x40x16xf32>
  %o = swage.attention %above, %k9, %v7 scale 0.25 : (tensor<2x40x16xf32>, tensor<2x50x16xf32>, tensor<2x50x24xf32>) -> tensor<2x40x24xf32>
  return %o : tensor<2x40x24xf32>
}
