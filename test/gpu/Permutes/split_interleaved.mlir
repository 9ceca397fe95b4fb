// The same where a head's query, key and value alternate element by element: three channels.
func.func @main(%x: tensor<8x2048x4096x3xbf16>) -> (tensor<8x2048x4096xbf16>, tensor<8x2048x4096xbf16>, tensor<8x2048x4096xbf16>) {
  %q1 = swage.slice %x axis 3 from 0 size 1 : tensor<8x2048x4096x3xbf16> -> tensor<8x2048x4096x1xbf16>
  %k1 = swage.slice %x axis 3 from 1 size 1 : tensor<8x2048x4096x3xbf16> -> tensor<8x2048x4096x1xbf16>
  %v1 = swage.slice %x axis 3 from 2 size 1 : tensor<8x2048x4096x3xbf16> -> tensor<8x2048x4096x1xbf16>
  %q = swage.reshape %q1 : tensor<8x2048x4096x1xbf16> -> tensor<8x2048x4096xbf16>
  %k = swage.reshape %k1 : tensor<8x2048x4096x1xbf16> -> tensor<8x2048x4096xbf16>
  %v = swage.reshape %v1 : tensor<8x2048x4096x1xbf16> -> tensor<8x2048x4096xbf16>
  return %q, %k, %v : tensor<8x2048x4096xbf16>, tensor<8x2048x4096xbf16>, tensor<8x2048x4096xbf16>
}
