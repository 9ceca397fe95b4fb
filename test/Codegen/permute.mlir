// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-4: 0 bytes spilled, 0 bytes of stack

// CHECK-LABEL: arith.addf at permute.mlir
//       CHECK: #include "swage/permute.cuh"
//       CHECK: kThreads = 256 };
//  CHECK-NEXT: kTransposedDim = 1 };
//  CHECK-NEXT: kTileIn = 64 };
//  CHECK-NEXT: kTileOut = 64 };
//  CHECK-NEXT: kVectorIn = 4 };
//  CHECK-NEXT: kVectorOut = 4 };
//       CHECK: auto extents(
//  CHECK-NEXT: return swage::extents(swage::Fixed<16>{}, swage::Fixed<256>{}, swage::Fixed<512>{});
//       CHECK: auto tiles(
//  CHECK-NEXT: return swage::extents(swage::Fixed<16>{}, swage::Fixed<4>{}, swage::Fixed<8>{});
//       CHECK: struct Input0 : swage::Input<float, swage::Access::Transposed> {
//       CHECK: struct Input1 : swage::Input<float, swage::Access::Vector, swage::Traffic::Reused> {
//       CHECK: struct Output0 : swage::Output<float, swage::Access::Vector> {
//       CHECK: swage::permuteTiles<Spec>(
func.func @tiles(%x: tensor<16x512x256xf32>, %z: tensor<512xf32>) -> tensor<16x256x512xf32> {
  %t = swage.permute %x [0, 2, 1] : tensor<16x512x256xf32> -> tensor<16x256x512xf32>
  %b = swage.broadcast %z dims [2] : tensor<512xf32> -> tensor<16x256x512xf32>
  %y = arith.addf %t, %b : tensor<16x256x512xf32>
  return %y : tensor<16x256x512xf32>
}

// What is turned is found by division where dimensions are one.
// CHECK-LABEL: // @transpose_
//       CHECK: return swage::extents(swage::Fixed<128>{}, swage::Fixed<32592>{});
//       CHECK: // The last coordinate counts through 112 x 3 x 97.
//  CHECK-NEXT: using Coord = swage::Coord<Index, 2>;
//       CHECK: return d[0] + d[1] % 97 * 43008 + d[1] / 97 % 3 * 14336 + d[1] / 291 * 128;
//       CHECK: return d[0] * 32592 + d[1];
func.func @merged(%x: tensor<97x3x112x128xf32>) -> tensor<128x112x3x97xf32> {
  %t = swage.permute %x [3, 2, 1, 0] : tensor<97x3x112x128xf32> -> tensor<128x112x3x97xf32>
  return %t : tensor<128x112x3x97xf32>
}

// Runs go through the pointwise template; the movement of 16 bytes is a vector of eight elements,
// which are moved as bits.
// CHECK-LABEL: // @permute_
//       CHECK: movement = 16
//       CHECK: #include "swage/pointwise.cuh"
//       CHECK: kVector = 8 };
//       CHECK: return swage::extents(sizes.s0, swage::Fixed<16>{}, swage::Fixed<128>{}, swage::Fixed<8>{});
//       CHECK: swage::Input<swage::bits16, swage::Access::Vector>
//       CHECK: static __device__ void body(unsigned short input0, unsigned short &output0) {
//  CHECK-NEXT:   output0 = input0;
func.func @runs(%x: tensor<?x128x16x64xbf16>) -> tensor<?x16x128x64xbf16> {
  %t = swage.permute %x [0, 2, 1, 3] : tensor<?x128x16x64xbf16> -> tensor<?x16x128x64xbf16>
  return %t : tensor<?x16x128x64xbf16>
}

// A runtime extent behind the first is a divider.
// CHECK-LABEL: // @transpose_
//       CHECK: struct Sizes {
//  CHECK-NEXT:   Index s0;
//  CHECK-NEXT:   Index s1;
//  CHECK-NEXT:   swage::Divider<Index> by0;
//  CHECK-NEXT:   swage::Divider<Index> by1;
//  CHECK-NEXT: };
//       CHECK: swage::extents(sizes.s1, sizes.by0);
//       CHECK: swage::extents((sizes.s1 + 31) / 32, sizes.by1);
//       CHECK: return d[0] + d[1] * sizes.s1;
//       CHECK: return d[0] * sizes.s0 + d[1];
func.func @dynamic(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %t = swage.permute %x [1, 0] : tensor<?x?xf16> -> tensor<?x?xf16>
  return %t : tensor<?x?xf16>
}
