// And two planes as complex numbers.
func.func @main(%r: tensor<4096x8192xf32>, %i: tensor<4096x8192xf32>) -> tensor<4096x8192x2xf32> {
  %r1 = swage.reshape %r : tensor<4096x8192xf32> -> tensor<4096x8192x1xf32>
  %i1 = swage.reshape %i : tensor<4096x8192xf32> -> tensor<4096x8192x1xf32>
  %y = swage.concat %r1, %i1 axis 2 : (tensor<4096x8192x1xf32>, tensor<4096x8192x1xf32>) -> tensor<4096x8192x2xf32>
  return %y : tensor<4096x8192x2xf32>
}
