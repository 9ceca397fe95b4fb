// Softmax over the middle axis: 64 classes of each of 1024x1024 places.
func.func @main(%x: tensor<1x64x1024x1024xbf16>) -> tensor<1x64x1024x1024xbf16> {
  %p = swage.softmax %x axis 1 : tensor<1x64x1024x1024xbf16> -> tensor<1x64x1024x1024xbf16>
  return %p : tensor<1x64x1024x1024xbf16>
}
