// Dropout whose mask is kept, one bit an element, by the same kernel: bit i of word j says whether element 32 j + i of the row stayed.
func.func @main(%x: tensor<16384x4096xbf16>, %state: tensor<2xi64>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>, tensor<16384x128xi32>) {
  %limit = arith.constant dense<3865470566> : tensor<16384x4096xi32> // 0.9 * 2^32
  %zero = arith.constant dense<0.0> : tensor<16384x4096xf32>
  %factor = arith.constant dense<1.1111112> : tensor<16384x4096xf32> // 1 / 0.9
  %w = arith.extf %x : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %bits = swage.random %state : tensor<2xi64> -> tensor<16384x4096xi32>
  %keep = arith.cmpi ult, %bits, %limit : tensor<16384x4096xi32>
  %scaled = arith.mulf %w, %factor : tensor<16384x4096xf32>
  %d = arith.select %keep, %scaled, %zero : tensor<16384x4096xi1>, tensor<16384x4096xf32>
  %r = arith.extf %residual : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %s0 = arith.addf %d, %r : tensor<16384x4096xf32>
  %s = arith.truncf %s0 : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  %n = swage.rms_norm %s gamma %g axis 1 eps 1.0e-6 : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>

  %place = swage.iota dim 2 : tensor<16384x128x32xi32>
  %kept = arith.extui %keep : tensor<16384x4096xi1> to tensor<16384x4096xi32>
  %kept3 = swage.reshape %kept : tensor<16384x4096xi32> -> tensor<16384x128x32xi32>
  %placed = arith.shli %kept3, %place : tensor<16384x128x32xi32>
  %mask = swage.reduce sum %placed dims [2] : tensor<16384x128x32xi32> -> tensor<16384x128xi32>
  return %s, %n, %mask : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>, tensor<16384x128xi32>
}
