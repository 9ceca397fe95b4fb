// Images of bytes, channels last, as normalised patches of 16 by 16 pixels, channel by channel (ViT).
func.func @main(%x: tensor<256x224x224x3xi8>, %mean: tensor<3xf32>, %rstd: tensor<3xf32>) -> tensor<256x196x768xbf16> {
  %f = arith.uitofp %x : tensor<256x224x224x3xi8> to tensor<256x224x224x3xf32>
  %mean_all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<256x224x224x3xf32>
  %rstd_all = swage.broadcast %rstd dims [3] : tensor<3xf32> -> tensor<256x224x224x3xf32>
  %centred = arith.subf %f, %mean_all : tensor<256x224x224x3xf32>
  %n = arith.mulf %centred, %rstd_all : tensor<256x224x224x3xf32>
  %h = arith.truncf %n : tensor<256x224x224x3xf32> to tensor<256x224x224x3xbf16>
  %x6 = swage.reshape %h : tensor<256x224x224x3xbf16> -> tensor<256x14x16x14x16x3xbf16>
  %p = swage.permute %x6 [0, 1, 3, 5, 2, 4] : tensor<256x14x16x14x16x3xbf16> -> tensor<256x14x14x3x16x16xbf16>
  %y = swage.reshape %p : tensor<256x14x14x3x16x16xbf16> -> tensor<256x196x768xbf16>
  return %y : tensor<256x196x768xbf16>
}
