// Post-norm: LayerNorm of the sum, which nobody else needs. The result may lie where the product was.
func.func @main(%x: tensor<16384x4096xbf16>, %bias: tensor<4096xbf16>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16> {swage.alias = 0}) {
  %bb = swage.broadcast %bias dims [1] : tensor<4096xbf16> -> tensor<16384x4096xbf16>
  %s0 = arith.addf %x, %bb : tensor<16384x4096xbf16>
  %s = arith.addf %s0, %residual : tensor<16384x4096xbf16>
  %n = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %n : tensor<16384x4096xbf16>
}
