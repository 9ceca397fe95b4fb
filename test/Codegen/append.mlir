// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-ptx %s | FileCheck %s --check-prefix=PTX %}

// Rows at positions that memory holds: the output's offset without the row, and beside it the number of rows and what one adds.
// CHECK:       #include "swage/rows.cuh"
// CHECK:       struct [[KEYS:[A-Za-z0-9]+]]Row : swage::Row { // rows of result 0, the others as in operand 2
// CHECK-NEXT:    static __device__ Index count(const Sizes &sizes) { return sizes.s1; }
// CHECK-NEXT:    static __device__ Index step(const Sizes &sizes) { return 128; }
// CHECK:       struct [[KEYS]] : swage::Output<swage::bits16, swage::Access::Vector> {
// CHECK-NEXT:    using Rows = [[KEYS]]Row;
// CHECK-NEXT:    static __device__ Index offset(const Coord &d, const Sizes &sizes) {
// CHECK-NEXT:      return d[0] * (sizes.s1 * 1024) + d[1] * (sizes.s1 * 128) + d[2];
// CHECK:       using Stores = swage::List<[[KEYS]], [[KEYS]]Row>;
// CHECK:       extern "C" __global__
// CHECK-NEXT:    append_{{[0-9a-f]+}}(const swage::bits16 *input0, const int *input1, swage::bits16 *output0,
// PTX-LABEL:   .entry append_
// PTX:         st.global{{.*}}.v4
// PTX-NOT:     .local
func.func @keys(%cache: tensor<?x8x?x128xbf16>, %k: tensor<?x8x1x128xbf16>, %at: tensor<?xi32>) -> tensor<?x8x?x128xbf16> {
  %n = swage.append %cache, %k at %at axis 2 : (tensor<?x8x?x128xbf16>, tensor<?x8x1x128xbf16>, tensor<?xi32>) -> tensor<?x8x?x128xbf16>
  return %n : tensor<?x8x?x128xbf16>
}

// Eight bits, several rows of a window: the position has a row's number added.
// CHECK:       : swage::CircularRow {
// CHECK:       swage::Output<signed char, swage::Access::Vector>
// CHECK:       static __device__ void body(
// CHECK:       {{[a-z0-9]+}}Row = swage::sumOf({{[a-z0-9]+}}, {{[a-z0-9]+}});
// PTX-LABEL:   .entry append_
// PTX-NOT:     .local
func.func @window(%cache: tensor<4x256x64xi8>, %x: tensor<4x3x64xf16>, %at: tensor<4xi32>) -> tensor<4x256x64xi8> {
  %q = arith.fptosi %x : tensor<4x3x64xf16> to tensor<4x3x64xi8>
  %n = swage.append %cache, %q at %at axis 1 circular : (tensor<4x256x64xi8>, tensor<4x3x64xi8>, tensor<4xi32>) -> tensor<4x256x64xi8>
  return %n : tensor<4x256x64xi8>
}

// To pages, [page, position, head, dim], whose number is known at run time only.
// CHECK:       struct [[POOL:[A-Za-z0-9]+]]Row : swage::PagedRow {
// CHECK-NEXT:    static __device__ Index count(const Sizes &sizes) { return sizes.s0 * 64; }
// CHECK-NEXT:    static __device__ Index step(const Sizes &sizes) { return 1024; }
// CHECK-NEXT:    static __device__ Index ofPage(const Sizes &sizes) { return 64; }
// CHECK-NEXT:    static __device__ Index apart(const Sizes &sizes) { return 64; }
// CHECK:       using Rows = [[POOL]]Row;
// PTX-LABEL:   .entry append_
// PTX:         st.global{{.*}}.v4
// PTX-NOT:     .local
func.func @paged(%pool: tensor<?x64x8x128xbf16>, %k: tensor<?x1x8x128xbf16>, %places: tensor<?xi32>) -> tensor<?x64x8x128xbf16> {
  %n = swage.append %pool, %k at %places axis 1 paged : (tensor<?x64x8x128xbf16>, tensor<?x1x8x128xbf16>, tensor<?xi32>) -> tensor<?x64x8x128xbf16>
  return %n : tensor<?x64x8x128xbf16>
}
