// GPT-J: attention and feed-forward both join an f32 residual stream, in place; the norm is for a bf16 product. Its mean and rstd are kept for
// the backward pass.
func.func @main(%attention: tensor<16384x4096xbf16>, %ffn: tensor<16384x4096xbf16>, %bias: tensor<4096xbf16>, %residual: tensor<16384x4096xf32>, %g: tensor<4096xf32>, %b: tensor<4096xf32>)
    -> (tensor<16384x4096xf32> {swage.alias = 3}, tensor<16384x4096xbf16>, tensor<16384xf32>, tensor<16384xf32>) {
  %bb = swage.broadcast %bias dims [1] : tensor<4096xbf16> -> tensor<16384x4096xbf16>
  %wa = arith.extf %attention : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %wf = arith.extf %ffn : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %wb = arith.extf %bb : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %s0 = arith.addf %wa, %wf : tensor<16384x4096xf32>
  %s1 = arith.addf %s0, %wb : tensor<16384x4096xf32>
  %s = arith.addf %s1, %residual : tensor<16384x4096xf32>
  %n, %mean, %rstd = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<16384x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> (tensor<16384x4096xf32>, tensor<16384xf32>, tensor<16384xf32>)
  %y = arith.truncf %n : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  return %s, %y, %mean, %rstd : tensor<16384x4096xf32>, tensor<16384x4096xbf16>, tensor<16384xf32>, tensor<16384xf32>
}
