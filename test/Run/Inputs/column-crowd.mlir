func.func @main(%x: tensor<3x5000x28xf32>) -> tensor<3x5000x28xf32> {
  %s = swage.reduce sum %x dims [1] : tensor<3x5000x28xf32> -> tensor<3x28xf32>
  %all = swage.broadcast %s dims [0, 2] : tensor<3x28xf32> -> tensor<3x5000x28xf32>
  %y = arith.subf %x, %all : tensor<3x5000x28xf32>
  return %y : tensor<3x5000x28xf32>
}
