// Keys and values of 8 bits: what the kernel says of them, and of what they are multiplied by; nothing spills.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-cuda | FileCheck %s --check-prefix=SM80
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-report --arch=sm_90a | FileCheck %s --check-prefix=REPORT
// RUN: swage-opt %s --swage-kernel-pipeline=arch=sm_80 | swage-translate --swage-to-report --arch=sm_80 | FileCheck %s --check-prefix=REPORT
// REPORT-COUNT-4: registers, 0 bytes spilled, 0 bytes of stack
// REPORT-NOT: registers

// CHECK: #include "swage/attention_decode.cuh"
// CHECK: using Element = swage::bf16;
// CHECK-NEXT: using Cache = swage::s8;
// CHECK-NEXT: using Result = swage::bf16;
// CHECK: struct [[KS:[A-Za-z0-9]+]] : swage::Input<float,
// CHECK: return d[0] * (sizes.s1 * 2) + d[1] * sizes.s1 + d[5];
// CHECK: using PrologueLoads = swage::List<[[KS]],
// CHECK: static __device__ Compute inside(float score, float [[K:[a-z0-9]+]]) {
// CHECK-NEXT: return score * ([[K]] + [[K]] * 0.0f);
// CHECK: using WeightLoads = swage::List<[[VS:[A-Za-z0-9]+]]>;
// CHECK: static __device__ Compute weight(float weight, float [[V:[a-z0-9]+]]) {
// CHECK-NEXT: return weight * ([[V]] + [[V]] * 0.0f);
// CHECK: const __grid_constant__ swage::TensorMap keys,
// CHECK: swage::attentionDecode<Spec>(keys, values, pointers, scratch, sizes);
// SM80: struct Keys : swage::Input<signed char, swage::Access::Vector
// SM80: struct Values : swage::Input<signed char, swage::Access::Vector
func.func @tokens(%q: tensor<?x8x1x128xbf16>, %k: tensor<?x2x?x128xi8>, %v: tensor<?x2x?x128xi8>, %ks: tensor<?x2x?xf32>, %vs: tensor<?x2x?xf32>, %lengths: tensor<?xi32>) -> tensor<?x8x1x128xbf16> {
  %kw = arith.sitofp %k : tensor<?x2x?x128xi8> to tensor<?x2x?x128xf32>
  %kb = swage.broadcast %ks dims [0, 1, 2] : tensor<?x2x?xf32> -> tensor<?x2x?x128xf32>
  %km = arith.mulf %kw, %kb : tensor<?x2x?x128xf32>
  %kt = arith.truncf %km : tensor<?x2x?x128xf32> to tensor<?x2x?x128xbf16>
  %vw = arith.sitofp %v : tensor<?x2x?x128xi8> to tensor<?x2x?x128xf32>
  %vb = swage.broadcast %vs dims [0, 1, 2] : tensor<?x2x?xf32> -> tensor<?x2x?x128xf32>
  %vm = arith.mulf %vw, %vb : tensor<?x2x?x128xf32>
  %vt = arith.truncf %vm : tensor<?x2x?x128xf32> to tensor<?x2x?x128xbf16>
  %o = swage.attention %q, %kt, %vt scale 0.1 mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : tensor<?xi32>
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  } : (tensor<?x8x1x128xbf16>, tensor<?x2x?x128xbf16>, tensor<?x2x?x128xbf16>) -> tensor<?x8x1x128xbf16>
  return %o : tensor<?x8x1x128xbf16>
}

// CHECK: using Cache = swage::e4m3;
// CHECK: static __device__ Compute epilogue(float element, float [[S:[a-z0-9]+]]) {
// CHECK-NEXT: return element * ([[S]] + [[S]] * 0.0f);
func.func @heads(%q: tensor<16x8x1x128xbf16>, %k: tensor<16x2x4096x128xf8E4M3FN>, %v: tensor<16x2x4096x128xf8E4M3FN>, %s: tensor<2xbf16>) -> tensor<16x8x1x128xbf16> {
  %kw = arith.extf %k : tensor<16x2x4096x128xf8E4M3FN> to tensor<16x2x4096x128xbf16>
  %vw = arith.extf %v : tensor<16x2x4096x128xf8E4M3FN> to tensor<16x2x4096x128xbf16>
  %b = swage.broadcast %s dims [1] : tensor<2xbf16> -> tensor<16x2x4096x128xbf16>
  %km = arith.mulf %kw, %b : tensor<16x2x4096x128xbf16>
  %vm = arith.mulf %vw, %b : tensor<16x2x4096x128xbf16>
  %o = swage.attention %q, %km, %vm scale 0.1 : (tensor<16x8x1x128xbf16>, tensor<16x2x4096x128xbf16>, tensor<16x2x4096x128xbf16>) -> tensor<16x8x1x128xbf16>
  return %o : tensor<16x8x1x128xbf16>
}

// CHECK: enum : int { kRows = 16 };
// CHECK: using Cache = swage::e5m2;
// CHECK-NOT: WeightLoads
func.func @long(%q: tensor<?x8x8x256xbf16>, %k: tensor<?x4x?x256xf8E5M2>, %v: tensor<?x4x?x256xf8E5M2>) -> tensor<?x8x8x256xbf16> {
  %kw = arith.extf %k : tensor<?x4x?x256xf8E5M2> to tensor<?x4x?x256xbf16>
  %vw = arith.extf %v : tensor<?x4x?x256xf8E5M2> to tensor<?x4x?x256xbf16>
  %o = swage.attention %q, %kw, %vw scale 0.1 : (tensor<?x8x8x256xbf16>, tensor<?x4x?x256xbf16>, tensor<?x4x?x256xbf16>) -> tensor<?x8x8x256xbf16>
  return %o : tensor<?x8x8x256xbf16>
}

// CHECK: using Element = swage::f16;
// CHECK-NEXT: using Cache = swage::e4m3;
func.func @half(%q: tensor<?x8x1x64xf16>, %k: tensor<?x2x?x64xf8E4M3FN>, %v: tensor<?x2x?x64xf8E4M3FN>) -> tensor<?x8x1x64xf16> {
  %kw = arith.extf %k : tensor<?x2x?x64xf8E4M3FN> to tensor<?x2x?x64xf16>
  %vw = arith.extf %v : tensor<?x2x?x64xf8E4M3FN> to tensor<?x2x?x64xf16>
  %o = swage.attention %q, %kw, %vw scale 0.1 : (tensor<?x8x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x8x1x64xf16>
  return %o : tensor<?x8x1x64xf16>
}
