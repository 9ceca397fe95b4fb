// Dynamic quantisation of activations: RMSNorm and i8 with a scale for each row.
func.func @main(%x: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>) -> (tensor<16384x4096xi8>, tensor<16384xf32>) {
  %least = arith.constant dense<1.0e-10> : tensor<16384xf32>
  %most = arith.constant dense<127.0> : tensor<16384xf32>
  %n = swage.rms_norm %x gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xf32>
  %a = math.absf %n : tensor<16384x4096xf32>
  %m = swage.reduce max %a dims [1] : tensor<16384x4096xf32> -> tensor<16384xf32>
  %m1 = arith.maximumf %m, %least : tensor<16384xf32>
  %scale = arith.divf %m1, %most : tensor<16384xf32>
  %inverse = arith.divf %most, %m1 : tensor<16384xf32>
  %ib = swage.broadcast %inverse dims [0] : tensor<16384xf32> -> tensor<16384x4096xf32>
  %v = arith.mulf %n, %ib : tensor<16384x4096xf32>
  %r = math.roundeven %v : tensor<16384x4096xf32>
  %q = arith.fptosi %r : tensor<16384x4096xf32> to tensor<16384x4096xi8>
  return %q, %scale : tensor<16384x4096xi8>, tensor<16384xf32>
}
