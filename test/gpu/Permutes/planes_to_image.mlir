// Planes of bytes as images, channels last.
func.func @main(%x: tensor<64x3x512x512xi8>) -> tensor<64x512x512x3xi8> {
  %y = swage.permute %x [0, 2, 3, 1] : tensor<64x3x512x512xi8> -> tensor<64x512x512x3xi8>
  return %y : tensor<64x512x512x3xi8>
}
