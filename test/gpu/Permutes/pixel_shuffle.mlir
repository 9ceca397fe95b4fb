// Channels become pixels, four by four of them (sub-pixel convolution): reshape, permute, reshape, behind a bias.
func.func @main(%x: tensor<32x48x128x128xf16>, %b: tensor<48xf16>) -> tensor<32x3x512x512xf16> {
  %b_all = swage.broadcast %b dims [1] : tensor<48xf16> -> tensor<32x48x128x128xf16>
  %s = arith.addf %x, %b_all : tensor<32x48x128x128xf16>
  %x6 = swage.reshape %s : tensor<32x48x128x128xf16> -> tensor<32x3x4x4x128x128xf16>
  %p = swage.permute %x6 [0, 1, 4, 2, 5, 3] : tensor<32x3x4x4x128x128xf16> -> tensor<32x3x128x4x128x4xf16>
  %y = swage.reshape %p : tensor<32x3x128x4x128x4xf16> -> tensor<32x3x512x512xf16>
  return %y : tensor<32x3x512x512xf16>
}
