// A permutation of five dimensions with an operand as the input lies and one as the output does.
func.func @main(%x: tensor<32x48x40x36x30xf32>, %a: tensor<30x40xf32>, %r: tensor<30x40x32x36x48xf32>) -> tensor<30x40x32x36x48xf32> {
  %p = swage.permute %x [4, 2, 0, 3, 1] : tensor<32x48x40x36x30xf32> -> tensor<30x40x32x36x48xf32>
  %a_all = swage.broadcast %a dims [0, 1] : tensor<30x40xf32> -> tensor<30x40x32x36x48xf32>
  %m = arith.mulf %p, %a_all : tensor<30x40x32x36x48xf32>
  %y = arith.addf %m, %r : tensor<30x40x32x36x48xf32>
  return %y : tensor<30x40x32x36x48xf32>
}
