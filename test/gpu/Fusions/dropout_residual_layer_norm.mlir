// Training: bias, dropout that keeps 90 %, residual, LayerNorm. The sum goes on as the residual stream; the backward pass draws the same bits
// again from seed and offset.
func.func @main(%x: tensor<16384x4096xbf16>, %bias: tensor<4096xbf16>, %state: tensor<2xi64>, %residual: tensor<16384x4096xbf16>, %g: tensor<4096xbf16>, %b: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>) {
  %limit = arith.constant dense<3865470566> : tensor<16384x4096xi32> // 0.9 * 2^32
  %zero = arith.constant dense<0.0> : tensor<16384x4096xf32>
  %factor = arith.constant dense<1.1111112> : tensor<16384x4096xf32> // 1 / 0.9
  %bb = swage.broadcast %bias dims [1] : tensor<4096xbf16> -> tensor<16384x4096xbf16>
  %h = arith.addf %x, %bb : tensor<16384x4096xbf16>
  %w = arith.extf %h : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %bits = swage.random %state : tensor<2xi64> -> tensor<16384x4096xi32>
  %keep = arith.cmpi ult, %bits, %limit : tensor<16384x4096xi32>
  %scaled = arith.mulf %w, %factor : tensor<16384x4096xf32>
  %d = arith.select %keep, %scaled, %zero : tensor<16384x4096xi1>, tensor<16384x4096xf32>
  %r = arith.extf %residual : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %s0 = arith.addf %d, %r : tensor<16384x4096xf32>
  %s = arith.truncf %s0 : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  %n = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<16384x4096xbf16>, tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  return %s, %n : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
