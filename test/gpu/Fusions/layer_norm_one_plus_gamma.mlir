// LayerNorm with `1 + gamma` (NeMo's layernorm1p); f16 data, gamma bf16, beta f32, and a bf16 result.
func.func @main(%x: tensor<16384x4096xf16>, %gamma: tensor<4096xbf16>, %beta: tensor<4096xf32>) -> tensor<16384x4096xbf16> {
  %one = arith.constant dense<1.0> : tensor<4096xf32>
  %w = arith.extf %gamma : tensor<4096xbf16> to tensor<4096xf32>
  %g = arith.addf %w, %one : tensor<4096xf32>
  %n = swage.layer_norm %x gamma %g beta %beta axis 1 eps 1.0e-5 : (tensor<16384x4096xf16>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<16384x4096xf32>
  %y = arith.truncf %n : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  return %y : tensor<16384x4096xbf16>
}
