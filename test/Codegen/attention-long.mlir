// REQUIRES: nvrtc
// Long heads leave few registers for what else there is: documents and a causal mask, a bias for each score, a window.
// RUN: sed 's/xDx/x160x/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x184x/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x192x/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x256x/g' %s | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s
// RUN: sed 's/xDx/x192x/g' %s | swage-opt --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: __launch_bounds__(Spec::kThreads)
// CHECK-COUNT-3: registers, 0 bytes spilled, 0 bytes of stack
// CHECK-NOT: attention_
func.func @main(%q: tensor<2x4x2048xDxbf16>, %k: tensor<2x4x2048xDxbf16>, %v: tensor<2x4x2048xDxbf16>, %document: tensor<2x2048xi32>, %bias: tensor<4x2048x2048xbf16>)
    -> (tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>) {
  %documents = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %of_query = tensor.extract %document[%b, %i] : tensor<2x2048xi32>
    %of_key = tensor.extract %document[%b, %j] : tensor<2x2048xi32>
    %same = arith.cmpi eq, %of_query, %of_key : i32
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %same, %before : i1
    swage.yield %seen : i1
  } : (tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>) -> tensor<2x4x2048xDxbf16>
  %biased = swage.attention %q, %k, %v scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %narrow = tensor.extract %bias[%h, %i, %j] : tensor<4x2048x2048xbf16>
    %wide = arith.extf %narrow : bf16 to f32
    %sum = arith.addf %s, %wide : f32
    swage.yield %sum : f32
  } : (tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>) -> tensor<2x4x2048xDxbf16>
  %window = swage.attention %q, %k, %v scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %before = arith.cmpi sle, %j, %i : index
    %reach = arith.constant 512 : index
    %far = arith.addi %j, %reach : index
    %near = arith.cmpi sgt, %far, %i : index
    %seen = arith.andi %before, %near : i1
    swage.yield %seen : i1
  } : (tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>) -> tensor<2x4x2048xDxbf16>
  return %documents, %biased, %window : tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>, tensor<2x4x2048xDxbf16>
}
