// Images of bytes normalised as they lie, channels last: rows of three with three means.
func.func @main(%x: tensor<64x512x512x3xi8>, %mean: tensor<3xf32>, %rstd: tensor<3xf32>) -> tensor<64x512x512x3xbf16> {
  %f = arith.uitofp %x : tensor<64x512x512x3xi8> to tensor<64x512x512x3xf32>
  %mean_all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %rstd_all = swage.broadcast %rstd dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %c = arith.subf %f, %mean_all : tensor<64x512x512x3xf32>
  %n = arith.mulf %c, %rstd_all : tensor<64x512x512x3xf32>
  %y = arith.truncf %n : tensor<64x512x512x3xf32> to tensor<64x512x512x3xbf16>
  return %y : tensor<64x512x512x3xbf16>
}
