// GroupNorm, channels first, and SiLU: 32 groups of 16 channels of 64x64, gamma and beta for each channel.
func.func @main(%x: tensor<32x512x64x64xbf16>, %gamma: tensor<512xbf16>, %beta: tensor<512xbf16>) -> tensor<32x512x64x64xbf16> {
  %one = arith.constant dense<1.0> : tensor<32x512x64x64xbf16>
  %groups = swage.reshape %x : tensor<32x512x64x64xbf16> -> tensor<32x32x16x64x64xbf16>
  %n0 = swage.layer_norm %groups axis 2 eps 1.0e-5 : (tensor<32x32x16x64x64xbf16>) -> tensor<32x32x16x64x64xbf16>
  %n = swage.reshape %n0 : tensor<32x32x16x64x64xbf16> -> tensor<32x512x64x64xbf16>
  %g = swage.broadcast %gamma dims [1] : tensor<512xbf16> -> tensor<32x512x64x64xbf16>
  %b = swage.broadcast %beta dims [1] : tensor<512xbf16> -> tensor<32x512x64x64xbf16>
  %y0 = arith.mulf %n, %g : tensor<32x512x64x64xbf16>
  %y = arith.addf %y0, %b : tensor<32x512x64x64xbf16>
  %m = arith.negf %y : tensor<32x512x64x64xbf16>
  %e = math.exp %m : tensor<32x512x64x64xbf16>
  %d = arith.addf %e, %one : tensor<32x512x64x64xbf16>
  %silu = arith.divf %y, %d : tensor<32x512x64x64xbf16>
  return %silu : tensor<32x512x64x64xbf16>
}
