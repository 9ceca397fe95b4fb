// Attention scores in windows of 16x16 (Swin): scale, a bias for each head and pair of places, a mask for each of 64 windows of an image.
func.func @main(%scores: tensor<2x64x8x256x256xf16>, %bias: tensor<8x256x256xf16>, %mask: tensor<64x256x256xf16>) -> tensor<2x64x8x256x256xf16> {
  %scale = arith.constant dense<0.17677669> : tensor<2x64x8x256x256xf16>
  %s0 = arith.mulf %scores, %scale : tensor<2x64x8x256x256xf16>
  %b = swage.broadcast %bias dims [2, 3, 4] : tensor<8x256x256xf16> -> tensor<2x64x8x256x256xf16>
  %m = swage.broadcast %mask dims [1, 3, 4] : tensor<64x256x256xf16> -> tensor<2x64x8x256x256xf16>
  %s1 = arith.addf %s0, %b : tensor<2x64x8x256x256xf16>
  %s = arith.addf %s1, %m : tensor<2x64x8x256x256xf16>
  %p = swage.softmax %s axis 4 : tensor<2x64x8x256x256xf16> -> tensor<2x64x8x256x256xf16>
  return %p : tensor<2x64x8x256x256xf16>
}
