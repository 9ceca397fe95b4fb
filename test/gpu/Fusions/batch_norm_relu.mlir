// BatchNorm in training, and ReLU: statistics of each of 512 channels over images and places, returned for the running averages.
func.func @main(%x: tensor<32x512x64x64xbf16>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>) -> (tensor<32x512x64x64xbf16>, tensor<512xf32>, tensor<512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<32x512x64x64xf32>
  %channels = swage.permute %x [1, 0, 2, 3] : tensor<32x512x64x64xbf16> -> tensor<512x32x64x64xbf16>
  %n0, %mean, %rstd = swage.layer_norm %channels axis 1 eps 1.0e-5 : (tensor<512x32x64x64xbf16>) -> (tensor<512x32x64x64xf32>, tensor<512xf32>, tensor<512xf32>)
  %n = swage.permute %n0 [1, 0, 2, 3] : tensor<512x32x64x64xf32> -> tensor<32x512x64x64xf32>
  %g = swage.broadcast %gamma dims [1] : tensor<512xf32> -> tensor<32x512x64x64xf32>
  %b = swage.broadcast %beta dims [1] : tensor<512xf32> -> tensor<32x512x64x64xf32>
  %y0 = arith.mulf %n, %g : tensor<32x512x64x64xf32>
  %y1 = arith.addf %y0, %b : tensor<32x512x64x64xf32>
  %y2 = arith.maximumf %y1, %zero : tensor<32x512x64x64xf32>
  %y = arith.truncf %y2 : tensor<32x512x64x64xf32> to tensor<32x512x64x64xbf16>
  return %y, %mean, %rstd : tensor<32x512x64x64xbf16>, tensor<512xf32>, tensor<512xf32>
}
