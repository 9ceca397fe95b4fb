// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-6: 0 bytes spilled, 0 bytes of stack

// CHECK-LABEL: // @rms_norm_{{.*}}: swage.rms_norm, arith.mulf at row.mlir:[[#]]
//       CHECK: #include "swage/row.cuh"
//       CHECK: using Compute = float;
//  CHECK-NEXT: static constexpr __device__ auto collective() { return swage::Collective::RmsNorm; }
//  CHECK-NEXT: static constexpr __device__ auto rowClass() { return swage::RowClass::Group; }
//  CHECK-NEXT: static constexpr __device__ auto epsilon() { return 1e-06; }
//       CHECK: auto kept(const Sizes &sizes) { return swage::extents(swage::Fixed<64>{}); }
//       CHECK: auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<32>{}); }
//       CHECK: using PrologueLoads = swage::List<Input0>;
//  CHECK-NEXT: using PrologueStores = swage::List<>;
//  CHECK-NEXT: static __device__ Compute prologue(float input0) {
//  CHECK-NEXT:   return input0;
//       CHECK: using EpilogueLoads = swage::List<Input1>;
//  CHECK-NEXT: using EpilogueStores = swage::List<Output0>;
//  CHECK-NEXT: static __device__ void epilogue(float element, float input1, float &output0) {
//  CHECK-NEXT:   output0 = element * input1; // row.mlir:[[#]]
//       CHECK: using FinishLoads = swage::List<>;
//  CHECK-NEXT: using FinishStores = swage::List<Output1>;
//  CHECK-NEXT: static __device__ void finish(float rstd, float &output1) {
//  CHECK-NEXT:   output1 = rstd;
//       CHECK: swage::row<Spec>(Pointers{input0, input1, output0, output1}, Spec::Sizes{});
func.func @group(%x: tensor<64x256xf16>, %g: tensor<256xf16>)
    -> (tensor<64x256xf16>, tensor<64xf32>) {
  %y, %r = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6
      : (tensor<64x256xf16>, tensor<256xf16>) -> (tensor<64x256xf16>, tensor<64xf32>)
  return %y, %r : tensor<64x256xf16>, tensor<64xf32>
}

// Nothing to finish: the lists are printed, the function is not.
// CHECK-LABEL: swage.softmax at
//       CHECK: collective() { return swage::Collective::Softmax; }
//  CHECK-NEXT: rowClass() { return swage::RowClass::Block; }
//  CHECK-NEXT: epsilon() { return 0.0; }
//       CHECK: using FinishStores = swage::List<>;
//  CHECK-NEXT: };
func.func @block(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %y = swage.softmax %x axis 1 : tensor<8192x8192xf16> -> tensor<8192x8192xf16>
  return %y : tensor<8192x8192xf16>
}

// CHECK-LABEL: swage.max at
//       CHECK: rowClass() { return swage::RowClass::Looped; }
//       CHECK: auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
//  CHECK-NEXT: auto reduced(const Sizes &sizes) { return swage::extents(sizes.s1); }
//       CHECK: return d[0] * sizes.s1 + d[1];
//       CHECK: using EpilogueStores = swage::List<>;
//  CHECK-NEXT: using FinishLoads = swage::List<>;
//  CHECK-NEXT: using FinishStores = swage::List<Output0>;
//  CHECK-NEXT: static __device__ void finish(float result, float &output0) {
func.func @looped(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %y = swage.reduce max %x dims [1] : tensor<?x?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// The kept dimensions come first, and the last of them is counted in vectors.
// CHECK-LABEL: swage.softmax at
//       CHECK: rowClass() { return swage::RowClass::Column; }
//       CHECK: return swage::extents(swage::Fixed<400>{}, swage::Fixed<64>{});
//       CHECK: auto reduced(const Sizes &sizes) { return swage::extents(swage::Fixed<64>{}); }
//       CHECK: return d[0] * 16384 + d[1] + d[2] * 256;
func.func @column(%x: tensor<400x64x256xf32>) -> tensor<400x64x256xf32> {
  %y = swage.softmax %x axis 1 : tensor<400x64x256xf32> -> tensor<400x64x256xf32>
  return %y : tensor<400x64x256xf32>
}

// A runtime length within a promised bound: the class of the longest row, and the length in vectors.
// CHECK-LABEL: // @layer_norm_{{[0-9a-f]+}}_s1x8_s1to4096: swage.layer_norm at
//       CHECK: rowClass() { return swage::RowClass::Block; }
//       CHECK: kThreadsPerRow = 256 };
//  CHECK-NEXT: kVector = 8 };
//  CHECK-NEXT: kVectorsPerThread = 2 };
//       CHECK: auto kept(const Sizes &sizes) { return swage::extents(sizes.s0); }
//       CHECK: auto reduced(const Sizes &sizes) { return swage::extents(sizes.s1 / 8); }
//       CHECK: layer_norm_{{[0-9a-f]+}}_s1x8_s1to4096(
func.func @bounded(%x: tensor<?x?xf16> {swage.multiple_of = array<i64: 1, 8>, swage.at_most = array<i64: 0, 4096>}) -> tensor<?x?xf16> {
  %y = swage.layer_norm %x axis 1 eps 1.0e-5 : (tensor<?x?xf16>) -> tensor<?x?xf16>
  return %y : tensor<?x?xf16>
}

// What lies between two norms is a phase of its own, and each has its epsilon.
// CHECK-LABEL: // @rms_norm_layer_norm_{{.*}}
//       CHECK: auto epsilon() { return 1e-06; }
//       CHECK: struct Second {
//  CHECK-NEXT: auto collective() { return swage::Collective::LayerNorm; }
//  CHECK-NEXT: auto epsilon() { return 1e-05; }
//  CHECK-NEXT: using Loads = swage::List<Input1>;
//       CHECK: using EpilogueStores = swage::List<Output1>;
func.func @two(%x: tensor<64x256xf16>, %r: tensor<64x256xf16>) -> (tensor<64x256xf16>, tensor<64x256xf16>) {
  %n = swage.rms_norm %x axis 1 eps 1.0e-6 : (tensor<64x256xf16>) -> tensor<64x256xf16>
  %s = arith.addf %n, %r : tensor<64x256xf16>
  %m = swage.layer_norm %s axis 1 eps 1.0e-5 : (tensor<64x256xf16>) -> tensor<64x256xf16>
  return %s, %m : tensor<64x256xf16>, tensor<64x256xf16>
}
