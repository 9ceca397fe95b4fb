// Images of bytes, channels last, as planes.
func.func @main(%x: tensor<64x512x512x3xi8>) -> tensor<64x3x512x512xi8> {
  %y = swage.permute %x [0, 3, 1, 2] : tensor<64x512x512x3xi8> -> tensor<64x3x512x512xi8>
  return %y : tensor<64x3x512x512xi8>
}
