// A tensor and its transpose, both results: what a matrix product and its gradient read.
func.func @main(%x: tensor<8192x8192xbf16>, %s: tensor<8192x8192xbf16>) -> (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) {
  %v = arith.mulf %x, %s : tensor<8192x8192xbf16>
  %y = swage.permute %v [1, 0] : tensor<8192x8192xbf16> -> tensor<8192x8192xbf16>
  return %v, %y : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>
}
