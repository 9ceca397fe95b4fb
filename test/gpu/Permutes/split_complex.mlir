// Complex numbers as two planes.
func.func @main(%x: tensor<4096x8192x2xf32>) -> (tensor<4096x8192xf32>, tensor<4096x8192xf32>) {
  %r1 = swage.slice %x axis 2 from 0 size 1 : tensor<4096x8192x2xf32> -> tensor<4096x8192x1xf32>
  %i1 = swage.slice %x axis 2 from 1 size 1 : tensor<4096x8192x2xf32> -> tensor<4096x8192x1xf32>
  %r = swage.reshape %r1 : tensor<4096x8192x1xf32> -> tensor<4096x8192xf32>
  %i = swage.reshape %i1 : tensor<4096x8192x1xf32> -> tensor<4096x8192xf32>
  return %r, %i : tensor<4096x8192xf32>, tensor<4096x8192xf32>
}
