// A scale for each 128 elements of a row.
func.func @main(%x: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<16384x4096xf8E4M3FN>, tensor<16384x32xf32>) {
  %least = arith.constant dense<1.0e-10> : tensor<16384x32xf32>
  %most = arith.constant dense<448.0> : tensor<16384x32xf32>
  %n = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xf32>
  %h = swage.reshape %n : tensor<16384x4096xf32> -> tensor<16384x32x128xf32>
  %a = math.absf %h : tensor<16384x32x128xf32>
  %m = swage.reduce max %a dims [2] : tensor<16384x32x128xf32> -> tensor<16384x32xf32>
  %m1 = arith.maximumf %m, %least : tensor<16384x32xf32>
  %scale = arith.divf %m1, %most : tensor<16384x32xf32>
  %inverse = arith.divf %most, %m1 : tensor<16384x32xf32>
  %ib = swage.broadcast %inverse dims [0, 1] : tensor<16384x32xf32> -> tensor<16384x32x128xf32>
  %v = arith.mulf %h, %ib : tensor<16384x32x128xf32>
  %q3 = arith.truncf %v : tensor<16384x32x128xf32> to tensor<16384x32x128xf8E4M3FN>
  %q = swage.reshape %q3 : tensor<16384x32x128xf8E4M3FN> -> tensor<16384x4096xf8E4M3FN>
  return %q, %scale : tensor<16384x4096xf8E4M3FN>, tensor<16384x32xf32>
}
