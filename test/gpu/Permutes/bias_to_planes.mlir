// Bias of a convolution, an activation and the way from channels last to planes.
func.func @main(%x: tensor<64x56x56x256xf16>, %b: tensor<256xf16>) -> tensor<64x256x56x56xf16> {
  %b_all = swage.broadcast %b dims [3] : tensor<256xf16> -> tensor<64x56x56x256xf16>
  %s = arith.addf %x, %b_all : tensor<64x56x56x256xf16>
  %zero = arith.constant dense<0.0> : tensor<64x56x56x256xf16>
  %a = arith.maximumf %s, %zero : tensor<64x56x56x256xf16>
  %y = swage.permute %a [0, 3, 1, 2] : tensor<64x56x56x256xf16> -> tensor<64x256x56x56xf16>
  return %y : tensor<64x256x56x56xf16>
}
