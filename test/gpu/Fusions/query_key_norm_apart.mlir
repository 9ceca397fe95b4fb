// The same with queries and keys as tensors of their own, [tokens, heads, 128] each: 32 query heads, 8 key heads. Two kernels, because the
// results have two iteration spaces; with one result of 40 heads and a gamma for each of them it is one.
func.func @main(%qkv: tensor<16384x6144xbf16>, %gq: tensor<128xbf16>, %gk: tensor<128xbf16>) -> (tensor<16384x32x128xbf16>, tensor<16384x8x128xbf16>) {
  %q = swage.slice %qkv axis 1 from 0 size 4096 : tensor<16384x6144xbf16> -> tensor<16384x4096xbf16>
  %k = swage.slice %qkv axis 1 from 4096 size 1024 : tensor<16384x6144xbf16> -> tensor<16384x1024xbf16>
  %qh = swage.reshape %q : tensor<16384x4096xbf16> -> tensor<16384x32x128xbf16>
  %kh = swage.reshape %k : tensor<16384x1024xbf16> -> tensor<16384x8x128xbf16>
  %qn = swage.rms_norm %qh gamma %gq axis 2 eps 1.0e-6 : (tensor<16384x32x128xbf16>, tensor<128xbf16>) -> tensor<16384x32x128xbf16>
  %kn = swage.rms_norm %kh gamma %gk axis 2 eps 1.0e-6 : (tensor<16384x8x128xbf16>, tensor<128xbf16>) -> tensor<16384x8x128xbf16>
  return %qn, %kn : tensor<16384x32x128xbf16>, tensor<16384x8x128xbf16>
}
