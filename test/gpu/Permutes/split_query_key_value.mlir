// Queries, keys and values of 32 heads of 128, out of one tensor, with the heads in front.
func.func @main(%x: tensor<8x2048x3x32x128xbf16>) -> (tensor<8x32x2048x128xbf16>, tensor<8x32x2048x128xbf16>, tensor<8x32x2048x128xbf16>) {
  %q4 = swage.slice %x axis 2 from 0 size 1 : tensor<8x2048x3x32x128xbf16> -> tensor<8x2048x1x32x128xbf16>
  %k4 = swage.slice %x axis 2 from 1 size 1 : tensor<8x2048x3x32x128xbf16> -> tensor<8x2048x1x32x128xbf16>
  %v4 = swage.slice %x axis 2 from 2 size 1 : tensor<8x2048x3x32x128xbf16> -> tensor<8x2048x1x32x128xbf16>
  %q3 = swage.reshape %q4 : tensor<8x2048x1x32x128xbf16> -> tensor<8x2048x32x128xbf16>
  %k3 = swage.reshape %k4 : tensor<8x2048x1x32x128xbf16> -> tensor<8x2048x32x128xbf16>
  %v3 = swage.reshape %v4 : tensor<8x2048x1x32x128xbf16> -> tensor<8x2048x32x128xbf16>
  %q = swage.permute %q3 [0, 2, 1, 3] : tensor<8x2048x32x128xbf16> -> tensor<8x32x2048x128xbf16>
  %k = swage.permute %k3 [0, 2, 1, 3] : tensor<8x2048x32x128xbf16> -> tensor<8x32x2048x128xbf16>
  %v = swage.permute %v3 [0, 2, 1, 3] : tensor<8x2048x32x128xbf16> -> tensor<8x32x2048x128xbf16>
  return %q, %k, %v : tensor<8x32x2048x128xbf16>, tensor<8x32x2048x128xbf16>, tensor<8x32x2048x128xbf16>
}
