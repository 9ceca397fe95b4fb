// Of 8 bits keys of a block are a multiple of 32, also where scores take a tanh and read something.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cubin -o %t 2>&1 | FileCheck %s --check-prefix=CUBIN --allow-empty
// CUBIN-NOT: C751

// CHECK: enum : int { kKeys = {{32|64|96|128}} };
// CHECK: swage::attentionHopper<Spec>(
func.func @main(%q: tensor<512x4096x48xf8E4M3FN>, %slopes: tensor<512xf32>) -> tensor<512x4096x48xbf16> {
  %o = swage.attention %q, %q, %q score {
  ^bb0(%s: f32, %h: index, %i: index, %j: index):
    %held = math.tanh %s : f32
    %slope = tensor.extract %slopes[%h] : tensor<512xf32>
    %t = arith.mulf %held, %slope : f32
    swage.yield %t : f32
  } : (tensor<512x4096x48xf8E4M3FN>, tensor<512x4096x48xf8E4M3FN>, tensor<512x4096x48xf8E4M3FN>) -> tensor<512x4096x48xbf16>
  return %o : tensor<512x4096x48xbf16>
}
