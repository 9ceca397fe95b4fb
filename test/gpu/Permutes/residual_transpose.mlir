// The same with the residual as the product lies.
func.func @main(%x: tensor<16x1024x4096xbf16>, %r: tensor<16x1024x4096xbf16>) -> tensor<16x4096x1024xbf16> {
  %s = arith.addf %x, %r : tensor<16x1024x4096xbf16>
  %y = swage.permute %s [0, 2, 1] : tensor<16x1024x4096xbf16> -> tensor<16x4096x1024xbf16>
  return %y : tensor<16x4096x1024xbf16>
}
