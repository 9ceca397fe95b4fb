// What a vision model does first: images of bytes, channels last, as normalised planes: (x / 255 - mean[c]) * rstd[c].
func.func @main(%x: tensor<64x512x512x3xi8>, %mean: tensor<3xf32>, %rstd: tensor<3xf32>) -> tensor<64x3x512x512xbf16> {
  %f = arith.uitofp %x : tensor<64x512x512x3xi8> to tensor<64x512x512x3xf32>
  %scale = arith.constant dense<0.00392156886> : tensor<64x512x512x3xf32>
  %mean_all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %rstd_all = swage.broadcast %rstd dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %unit = arith.mulf %f, %scale : tensor<64x512x512x3xf32>
  %centred = arith.subf %unit, %mean_all : tensor<64x512x512x3xf32>
  %n = arith.mulf %centred, %rstd_all : tensor<64x512x512x3xf32>
  %p = swage.permute %n [0, 3, 1, 2] : tensor<64x512x512x3xf32> -> tensor<64x3x512x512xf32>
  %y = arith.truncf %p : tensor<64x3x512x512xf32> to tensor<64x3x512x512xbf16>
  return %y : tensor<64x3x512x512xbf16>
}
