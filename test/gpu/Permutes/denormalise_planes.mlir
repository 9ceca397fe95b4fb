// Back: planes of bf16 as images of bytes, channels last, rounded and clamped.
func.func @main(%x: tensor<64x3x512x512xbf16>, %mean: tensor<3xf32>, %std: tensor<3xf32>) -> tensor<64x512x512x3xi8> {
  %p = swage.permute %x [0, 2, 3, 1] : tensor<64x3x512x512xbf16> -> tensor<64x512x512x3xbf16>
  %f = arith.extf %p : tensor<64x512x512x3xbf16> to tensor<64x512x512x3xf32>
  %most = arith.constant dense<255.0> : tensor<64x512x512x3xf32>
  %least = arith.constant dense<0.0> : tensor<64x512x512x3xf32>
  %mean_all = swage.broadcast %mean dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %std_all = swage.broadcast %std dims [3] : tensor<3xf32> -> tensor<64x512x512x3xf32>
  %scaled = arith.mulf %f, %std_all : tensor<64x512x512x3xf32>
  %unit = arith.addf %scaled, %mean_all : tensor<64x512x512x3xf32>
  %v = arith.mulf %unit, %most : tensor<64x512x512x3xf32>
  %r = math.roundeven %v : tensor<64x512x512x3xf32>
  %low = arith.maximumf %r, %least : tensor<64x512x512x3xf32>
  %c = arith.minimumf %low, %most : tensor<64x512x512x3xf32>
  %y = arith.fptoui %c : tensor<64x512x512x3xf32> to tensor<64x512x512x3xi8>
  return %y : tensor<64x512x512x3xi8>
}
