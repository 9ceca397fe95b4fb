// LayerNorm, then the permute into 32 heads of 128: [sequences, tokens, channels] to [sequences, heads, tokens, 128].
func.func @main(%x: tensor<8x2048x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>) -> tensor<8x32x2048x128xbf16> {
  %n = swage.layer_norm %x gamma %g beta %b axis 2 eps 1.0e-5 : (tensor<8x2048x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<8x2048x4096xbf16>
  %h = swage.reshape %n : tensor<8x2048x4096xbf16> -> tensor<8x2048x32x128xbf16>
  %y = swage.permute %h [0, 2, 1, 3] : tensor<8x2048x32x128xbf16> -> tensor<8x32x2048x128xbf16>
  return %y : tensor<8x32x2048x128xbf16>
}
