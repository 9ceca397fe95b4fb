// Probabilities are stored by the template itself: four keys at once where rows are whole vectors of these, else one by one.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// REPORT-COUNT-2: registers, 0 bytes spilled, 0 bytes of stack

// CHECK: struct Output1 : swage::Output<float, swage::Access::Gather>
// CHECK: using ProbabilityLoads = swage::List<>;
// CHECK-NEXT: using ProbabilityStores = swage::List<Output1>;
// CHECK-NEXT: static __device__ void probability(float probability, float &output1) {
// CHECK-NEXT: output1 = probability;
func.func @main(%q: tensor<?x8x1x128xf16>, %k: tensor<?x2x?x128xf16>, %v: tensor<?x2x?x128xf16>) -> (tensor<?x8x1x128xf16>, tensor<?x8x1x?xf32>) {
  %o, %p = swage.attention %q, %k, %v scale 0.1 : (tensor<?x8x1x128xf16>, tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16>) -> (tensor<?x8x1x128xf16>, tensor<?x8x1x?xf32>)
  return %o, %p : tensor<?x8x1x128xf16>, tensor<?x8x1x?xf32>
}

// 32 rows at once, which leave no registers.
// CHECK: enum : int { kAtoms = 2 };
// CHECK: struct Output1 : swage::Output<float, swage::Access::Vector>
func.func @rows(%q: tensor<16x32x8x128xbf16>, %k: tensor<16x8x4096x128xbf16>, %v: tensor<16x8x4096x128xbf16>, %bias: tensor<32x8x4096xf32>, %lengths: tensor<16xi32>)
    -> (tensor<16x32x8x128xbf16>, tensor<16x32x8x4096xf32>) {
  %o, %p = swage.attention %q, %k, %v scale 0.1 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %r = tensor.extract %bias[%h, %i, %j] : tensor<32x8x4096xf32>
    %t = arith.addf %s, %r : f32
    swage.yield %t : f32
  } mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<16xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<16x32x8x128xbf16>, tensor<16x8x4096x128xbf16>, tensor<16x8x4096x128xbf16>) -> (tensor<16x32x8x128xbf16>, tensor<16x32x8x4096xf32>)
  return %o, %p : tensor<16x32x8x128xbf16>, tensor<16x32x8x4096xf32>
}
