// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}
// RUN: %if nvrtc %{ swage-translate --swage-to-report --arch=sm_80 %s | FileCheck %s --check-prefix=REPORT %}
// RUN: %if nvrtc %{ swage-translate --swage-to-ptx %s | FileCheck %s --check-prefix=PTX %}

// REPORT-COUNT-3: 0 bytes spilled, 0 bytes of stack

// The header of 8-bit floats is read by the kernels that hold any; values are floats, and rounded where the graph says so.
// CHECK-LABEL: // @pointwise_
//       CHECK: #include "swage/pointwise.cuh"
//  CHECK-NEXT: #include "swage/float8.cuh"
//       CHECK: struct Input1 : swage::Input<swage::f8e4m3, swage::Access::Vector> {
//       CHECK: struct Output0 : swage::Output<swage::f8e5m2, swage::Access::Vector> {
//       CHECK: static __device__ void body(float input0, float input1, float &output0, float &output1) {
//  CHECK-NEXT:   const float add = input0 + input1;
//  CHECK-NEXT:   output0 = add;
//  CHECK-NEXT:   output1 = swage::roundTo<swage::f8e4m3>(add);
// PTX: cvt.rn.satfinite.e4m3x2.f32
// PTX: cvt.rn.satfinite.e5m2x2.f32
func.func @casts(%x: tensor<64x96xf16>, %y: tensor<64x96xf8E4M3FN>)
    -> (tensor<64x96xf8E5M2>, tensor<64x96xf32>) {
  %wx = arith.extf %x : tensor<64x96xf16> to tensor<64x96xf32>
  %wy = arith.extf %y : tensor<64x96xf8E4M3FN> to tensor<64x96xf32>
  %sum = arith.addf %wx, %wy : tensor<64x96xf32>
  %low = arith.truncf %sum : tensor<64x96xf32> to tensor<64x96xf8E5M2>
  %rounded = arith.truncf %sum : tensor<64x96xf32> to tensor<64x96xf8E4M3FN>
  %back = arith.extf %rounded : tensor<64x96xf8E4M3FN> to tensor<64x96xf32>
  return %low, %back : tensor<64x96xf8E5M2>, tensor<64x96xf32>
}

// What is only moved keeps its bits.
// CHECK-LABEL: // @transpose_
//   CHECK-NOT: float8.cuh
//       CHECK: swage::Input<signed char, swage::Access::Boxed>
func.func @permute(%x: tensor<64x96xf8E5M2>) -> tensor<96x64xf8E5M2> {
  %y = swage.permute %x [1, 0] : tensor<64x96xf8E5M2> -> tensor<96x64xf8E5M2>
  return %y : tensor<96x64xf8E5M2>
}

// A row goes by 16 bytes of the widest type, and 8-bit elements by fewer.
// CHECK-LABEL: // @rms_norm_
//       CHECK: #include "swage/row.cuh"
//  CHECK-NEXT: #include "swage/float8.cuh"
//       CHECK: output0 = element;
func.func @quantised_norm(%x: tensor<64x96xf16>) -> tensor<64x96xf8E4M3FN> {
  %wide = arith.extf %x : tensor<64x96xf16> to tensor<64x96xf32>
  %n = swage.rms_norm %wide axis 1 eps 1.0e-6 : (tensor<64x96xf32>) -> tensor<64x96xf32>
  %y = arith.truncf %n : tensor<64x96xf32> to tensor<64x96xf8E4M3FN>
  return %y : tensor<64x96xf8E4M3FN>
}
