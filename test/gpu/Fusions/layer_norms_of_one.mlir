// Attention and feed-forward part beside each other, as in GPT-NeoX: two LayerNorms of one tensor, which differ in gamma and beta alone, are one collective.
func.func @main(%x: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>, %g2: tensor<4096xbf16>, %b2: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>) {
  %n = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  %m = swage.layer_norm %x gamma %g2 beta %b2 axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %n, %m : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
