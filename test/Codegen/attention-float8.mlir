// Operands of 8 bits, a result of 16, and scores times a factor of their head; nothing spills and no product waits for another.
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cuda | FileCheck %s
// RUN: swage-opt %s --swage-kernel-pipeline | swage-translate --swage-to-cubin -o %t 2>&1 | FileCheck %s --check-prefix=CUBIN --allow-empty
// CUBIN-NOT: C751

// CHECK: #define SWAGE_WGMMA_SHAPES(X) SWAGE_WGMMA_N128(X) SWAGE_WGMMA_N136(X)
// CHECK-NEXT: #include "swage/attention_float8.cuh"
// CHECK: using Element = swage::e4m3;
// CHECK-NEXT: using Result = swage::bf16;
// CHECK: swage::attentionHopper<Spec>(
func.func @main(%q: tensor<2x8x?x128xf8E4M3FN>, %k: tensor<2x2x?x128xf8E4M3FN>, %v: tensor<2x2x?x128xf8E4M3FN>, %factors: tensor<2x8xf32>)
    -> tensor<2x8x?x128xbf16> {
  %o = swage.attention %q, %k, %v scale 0.125 score {
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %factor = tensor.extract %factors[%b, %h] : tensor<2x8xf32>
    %t = arith.mulf %s, %factor : f32
    swage.yield %t : f32
  } : (tensor<2x8x?x128xf8E4M3FN>, tensor<2x2x?x128xf8E4M3FN>, tensor<2x2x?x128xf8E4M3FN>) -> tensor<2x8x?x128xbf16>
  return %o : tensor<2x8x?x128xbf16>
}
