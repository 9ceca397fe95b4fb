// Elementwise work on both sides with every kind of broadcast: a factor for each row and a shift for each column in front of the norm;
// adaptive scale and shift for each of 16 sequences (diffusion transformers) and a gated residual behind it.
func.func @main(%x: tensor<16x1024x4096xbf16>, %weight: tensor<16x1024xf32>, %shift: tensor<4096xbf16>,
                %ada_scale: tensor<16x4096xbf16>, %ada_shift: tensor<16x4096xbf16>, %gate: tensor<f32>, %residual: tensor<16x1024x4096xbf16>)
    -> tensor<16x1024x4096xbf16> {
  %one = arith.constant dense<1.0> : tensor<16x4096xbf16>
  %w0 = arith.truncf %weight : tensor<16x1024xf32> to tensor<16x1024xbf16>
  %w = swage.broadcast %w0 dims [0, 1] : tensor<16x1024xbf16> -> tensor<16x1024x4096xbf16>
  %c = swage.broadcast %shift dims [2] : tensor<4096xbf16> -> tensor<16x1024x4096xbf16>
  %x0 = arith.mulf %x, %w : tensor<16x1024x4096xbf16>
  %x1 = arith.addf %x0, %c : tensor<16x1024x4096xbf16>
  %n = swage.layer_norm %x1 axis 2 eps 1.0e-6 : (tensor<16x1024x4096xbf16>) -> tensor<16x1024x4096xbf16>
  %s0 = arith.addf %ada_scale, %one : tensor<16x4096xbf16>
  %s = swage.broadcast %s0 dims [0, 2] : tensor<16x4096xbf16> -> tensor<16x1024x4096xbf16>
  %t = swage.broadcast %ada_shift dims [0, 2] : tensor<16x4096xbf16> -> tensor<16x1024x4096xbf16>
  %y0 = arith.mulf %n, %s : tensor<16x1024x4096xbf16>
  %y1 = arith.addf %y0, %t : tensor<16x1024x4096xbf16>
  %g0 = arith.truncf %gate : tensor<f32> to tensor<bf16>
  %g = swage.broadcast %g0 dims [] : tensor<bf16> -> tensor<16x1024x4096xbf16>
  %y2 = arith.mulf %y1, %g : tensor<16x1024x4096xbf16>
  %y = arith.addf %y2, %residual : tensor<16x1024x4096xbf16>
  return %y : tensor<16x1024x4096xbf16>
}
