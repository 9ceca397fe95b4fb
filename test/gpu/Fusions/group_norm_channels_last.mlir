// GroupNorm, channels last: a group is 16 neighbouring channels of 64x64 places, so its row is strided.
func.func @main(%x: tensor<32x64x64x512xbf16>, %gamma: tensor<512xbf16>, %beta: tensor<512xbf16>) -> tensor<32x64x64x512xbf16> {
  %x5 = swage.reshape %x : tensor<32x64x64x512xbf16> -> tensor<32x4096x32x16xbf16>
  %groups = swage.permute %x5 [0, 2, 1, 3] : tensor<32x4096x32x16xbf16> -> tensor<32x32x4096x16xbf16>
  %n0 = swage.layer_norm %groups axis 2 eps 1.0e-5 : (tensor<32x32x4096x16xbf16>) -> tensor<32x32x4096x16xbf16>
  %n1 = swage.permute %n0 [0, 2, 1, 3] : tensor<32x32x4096x16xbf16> -> tensor<32x4096x32x16xbf16>
  %n = swage.reshape %n1 : tensor<32x4096x32x16xbf16> -> tensor<32x64x64x512xbf16>
  %g = swage.broadcast %gamma dims [3] : tensor<512xbf16> -> tensor<32x64x64x512xbf16>
  %b = swage.broadcast %beta dims [3] : tensor<512xbf16> -> tensor<32x64x64x512xbf16>
  %y0 = arith.mulf %n, %g : tensor<32x64x64x512xbf16>
  %y = arith.addf %y0, %b : tensor<32x64x64x512xbf16>
  return %y : tensor<32x64x64x512xbf16>
}
