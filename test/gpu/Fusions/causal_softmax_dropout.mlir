// Training without flash attention (OneFlow's fused_tril_scale_softmax_mask_scale): causal mask, scale, softmax, dropout; both the
// probabilities and the dropped ones are results.
func.func @main(%scores: tensor<16x1024x4096xbf16>, %state: tensor<2xi64>) -> (tensor<16x1024x4096xbf16>, tensor<16x1024x4096xbf16>) {
  %i = swage.iota dim 1 : tensor<16x1024x4096xi32>
  %j = swage.iota dim 2 : tensor<16x1024x4096xi32>
  %past = arith.constant dense<3072> : tensor<16x1024x4096xi32>
  %limit = arith.constant dense<3865470566> : tensor<16x1024x4096xi32> // 0.9 * 2^32
  %zero = arith.constant dense<0.0> : tensor<16x1024x4096xf32>
  %factor = arith.constant dense<1.1111112> : tensor<16x1024x4096xf32> // 1 / 0.9
  %last = arith.addi %i, %past : tensor<16x1024x4096xi32>
  %causal = arith.cmpi sle, %j, %last : tensor<16x1024x4096xi32>
  %p = swage.softmax %scores mask %causal axis 2 scale 0.125 : tensor<16x1024x4096xbf16>, tensor<16x1024x4096xi1> -> tensor<16x1024x4096xbf16>
  %bits = swage.random %state : tensor<2xi64> -> tensor<16x1024x4096xi32>
  %keep = arith.cmpi ult, %bits, %limit : tensor<16x1024x4096xi32>
  %w = arith.extf %p : tensor<16x1024x4096xbf16> to tensor<16x1024x4096xf32>
  %scaled = arith.mulf %w, %factor : tensor<16x1024x4096xf32>
  %d0 = arith.select %keep, %scaled, %zero : tensor<16x1024x4096xi1>, tensor<16x1024x4096xf32>
  %d = arith.truncf %d0 : tensor<16x1024x4096xf32> to tensor<16x1024x4096xbf16>
  return %p, %d : tensor<16x1024x4096xbf16>, tensor<16x1024x4096xbf16>
}
