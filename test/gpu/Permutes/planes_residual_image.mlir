// Planes and a residual with channels last, three channels.
func.func @main(%x: tensor<64x3x512x512xf16>, %r: tensor<64x512x512x3xf16>) -> tensor<64x512x512x3xf16> {
  %p = swage.permute %x [0, 2, 3, 1] : tensor<64x3x512x512xf16> -> tensor<64x512x512x3xf16>
  %y = arith.addf %p, %r : tensor<64x512x512x3xf16>
  return %y : tensor<64x512x512x3xf16>
}
