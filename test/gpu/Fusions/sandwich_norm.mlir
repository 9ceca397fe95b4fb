// Norms on both sides of a residual, as in Gemma 2: the sum goes on in place, its norm to the next product. Two collectives over a row that is read once.
func.func @main(%x: tensor<16384x4096xbf16>, %residual: tensor<16384x4096xbf16>, %after: tensor<4096xbf16>, %before: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16> {swage.alias = 1}, tensor<16384x4096xbf16>) {
  %y = swage.rms_norm %x gamma %after axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  %sum = arith.addf %residual, %y : tensor<16384x4096xbf16>
  %n = swage.rms_norm %sum gamma %before axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %sum, %n : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
