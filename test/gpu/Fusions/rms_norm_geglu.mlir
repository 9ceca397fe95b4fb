// Beside and after a norm: RMSNorm of x with `1 + gamma` (Gemma; gamma is f32, x is not), multiplied by GELU (erf) of a gate.
func.func @main(%x: tensor<16384x4096xbf16>, %gamma: tensor<4096xf32>, %gate: tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16> {
  %one = arith.constant dense<1.0> : tensor<4096xf32>
  %onef = arith.constant dense<1.0> : tensor<16384x4096xf32>
  %half = arith.constant dense<0.5> : tensor<16384x4096xf32>
  %root = arith.constant dense<0.707106781> : tensor<16384x4096xf32>
  %g = arith.addf %gamma, %one : tensor<4096xf32>
  %n = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xf32>) -> tensor<16384x4096xf32>
  %w = arith.extf %gate : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %a = arith.mulf %w, %root : tensor<16384x4096xf32>
  %erf = math.erf %a : tensor<16384x4096xf32>
  %c = arith.addf %erf, %onef : tensor<16384x4096xf32>
  %hw = arith.mulf %w, %half : tensor<16384x4096xf32>
  %gelu = arith.mulf %hw, %c : tensor<16384x4096xf32>
  %y0 = arith.mulf %n, %gelu : tensor<16384x4096xf32>
  %y = arith.truncf %y0 : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  return %y : tensor<16384x4096xbf16>
}
