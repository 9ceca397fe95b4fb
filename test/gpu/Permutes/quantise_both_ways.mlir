// A tensor in fp8 as it lies and transposed, with one scale.
func.func @main(%x: tensor<8192x8192xbf16>, %scale: tensor<1xf32>) -> (tensor<8192x8192xf8E4M3FN>, tensor<8192x8192xf8E4M3FN>) {
  %f = arith.extf %x : tensor<8192x8192xbf16> to tensor<8192x8192xf32>
  %one = swage.reshape %scale : tensor<1xf32> -> tensor<f32>
  %all = swage.broadcast %one dims [] : tensor<f32> -> tensor<8192x8192xf32>
  %v = arith.mulf %f, %all : tensor<8192x8192xf32>
  %q = arith.truncf %v : tensor<8192x8192xf32> to tensor<8192x8192xf8E4M3FN>
  %y = swage.permute %q [1, 0] : tensor<8192x8192xf8E4M3FN> -> tensor<8192x8192xf8E4M3FN>
  return %q, %y : tensor<8192x8192xf8E4M3FN>, tensor<8192x8192xf8E4M3FN>
}
