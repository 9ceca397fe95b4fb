// A product and its transpose, both results.
func.func @main(%x: tensor<16384x4096xbf16>, %s: tensor<16384x4096xbf16>) -> (tensor<16384x4096xbf16>, tensor<4096x16384xbf16>) {
  %v = arith.mulf %x, %s : tensor<16384x4096xbf16>
  %y = swage.permute %v [1, 0] : tensor<16384x4096xbf16> -> tensor<4096x16384xbf16>
  return %v, %y : tensor<16384x4096xbf16>, tensor<4096x16384xbf16>
}
