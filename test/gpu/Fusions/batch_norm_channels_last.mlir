// BatchNorm in training, channels last: statistics of each of 512 channels over images and places, returned for the running averages.
func.func @main(%x: tensor<32x28x28x512xbf16>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>) -> (tensor<32x28x28x512xbf16>, tensor<512xf32>, tensor<512xf32>) {
  %channels = swage.permute %x [3, 0, 1, 2] : tensor<32x28x28x512xbf16> -> tensor<512x32x28x28xbf16>
  %n0, %mean, %rstd = swage.layer_norm %channels axis 1 eps 1.0e-5 : (tensor<512x32x28x28xbf16>) -> (tensor<512x32x28x28xf32>, tensor<512xf32>, tensor<512xf32>)
  %n = swage.permute %n0 [1, 2, 3, 0] : tensor<512x32x28x28xf32> -> tensor<32x28x28x512xf32>
  %g = swage.broadcast %gamma dims [3] : tensor<512xf32> -> tensor<32x28x28x512xf32>
  %b = swage.broadcast %beta dims [3] : tensor<512xf32> -> tensor<32x28x28x512xf32>
  %y0 = arith.mulf %n, %g : tensor<32x28x28x512xf32>
  %y1 = arith.addf %y0, %b : tensor<32x28x28x512xf32>
  %y = arith.truncf %y1 : tensor<32x28x28x512xf32> to tensor<32x28x28x512xbf16>
  return %y, %mean, %rstd : tensor<32x28x28x512xbf16>, tensor<512xf32>, tensor<512xf32>
}
