// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cubin -o %t 2>&1 | FileCheck %s --check-prefix=CUBIN --allow-empty
// CUBIN-NOT: C751

// CHECK: #define SWAGE_WGMMA_SHAPES(X) SWAGE_WGMMA_N128(X)
// CHECK-NEXT: #include "swage/attention_hopper.cuh"
// CHECK: using Element = swage::bf16;
// CHECK: enum : int { kHeadDim = 128 };
// CHECK: enum : bool { kInsideMasks = false };
// CHECK: enum : bool { kBeginsLater = true };
// CHECK: scale() { return 0.125; }
// CHECK: return swage::extents(sizes.s0, swage::Fixed<2>{}, swage::Fixed<2>{}, sizes.s1,
// CHECK: static __device__ Compute prologue(float score, int input3, int input4) {
// CHECK: static __device__ Compute inside(float score) {
// CHECK-NEXT: return score;
// CHECK: static __device__ void finish(float maximum, float sum, float &{{.*}}) {
// CHECK: static __device__ void bounds(int input3, long long &first, long long &last) {
// CHECK: __launch_bounds__(Spec::kThreads, 1)
// CHECK: const __grid_constant__ swage::TensorMap queries,
// CHECK: const __grid_constant__ swage::TensorMap keys,
// CHECK: const __grid_constant__ swage::TensorMap values,
// CHECK: const __grid_constant__ swage::TensorMap result, float *{{.*}},
// CHECK: void *scratch, Spec::Sizes sizes) {
// CHECK: swage::attentionHopper<Spec>(queries, keys, values, result, pointers, scratch, sizes);
func.func @main(%q: tensor<?x4x?x128xbf16>, %k: tensor<?x2x?x128xbf16>, %v: tensor<?x2x?x128xbf16>) -> (tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>) {
  %o, %lse = swage.attention %q, %k, %v scale 0.125 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c100 = arith.constant 100 : index
    %behind = arith.subi %i, %c100 : index
    %from = arith.cmpi sge, %j, %behind : index
    %to = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %from, %to : i1
    swage.yield %seen : i1
  } : (tensor<?x4x?x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16>) -> (tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>)
  return %o, %lse : tensor<?x4x?x128xbf16>, tensor<?x4x?xf32>
}
