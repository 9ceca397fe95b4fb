// SwiGLU of the two halves of one product, then RMSNorm of what it makes.
func.func @main(%product: tensor<16384x8192xbf16>, %g: tensor<4096xbf16>) -> tensor<16384x4096xbf16> {
  %one = arith.constant dense<1.0> : tensor<16384x4096xbf16>
  %gate = swage.slice %product axis 1 from 0 size 4096 : tensor<16384x8192xbf16> -> tensor<16384x4096xbf16>
  %up = swage.slice %product axis 1 from 4096 size 4096 : tensor<16384x8192xbf16> -> tensor<16384x4096xbf16>
  %minus = arith.negf %gate : tensor<16384x4096xbf16>
  %e = math.exp %minus : tensor<16384x4096xbf16>
  %d = arith.addf %e, %one : tensor<16384x4096xbf16>
  %silu = arith.divf %gate, %d : tensor<16384x4096xbf16>
  %h = arith.mulf %silu, %up : tensor<16384x4096xbf16>
  %n = swage.rms_norm %h gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %n : tensor<16384x4096xbf16>
}
