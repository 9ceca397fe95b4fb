// A product that lies the other way round, with a residual as the result lies: an operand that needs a transpose.
func.func @main(%x: tensor<16x1024x4096xbf16>, %r: tensor<16x4096x1024xbf16>) -> tensor<16x4096x1024xbf16> {
  %p = swage.permute %x [0, 2, 1] : tensor<16x1024x4096xbf16> -> tensor<16x4096x1024xbf16>
  %y = arith.addf %p, %r : tensor<16x4096x1024xbf16>
  return %y : tensor<16x4096x1024xbf16>
}
