// RMSNorm of each head, its elements rounded before the weight, then a rotary embedding (halves, as GPT-NeoX), with the heads in front: queries of Qwen 3 on their way to attention.
func.func @main(%x: tensor<8x2048x16x128xbf16>, %gamma: tensor<128xbf16>, %cos: tensor<2048x128xbf16>, %sin: tensor<2048x128xbf16>) -> tensor<8x16x2048x128xbf16> {
  %wide = swage.rms_norm %x axis 3 eps 1.0e-6 : (tensor<8x2048x16x128xbf16>) -> tensor<8x2048x16x128xf32>
  %narrow = arith.truncf %wide : tensor<8x2048x16x128xf32> to tensor<8x2048x16x128xbf16>
  %g = swage.broadcast %gamma dims [3] : tensor<128xbf16> -> tensor<8x2048x16x128xbf16>
  %n = arith.mulf %narrow, %g : tensor<8x2048x16x128xbf16>
  %p = swage.permute %n [0, 2, 1, 3] : tensor<8x2048x16x128xbf16> -> tensor<8x16x2048x128xbf16>
  %low = swage.slice %p axis 3 from 0 size 64 : tensor<8x16x2048x128xbf16> -> tensor<8x16x2048x64xbf16>
  %high = swage.slice %p axis 3 from 64 size 64 : tensor<8x16x2048x128xbf16> -> tensor<8x16x2048x64xbf16>
  %minus = arith.negf %high : tensor<8x16x2048x64xbf16>
  %turned = swage.concat %minus, %low axis 3 : (tensor<8x16x2048x64xbf16>, tensor<8x16x2048x64xbf16>) -> tensor<8x16x2048x128xbf16>
  %c = swage.broadcast %cos dims [2, 3] : tensor<2048x128xbf16> -> tensor<8x16x2048x128xbf16>
  %s = swage.broadcast %sin dims [2, 3] : tensor<2048x128xbf16> -> tensor<8x16x2048x128xbf16>
  %pc = arith.mulf %p, %c : tensor<8x16x2048x128xbf16>
  %ts = arith.mulf %turned, %s : tensor<8x16x2048x128xbf16>
  %y = arith.addf %pc, %ts : tensor<8x16x2048x128xbf16>
  return %y : tensor<8x16x2048x128xbf16>
}
