// One scale for the tensor, given.
func.func @main(%x: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>, %s: tensor<1xf32>) -> tensor<16384x4096xi8> {
  %lo = arith.constant dense<-128.0> : tensor<16384x4096xf32>
  %hi = arith.constant dense<127.0> : tensor<16384x4096xf32>
  %n = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xf32>
  %sb = swage.broadcast %s dims [1] : tensor<1xf32> -> tensor<16384x4096xf32>
  %v = arith.mulf %n, %sb : tensor<16384x4096xf32>
  %r = math.roundeven %v : tensor<16384x4096xf32>
  %r0 = arith.maximumf %r, %lo : tensor<16384x4096xf32>
  %r1 = arith.minimumf %r0, %hi : tensor<16384x4096xf32>
  %q = arith.fptosi %r1 : tensor<16384x4096xf32> to tensor<16384x4096xi8>
  return %q : tensor<16384x4096xi8>
}
