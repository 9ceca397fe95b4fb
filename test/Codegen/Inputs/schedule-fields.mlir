func.func @pointwise(%x: tensor<4096x4096xf16>, %y: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %b = swage.broadcast %y dims [1] : tensor<4096xf16> -> tensor<4096x4096xf16>
  %z = arith.addf %x, %b : tensor<4096x4096xf16>
  return %z : tensor<4096x4096xf16>
}
func.func @runs(%x: tensor<64x128x16x64xbf16>) -> tensor<64x16x128x64xbf16> {
  %t = swage.permute %x [0, 2, 1, 3] : tensor<64x128x16x64xbf16> -> tensor<64x16x128x64xbf16>
  return %t : tensor<64x16x128x64xbf16>
}
func.func @tiles(%x: tensor<16x512x256xf32>) -> tensor<16x256x512xf32> {
  %t = swage.permute %x [0, 2, 1] : tensor<16x512x256xf32> -> tensor<16x256x512xf32>
  return %t : tensor<16x256x512xf32>
}
func.func @row(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %y = swage.softmax %x axis 1 : tensor<8192x8192xf16> -> tensor<8192x8192xf16>
  return %y : tensor<8192x8192xf16>
}
func.func @reduce(%x: tensor<512x4096xf32>) -> tensor<4096xf32> {
  %y = swage.reduce sum %x dims [0] : tensor<512x4096xf32> -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
