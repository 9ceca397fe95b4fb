// What an i8 product leaves, with a scale for each row and each column: bias, residual and norm, the sum returned too.
func.func @main(%x: tensor<16384x4096xi32>, %rows: tensor<16384xf32>, %columns: tensor<4096xf32>, %bias: tensor<4096xbf16>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>) {
  %f = arith.sitofp %x : tensor<16384x4096xi32> to tensor<16384x4096xf32>
  %rb = swage.broadcast %rows dims [0] : tensor<16384xf32> -> tensor<16384x4096xf32>
  %cb = swage.broadcast %columns dims [1] : tensor<4096xf32> -> tensor<16384x4096xf32>
  %f0 = arith.mulf %f, %rb : tensor<16384x4096xf32>
  %f1 = arith.mulf %f0, %cb : tensor<16384x4096xf32>
  %wb = arith.extf %bias : tensor<4096xbf16> to tensor<4096xf32>
  %bb = swage.broadcast %wb dims [1] : tensor<4096xf32> -> tensor<16384x4096xf32>
  %wr = arith.extf %residual : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %f2 = arith.addf %f1, %bb : tensor<16384x4096xf32>
  %f3 = arith.addf %f2, %wr : tensor<16384x4096xf32>
  %h = arith.truncf %f3 : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  %n = swage.layer_norm %h gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %h, %n : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
