// Swin v2: bias, LayerNorm, and the residual added behind it. The result may lie where the residual was.
func.func @main(%x: tensor<16384x4096xbf16>, %bias: tensor<4096xbf16>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16> {swage.alias = 2}) {
  %bb = swage.broadcast %bias dims [1] : tensor<4096xbf16> -> tensor<16384x4096xbf16>
  %s = arith.addf %x, %bb : tensor<16384x4096xbf16>
  %n = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  %y = arith.addf %n, %residual : tensor<16384x4096xbf16>
  return %y : tensor<16384x4096xbf16>
}
