// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-2: 0 bytes spilled, 0 bytes of stack

// CHECK-LABEL: swage.mean at reduce.mlir
//       CHECK: #include "swage/reduce.cuh"
//       CHECK: using Compute = float;
//  CHECK-NEXT: collective() { return swage::Collective::Mean; }
//  CHECK-NEXT: epsilon() { return 0.0; }
//  CHECK-NEXT: kThreads = 256 };
//  CHECK-NEXT: kRowGroups = 16 };
//  CHECK-NEXT: kVector = 8 };
//  CHECK-NEXT: kUnroll = 8 };
//       CHECK: auto kept(const Sizes &sizes) { return swage::extents(sizes.s0 * 32); }
//       CHECK: auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<512>{}); }
//       CHECK: return d[0] + d[1] * (sizes.s0 * 256);
//       CHECK: using EpilogueLoads = swage::List<>;
//  CHECK-NEXT: using EpilogueStores = swage::List<>;
//       CHECK: static __device__ void finish(float result, float &output0) {
//       CHECK: swage::reduce<Spec>(Pointers{input0, output0}, sizes);
func.func @mean(%x: tensor<512x?x256xbf16>) -> tensor<?x256xf32> {
  %f = arith.extf %x : tensor<512x?x256xbf16> to tensor<512x?x256xf32>
  %y = swage.reduce mean %f dims [0] : tensor<512x?x256xf32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// Integers are summed as integers.
// CHECK-LABEL: swage.sum at reduce.mlir
//       CHECK: using Compute = int;
//       CHECK: static __device__ Compute prologue(int input0) {
//       CHECK: static __device__ void finish(int result, int &output0) {
func.func @integers(%x: tensor<512x4096xi32>) -> tensor<4096xi32> {
  %y = swage.reduce sum %x dims [0] : tensor<512x4096xi32> -> tensor<4096xi32>
  return %y : tensor<4096xi32>
}
