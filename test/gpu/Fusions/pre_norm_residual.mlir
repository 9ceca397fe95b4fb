// Pre-norm: the bias of the projection before, the residual stream, LayerNorm. The sum is the new residual stream and may lie where the old
// one was.
func.func @main(%x: tensor<16384x4096xbf16>, %bias: tensor<4096xbf16>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16> {swage.alias = 2}, tensor<16384x4096xbf16>) {
  %bb = swage.broadcast %bias dims [1] : tensor<4096xbf16> -> tensor<16384x4096xbf16>
  %s0 = arith.addf %x, %bb : tensor<16384x4096xbf16>
  %s = arith.addf %s0, %residual : tensor<16384x4096xbf16>
  %n = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %s, %n : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
