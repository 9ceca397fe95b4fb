// RMSNorm of each head of queries and keys (Qwen 3), rows of 128 out of a packed product of 16 query, 16 key and 16 value heads, written
// with the heads in front. Queries and keys have weights of their own: they are two rows of one tensor.
func.func @main(%qkv: tensor<16x1024x6144xbf16>, %gammas: tensor<2x128xbf16>) -> tensor<2x16x16x1024x128xbf16> {
  %qk = swage.slice %qkv axis 2 from 0 size 4096 : tensor<16x1024x6144xbf16> -> tensor<16x1024x4096xbf16>
  %heads = swage.reshape %qk : tensor<16x1024x4096xbf16> -> tensor<16x1024x2x16x128xbf16>
  %n = swage.rms_norm %heads axis 4 eps 1.0e-6 : (tensor<16x1024x2x16x128xbf16>) -> tensor<16x1024x2x16x128xbf16>
  %g = swage.broadcast %gammas dims [2, 4] : tensor<2x128xbf16> -> tensor<16x1024x2x16x128xbf16>
  %y = arith.mulf %n, %g : tensor<16x1024x2x16x128xbf16>
  %p = swage.permute %y [2, 0, 3, 1, 4] : tensor<16x1024x2x16x128xbf16> -> tensor<2x16x16x1024x128xbf16>
  return %p : tensor<2x16x16x1024x128xbf16>
}
