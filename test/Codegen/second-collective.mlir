// RUN: swage-translate --swage-to-cuda %s | FileCheck %s
// RUN: %if nvrtc %{ swage-translate --swage-to-report %s | FileCheck %s --check-prefix=REPORT %}
// RUN: %if nvrtc %{ swage-translate --swage-to-report --arch=sm_80 %s | FileCheck %s --check-prefix=REPORT %}

// REPORT-COUNT-2: 0 bytes spilled, 0 bytes of stack

// CHECK-LABEL: // @layer_norm_abs_max_
//       CHECK: #include "swage/float8.cuh"
//       CHECK: static constexpr __device__ auto collective() { return swage::Collective::LayerNorm; }
//  CHECK-NEXT: static constexpr __device__ auto rowClass() { return swage::RowClass::Block; }
//   CHECK-NOT: kGroup
//       CHECK: struct Second {
//  CHECK-NEXT: static constexpr __device__ auto collective() { return swage::Collective::AbsMax; }
//  CHECK-NEXT: using Loads = swage::List<Input1>;
//  CHECK-NEXT: using Stores = swage::List<>;
//  CHECK-NEXT: static __device__ Compute between(float element, float input1) {
//       CHECK: using Later = swage::List<Second>;
//       CHECK: enum : bool { kEpilogueStatistics = true };
//  CHECK-NEXT: static __device__ auto epilogue(float mean, float rstd, float largest) {
//  CHECK-NEXT: const float div = swage::divideClosely(448.0f, largest);
//  CHECK-NEXT: return [=](float element, float &output1) {
//  CHECK-NEXT: output1 = element * div;
//       CHECK: static __device__ void finish(float mean, float rstd, float largest, float &
func.func @rows(%x: tensor<2048x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<2048x4096xf8E4M3FN>, tensor<2048xf32>) {
  %most = arith.constant dense<448.0> : tensor<2048xf32>
  %n = swage.layer_norm %x gamma %g axis 1 eps 1.0e-5 : (tensor<2048x4096xbf16>, tensor<4096xbf16>) -> tensor<2048x4096xf32>
  %a = math.absf %n : tensor<2048x4096xf32>
  %m = swage.reduce max %a dims [1] : tensor<2048x4096xf32> -> tensor<2048xf32>
  %scale = arith.divf %m, %most : tensor<2048xf32>
  %inverse = arith.divf %most, %m : tensor<2048xf32>
  %b = swage.broadcast %inverse dims [0] : tensor<2048xf32> -> tensor<2048x4096xf32>
  %d = arith.mulf %n, %b : tensor<2048x4096xf32>
  %q = arith.truncf %d : tensor<2048x4096xf32> to tensor<2048x4096xf8E4M3FN>
  return %q, %scale : tensor<2048x4096xf8E4M3FN>, tensor<2048xf32>
}

// CHECK-LABEL: // @rms_norm_abs_max_
//       CHECK: enum : int { kGroup = 128 };
//       CHECK: struct Second {
//  CHECK-NEXT: static constexpr __device__ auto collective() { return swage::Collective::AbsMax; }
//       CHECK: using GroupFinishLoads = swage::List<>;
//  CHECK-NEXT: using GroupFinishStores = swage::List<Output0>;
//  CHECK-NEXT: static __device__ void groupFinish(float largest, float &output0) {
func.func @groups(%x: tensor<2048x4096xbf16>) -> (tensor<2048x32x128xf8E4M3FN>, tensor<2048x32xf32>) {
  %most = arith.constant dense<448.0> : tensor<2048x32xf32>
  %n = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %h = swage.reshape %n : tensor<2048x4096xf32> -> tensor<2048x32x128xf32>
  %a = math.absf %h : tensor<2048x32x128xf32>
  %m = swage.reduce max %a dims [2] : tensor<2048x32x128xf32> -> tensor<2048x32xf32>
  %inverse = arith.divf %most, %m : tensor<2048x32xf32>
  %b = swage.broadcast %inverse dims [0, 1] : tensor<2048x32xf32> -> tensor<2048x32x128xf32>
  %d = arith.mulf %h, %b : tensor<2048x32x128xf32>
  %q = arith.truncf %d : tensor<2048x32x128xf32> to tensor<2048x32x128xf8E4M3FN>
  return %q, %m : tensor<2048x32x128xf8E4M3FN>, tensor<2048x32xf32>
}
