// Serving in 8 bits: the residual stream summed up in place, RMSNorm, and e4m3 with a scale for each row.
func.func @main(%x: tensor<16384x4096xbf16>, %r: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16> {swage.alias = 1}, tensor<16384x4096xf8E4M3FN>, tensor<16384xf32>) {
  %least = arith.constant dense<1.0e-10> : tensor<16384xf32>
  %most = arith.constant dense<448.0> : tensor<16384xf32>
  %s = arith.addf %x, %r : tensor<16384x4096xbf16>
  %n = swage.rms_norm %s gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xf32>
  %a = math.absf %n : tensor<16384x4096xf32>
  %m = swage.reduce max %a dims [1] : tensor<16384x4096xf32> -> tensor<16384xf32>
  %m1 = arith.maximumf %m, %least : tensor<16384xf32>
  %scale = arith.divf %m1, %most : tensor<16384xf32>
  %inverse = arith.divf %most, %m1 : tensor<16384xf32>
  %ib = swage.broadcast %inverse dims [0] : tensor<16384xf32> -> tensor<16384x4096xf32>
  %v = arith.mulf %n, %ib : tensor<16384x4096xf32>
  %q = arith.truncf %v : tensor<16384x4096xf32> to tensor<16384x4096xf8E4M3FN>
  return %s, %q, %scale : tensor<16384x4096xbf16>, tensor<16384x4096xf8E4M3FN>, tensor<16384xf32>
}
