// Attention where there is no wgmma: plain pointers, and the operands that the template reads by itself.
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// A head dim that ends in half a step of matrix instructions.
// RUN: sed 's/x128xf16/x72xf16/g' %s | swage-opt --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// REPORT: registers, 0 bytes spilled, 0 bytes of stack

// CHECK: #include "swage/attention_portable.cuh"
// CHECK: enum : int { kAtoms = 2 };
// CHECK: enum : int { kStages = {{.*}} };
// CHECK: enum : bool { kHoldsQuery = {{.*}} };
// CHECK: using Element = swage::f16;
// CHECK: enum : int { kHeadDim = 128 };
// CHECK: scale() { return 0.125; }
// CHECK: struct Queries : swage::Input<swage::f16, swage::Access::Vector, swage::Traffic::Reused> {
// CHECK: struct Keys : swage::Input<swage::f16, swage::Access::Vector, swage::Traffic::Reused> {
// CHECK: struct Values : swage::Input<swage::f16, swage::Access::Vector, swage::Traffic::Reused> {
// CHECK: struct Results : swage::Output<swage::f16, swage::Access::Vector> {
// CHECK: static __device__ Compute inside(float score) {
// CHECK-NEXT: return score;
// CHECK: (const swage::f16 *queries, const swage::f16 *keys,
// CHECK: const swage::f16 *values, swage::f16 *result, float *{{.*}},
// CHECK: swage::attentionPortable<Spec>(Pointers{queries, keys, values, {}, {}, result, {{.*}}}, sizes);
func.func @main(%q: tensor<?x4x?x128xf16>, %k: tensor<?x2x?x128xf16>, %v: tensor<?x2x?x128xf16>) -> (tensor<?x4x?x128xf16>, tensor<?x4x?xf32>) {
  %o, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } : (tensor<?x4x?x128xf16>, tensor<?x2x?x128xf16>, tensor<?x2x?x128xf16>) -> (tensor<?x4x?x128xf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x4x?x128xf16>, tensor<?x4x?xf32>
}
