// Kernels that take nearly all registers there are: something read for each score beside long heads of 8 bits and of f32, and a bound by tanh of three warpgroups, whose last products or rounds would not fit, and whose exact scores take blocks of 112 keys;
// documents beside a bias, of 8 bits, or beside a tanh and a bias: what does not come through shared memory leaves registers for 96 keys.
// REQUIRES: nvrtc
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | swage-translate --swage-to-report | FileCheck %s --implicit-check-not='(C75'
// CHECK-COUNT-5: registers, 0 bytes spilled, 0 bytes of stack
// RUN: swage-opt %s --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=STAGED
// STAGED-DAG: attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 1, patience = 1, {{.*}} score_stages = 1
// STAGED-DAG: attention_schedule<groups = 3, keys = 112
// STAGED-DAG: attention_schedule<groups = 2, keys = 128, stages = 2, query_slots = 2, patience = 1, {{.*}} score_stages = 1
// STAGED-DAG: attention_schedule<groups = 2, keys = 112, stages = 2, query_slots = 1, patience = 8, {{.*}} score_stages = 1
// STAGED-DAG: portable_attention_schedule<warps = 4, atoms = 1, keys = 16
// Read by elements, which do not lie together for a query.
// RUN: sed -e 's/\[%h, %i, %j\]/[%h, %j, %i]/; s/3x300x700xf32/3x700x300xf32/g; s/3x231x210xf32/3x210x231xf32/g' %s > %t.mlir
// RUN: swage-opt %t.mlir --swage-kernel-pipeline 2>/dev/null | swage-translate --swage-to-report | FileCheck %s --implicit-check-not='(C75'
// RUN: swage-opt %t.mlir --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=SCHEDULE --implicit-check-not=score_stages
// SCHEDULE-DAG: attention_schedule<groups = 2, keys = 64, stages = 2, query_slots = 2, patience = 1
// SCHEDULE-DAG: attention_schedule<groups = 3, keys = 112
// SCHEDULE-DAG: attention_schedule<groups = 2, keys = 96, stages = 2, query_slots = 2, patience = 1
// SCHEDULE-DAG: attention_schedule<groups = 2, keys = 96, stages = 2, query_slots = {{[12]}}, patience = 8
// SCHEDULE-DAG: portable_attention_schedule<warps = 4, atoms = 1, keys = 16
func.func @main(%q: tensor<2x3x300x256xf8E4M3FN>, %k: tensor<2x3x700x256xf8E4M3FN>, %v: tensor<2x3x700x240xf8E4M3FN>, %bias: tensor<3x300x700xf32>, %w: tensor<1x3x231x56xf32>, %x: tensor<1x3x210x56xf32>, %y: tensor<1x3x210x256xf32>, %add: tensor<3x231x210xf32>, %s: tensor<1x6x653x64xbf16>, %t: tensor<1x3x383x64xbf16>)
    -> (tensor<2x3x300x240xbf16>, tensor<1x3x231x256xf32>, tensor<1x6x653x64xbf16>) {
  %narrow = swage.attention %q, %k, %v scale 0.0625 score {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    %more = tensor.extract %bias[%h, %i, %j] : tensor<3x300x700xf32>
    %sum = arith.addf %score, %more : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<2x3x300x256xf8E4M3FN>, tensor<2x3x700x256xf8E4M3FN>, tensor<2x3x700x240xf8E4M3FN>) -> tensor<2x3x300x240xbf16>
  %wide = swage.attention %w, %x, %y scale 0.1336 score {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    %more = tensor.extract %add[%h, %i, %j] : tensor<3x231x210xf32>
    %sum = arith.addf %score, %more : f32
    swage.yield %sum : f32
  } : (tensor<1x3x231x56xf32>, tensor<1x3x210x56xf32>, tensor<1x3x210x256xf32>) -> tensor<1x3x231x256xf32>
  %bounded = swage.attention %s, %t, %t scale 0.125 batch_invariant score {
  ^bb0(%score: f32, %b: index, %h: index, %i: index, %j: index):
    %less = arith.constant 0.02 : f32
    %most = arith.constant 50.0 : f32
    %small = arith.mulf %score, %less : f32
    %held = math.tanh %small : f32
    %bound = arith.mulf %held, %most : f32
    swage.yield %bound : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<1x6x653x64xbf16>, tensor<1x3x383x64xbf16>, tensor<1x3x383x64xbf16>) -> tensor<1x6x653x64xbf16>
  return %narrow, %wide, %bounded : tensor<2x3x300x240xbf16>, tensor<1x3x231x256xf32>, tensor<1x6x653x64xbf16>
}

func.func @documents(%q: tensor<2x4x1000x112xf8E4M3FN>, %k: tensor<2x4x1000x112xf8E4M3FN>, %v: tensor<2x4x1000x112xf8E4M3FN>, %ids: tensor<2x1000xi32>, %bias: tensor<4x1000x1000xf32>) -> tensor<2x4x1000x112xbf16> {
  %o = swage.attention %q, %k, %v scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<4x1000x1000xf32>
    %r = arith.addf %s, %e : f32
    swage.yield %r : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<2x1000xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<2x1000xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<2x4x1000x112xf8E4M3FN>, tensor<2x4x1000x112xf8E4M3FN>, tensor<2x4x1000x112xf8E4M3FN>) -> tensor<2x4x1000x112xbf16>
  return %o : tensor<2x4x1000x112xbf16>
}

func.func @bound(%q: tensor<2x4x1000x128xbf16>, %k: tensor<2x4x1000x128xbf16>, %v: tensor<2x4x1000x128xbf16>, %ids: tensor<2x1000xi32>, %bias: tensor<4x1000x1000xf32>) -> tensor<2x4x1000x128xbf16> {
  %o = swage.attention %q, %k, %v scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<4x1000x1000xf32>
    %less = arith.constant 0.02 : f32
    %small = arith.mulf %s, %less : f32
    %held = math.tanh %small : f32
    %r = arith.addf %held, %e : f32
    swage.yield %r : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<2x1000xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<2x1000xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<2x4x1000x128xbf16>, tensor<2x4x1000x128xbf16>, tensor<2x4x1000x128xbf16>) -> tensor<2x4x1000x128xbf16>
  return %o : tensor<2x4x1000x128xbf16>
}
