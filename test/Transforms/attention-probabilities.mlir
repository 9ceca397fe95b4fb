// Probabilities of few queries: what the softmax of the kernel gives for each key, which its template stores by itself.
// RUN: swage-opt %s -split-input-file --swage-fuse 2>/dev/null | FileCheck %s --check-prefix=FUSE
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline 2>/dev/null | FileCheck %s --check-prefix=PREPARED
// RUN: swage-opt %s -split-input-file --swage-kernel-pipeline=arch=sm_80 2>/dev/null | FileCheck %s --check-prefix=PREPARED

// FUSE-LABEL: func.func @beside
// FUSE: swage.kernel @attention_{{.*}} outputs [{{.*}}shape = () -> (2, 8, 1, 300), access = (d0, d1, d2, d3, d4, d5, d6) -> (d0 * 2400 + d1 * 1200 + d2 * 300 + d3 * 300 + d5)
// FUSE: %[[W:.*]]:3 = swage.collective softmax
// FUSE: swage.yield %{{.*}}, %{{.*}}, %[[W]]#0 : f32, f32, f32
// Four keys are read at once in the end.
// PREPARED-LABEL: func.func @beside
// PREPARED: schedule #swage.decode_schedule
// PREPARED: swage.phase probability loads [] stores [2] access [0] {
// PREPARED-NEXT: ^bb0(%[[P:.*]]: f32):
// PREPARED-NEXT: swage.yield %[[P]] : f32
func.func @beside(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<2x8x1xf32>, tensor<2x8x1x300xf32>) {
  %o, %lse, %p = swage.attention %q, %k, %k scale 0.125 : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<2x8x1xf32>, tensor<2x8x1x300xf32>)
  return %o, %lse, %p : tensor<2x8x1x64xbf16>, tensor<2x8x1xf32>, tensor<2x8x1x300xf32>
}

// -----

// Of an odd number of keys one by one. What is made of them is another kernel.
// PREPARED-LABEL: func.func @made
// PREPARED-DAG: swage.launch @attention_
// PREPARED-DAG: swage.launch @pointwise_
// PREPARED: swage.phase probability loads [] stores [1] access [2] {
func.func @made(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x301x64xbf16>, %x: tensor<2x1x8x301xf32>) -> (tensor<2x8x1x64xbf16>, tensor<2x1x8x301xf32>) {
  %o, %p = swage.attention %q, %k, %k : (tensor<2x8x1x64xbf16>, tensor<2x2x301x64xbf16>, tensor<2x2x301x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<2x8x1x301xf32>)
  %t = swage.permute %p [0, 2, 1, 3] : tensor<2x8x1x301xf32> -> tensor<2x1x8x301xf32>
  %y = arith.mulf %t, %x : tensor<2x1x8x301xf32>
  return %o, %y : tensor<2x8x1x64xbf16>, tensor<2x1x8x301xf32>
}

// -----

// They are written where a permute wants them.
// PREPARED-LABEL: func.func @moved
// PREPARED-NEXT: swage.launch @attention_
// PREPARED-NEXT: return
// PREPARED: swage.phase probability loads [] stores [1] access [2] {
func.func @moved(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<300x2x1x8xf32>) {
  %o, %p = swage.attention %q, %k, %k : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<2x8x1x300xf32>)
  %t = swage.permute %p [3, 0, 2, 1] : tensor<2x8x1x300xf32> -> tensor<300x2x1x8xf32>
  return %o, %t : tensor<2x8x1x64xbf16>, tensor<300x2x1x8xf32>
}

// -----

// What nobody reads is not written.
// FUSE-LABEL: func.func @unused
// FUSE: swage.yield %{{.*}} : f32
// PREPARED-LABEL: func.func @unused
// PREPARED-NOT: swage.phase probability
func.func @unused(%q: tensor<2x8x1x64xbf16>, %k: tensor<2x2x300x64xbf16>) -> tensor<2x8x1x64xbf16> {
  %o, %p = swage.attention %q, %k, %k : (tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>, tensor<2x8x1x300xf32>)
  return %o : tensor<2x8x1x64xbf16>
}
