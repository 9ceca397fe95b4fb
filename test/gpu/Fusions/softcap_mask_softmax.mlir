// Scores with temperature, softcap (Gemma 2) and an additive mask that all heads share; f32 scores, bf16 probabilities, log-sum-exp.
func.func @main(%scores: tensor<2x16x512x4096xf32>, %mask: tensor<2x512x4096xbf16>, %temperature: tensor<f32>) -> (tensor<2x16x512x4096xbf16>, tensor<2x16x512xf32>) {
  %cap = arith.constant dense<30.0> : tensor<2x16x512x4096xf32>
  %uncap = arith.constant dense<0.0333333333> : tensor<2x16x512x4096xf32>
  %t = swage.broadcast %temperature dims [] : tensor<f32> -> tensor<2x16x512x4096xf32>
  %s0 = arith.divf %scores, %t : tensor<2x16x512x4096xf32>
  %s1 = arith.mulf %s0, %uncap : tensor<2x16x512x4096xf32>
  %s2 = math.tanh %s1 : tensor<2x16x512x4096xf32>
  %s3 = arith.mulf %s2, %cap : tensor<2x16x512x4096xf32>
  %m0 = arith.extf %mask : tensor<2x512x4096xbf16> to tensor<2x512x4096xf32>
  %m = swage.broadcast %m0 dims [0, 2, 3] : tensor<2x512x4096xf32> -> tensor<2x16x512x4096xf32>
  %s = arith.addf %s3, %m : tensor<2x16x512x4096xf32>
  %p, %lse = swage.softmax %s axis 3 : tensor<2x16x512x4096xf32> -> tensor<2x16x512x4096xf32>, tensor<2x16x512xf32>
  %y = arith.truncf %p : tensor<2x16x512x4096xf32> to tensor<2x16x512x4096xbf16>
  return %y, %lse : tensor<2x16x512x4096xbf16>, tensor<2x16x512xf32>
}
