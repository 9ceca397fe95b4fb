// REQUIRES: host-compiler
// What scores and weights read for each query and key, through shared memory: of every size of element, at any place, behind the last query and the last key, in all forms of the loop, with blocks that are skipped. Nobody reads what was there before, whatever order threads and copies take.
// RUN: swage-run %s --device=sim --check --sim=check,async=random,order=random,seed=7 | FileCheck %s
// CHECK-DAG: groups=2 {{.*}} query_slots=2 {{.*}} score_stages=2
// CHECK-DAG: groups=2 {{.*}} query_slots=1 {{.*}} index=32 score_stages=1
// CHECK-DAG: groups=2 {{.*}} query_slots=1 {{.*}} parts={{[2-8]}} score_stages=1
// CHECK-DAG: groups=3 {{.*}} query_slots=2 {{.*}} score_stages=2
// CHECK-COUNT-8: accepted
// Results are those of elements that are read one by one, to the bit.
// RUN: rm -rf %t && mkdir %t
// RUN: swage-opt %s --swage-fuse --swage-merge-dimensions --swage-select-schedule > %t/staged.mlir
// RUN: sed 's/, score_stages = [12]//' %t/staged.mlir > %t/elements.mlir
// RUN: swage-run %t/staged.mlir --device=sim --save-outputs=%t/a
// RUN: swage-run %t/elements.mlir --device=sim --save-outputs=%t/b
// RUN: cmp %t/a/result0.npy %t/b/result0.npy
// RUN: cmp %t/a/result1.npy %t/b/result1.npy
// RUN: cmp %t/a/result2.npy %t/b/result2.npy
// RUN: cmp %t/a/result3.npy %t/b/result3.npy
// RUN: cmp %t/a/result4.npy %t/b/result4.npy
// RUN: cmp %t/a/result5.npy %t/b/result5.npy
// RUN: cmp %t/a/result6.npy %t/b/result6.npy
// RUN: cmp %t/a/result7.npy %t/b/result7.npy
func.func @main(%q: tensor<2x4x150x64xbf16>, %k: tensor<2x2x300x64xbf16>, %bias: tensor<4x150x300xbf16>, %seen: tensor<2x150x300xi1>,
                %long: tensor<1x2x130x128xf16>, %keys: tensor<1x2x516x128xf16>, %add: tensor<2x130x516xf32>, %kept: tensor<1x2x130x517xi1>, %ids: tensor<1x516xi32> {swage.range = array<i64: 3, 5>},
                %narrow: tensor<1x2x200x64xf8E4M3FN>, %few: tensor<1x2x200x272xi8>, %last: tensor<1x1x181x256xbf16>, %odd: tensor<1x181x181xbf16>,
                %many: tensor<2x40x150x64xbf16>, %further: tensor<2x40x400x64xbf16>, %table: tensor<40x150x400xf16>, %kinds: tensor<2x400xi32> {swage.range = array<i64: 3, 5>})
    -> (tensor<2x4x150x64xbf16>, tensor<1x2x130x128xf16>, tensor<1x2x130x128xf16>, tensor<1x2x130x128xf16>, tensor<1x2x200x64xbf16>, tensor<1x1x181x256xbf16>, tensor<2x40x150x64xbf16>, tensor<2x40x150x64xbf16>) {
  // Two at once, of rows at multiples of 8 and 4 bytes, in blocks of which the last one is no whole one.
  %both = swage.attention %q, %k, %k scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %bias[%h, %i, %j] : tensor<4x150x300xbf16>
    %wide = arith.extf %e : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %one = tensor.extract %seen[%b, %i, %j] : tensor<2x150x300xi1>
    swage.yield %one : i1
  } : (tensor<2x4x150x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> tensor<2x4x150x64xbf16>
  // Of f32, behind the diagonal.
  %causal = swage.attention %long, %keys, %keys scale 0.09 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %add[%h, %i, %j] : tensor<2x130x516xf32>
    %sum = arith.addf %s, %e : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %more = arith.constant 386 : index
    %to = arith.addi %i, %more : index
    %one = arith.cmpi sle, %j, %to : index
    swage.yield %one : i1
  } : (tensor<1x2x130x128xf16>, tensor<1x2x516x128xf16>, tensor<1x2x516x128xf16>) -> tensor<1x2x130x128xf16>
  // What weights read, behind the exponentials.
  %weighed = swage.attention %long, %keys, %keys scale 0.09 weight {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %raised = arith.constant 1.25 : f32
    %zero = arith.constant 0.0 : f32
    %one = tensor.extract %kept[%b, %h, %i, %j] : tensor<1x2x130x517xi1>
    %f = arith.select %one, %raised, %zero : f32
    swage.yield %f : f32
  } : (tensor<1x2x130x128xf16>, tensor<1x2x516x128xf16>, tensor<1x2x516x128xf16>) -> tensor<1x2x130x128xf16>
  // Documents, of which blocks see nothing, and a bound: its exact scores go round.
  %documents = swage.attention %long, %keys, %keys scale 0.09 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %add[%h, %i, %j] : tensor<2x130x516xf32>
    %held = math.tanh %s : f32
    %sum = arith.addf %held, %e : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : tensor<1x516xi32>
    %of = tensor.extract %ids[%b, %j] : tensor<1x516xi32>
    %same = arith.cmpi eq, %mine, %of : i32
    swage.yield %same : i1
  } : (tensor<1x2x130x128xf16>, tensor<1x2x516x128xf16>, tensor<1x2x516x128xf16>) -> tensor<1x2x130x128xf16>
  // Integers beside operands of 8 bits.
  %integers = swage.attention %narrow, %narrow, %narrow scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %few[%b, %h, %i, %j] : tensor<1x2x200x272xi8>
    %wide = arith.sitofp %e : i8 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<1x2x200x64xf8E4M3FN>, tensor<1x2x200x64xf8E4M3FN>, tensor<1x2x200x64xf8E4M3FN>) -> tensor<1x2x200x64xbf16>
  // Rows of odd numbers of elements. One place for queries; the second tile has none for the second warpgroup.
  %one = swage.attention %last, %last, %last scale 0.01 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %odd[%h, %i, %j] : tensor<1x181x181xbf16>
    %wide = arith.extf %e : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<1x1x181x256xbf16>, tensor<1x1x181x256xbf16>, tensor<1x1x181x256xbf16>) -> tensor<1x1x181x256xbf16>
  // Blocks that documents and bounds cut have their softmax alone, where tiles follow each other.
  %alone = swage.attention %many, %further, %further scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %table[%h, %i, %j] : tensor<40x150x400xf16>
    %wide = arith.extf %e : f16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %kinds[%b, %i] : tensor<2x400xi32>
    %other = tensor.extract %kinds[%b, %j] : tensor<2x400xi32>
    %same = arith.cmpi eq, %mine, %other : i32
    %far = arith.constant 250 : index
    %to = arith.addi %i, %far : index
    %before = arith.cmpi sle, %j, %to : index
    %seen_ = arith.andi %same, %before : i1
    swage.yield %seen_ : i1
  } : (tensor<2x40x150x64xbf16>, tensor<2x40x400x64xbf16>, tensor<2x40x400x64xbf16>) -> tensor<2x40x150x64xbf16>
  // A window, which begins behind the first keys.
  %window = swage.attention %many, %further, %further scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %e = tensor.extract %table[%h, %i, %j] : tensor<40x150x400xf16>
    %wide = arith.extf %e : f16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %far = arith.constant 250 : index
    %near = arith.constant 150 : index
    %to = arith.addi %i, %far : index
    %from = arith.addi %i, %near : index
    %before = arith.cmpi sle, %j, %to : index
    %behind = arith.cmpi sge, %j, %from : index
    %seen_ = arith.andi %behind, %before : i1
    swage.yield %seen_ : i1
  } : (tensor<2x40x150x64xbf16>, tensor<2x40x400x64xbf16>, tensor<2x40x400x64xbf16>) -> tensor<2x40x150x64xbf16>
  return %both, %causal, %weighed, %documents, %integers, %one, %alone, %window : tensor<2x4x150x64xbf16>, tensor<1x2x130x128xf16>, tensor<1x2x130x128xf16>, tensor<1x2x130x128xf16>, tensor<1x2x200x64xbf16>, tensor<1x1x181x256xbf16>, tensor<2x40x150x64xbf16>, tensor<2x40x150x64xbf16>
}
