// Bias, GELU and fp8, transposed, in one pass.
func.func @main(%x: tensor<8192x5003xbf16>, %b: tensor<5003xbf16>) -> tensor<5003x8192xf8E4M3FN> {
  %b_all = swage.broadcast %b dims [1] : tensor<5003xbf16> -> tensor<8192x5003xbf16>
  %s = arith.addf %x, %b_all : tensor<8192x5003xbf16>
  %f = arith.extf %s : tensor<8192x5003xbf16> to tensor<8192x5003xf32>
  %c0 = arith.constant dense<0.707106769> : tensor<8192x5003xf32>
  %c1 = arith.constant dense<1.0> : tensor<8192x5003xf32>
  %c2 = arith.constant dense<0.5> : tensor<8192x5003xf32>
  %u = arith.mulf %f, %c0 : tensor<8192x5003xf32>
  %e = math.erf %u : tensor<8192x5003xf32>
  %e1 = arith.addf %e, %c1 : tensor<8192x5003xf32>
  %h = arith.mulf %f, %c2 : tensor<8192x5003xf32>
  %g = arith.mulf %h, %e1 : tensor<8192x5003xf32>
  %q = arith.truncf %g : tensor<8192x5003xf32> to tensor<8192x5003xf8E4M3FN>
  %y = swage.permute %q [1, 0] : tensor<8192x5003xf8E4M3FN> -> tensor<5003x8192xf8E4M3FN>
  return %y : tensor<5003x8192xf8E4M3FN>
}
