// The block of llama_block.mlir for any batch and any number of tokens: both are `?`, and the first argument says what
// they are.  One compiled program serves every size; what each kernel walks together is checked at launch.

func.func @main(
    %x: tensor<?x?x4096xbf16>, %norm1_gamma: tensor<4096xbf16>,
    %q_product: tensor<?x?x4096xbf16>, %k_product: tensor<?x?x1024xbf16>, %v_product: tensor<?x?x1024xbf16>,
    %cos: tensor<?x64xf32>, %sin: tensor<?x64xf32>,
    %attention: tensor<?x32x?x128xbf16>, %o_product: tensor<?x?x4096xbf16>,
    %norm2_gamma: tensor<4096xbf16>,
    %gate_product: tensor<?x?x14336xbf16>, %up_product: tensor<?x?x14336xbf16>,
    %down_product: tensor<?x?x4096xbf16>
) -> (
    tensor<?x?x4096xbf16>, tensor<?x?xf32>,
    tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>,
    tensor<?x?x4096xbf16>, tensor<?x?x4096xbf16>, tensor<?x?x4096xbf16>, tensor<?x?xf32>,
    tensor<?x?x14336xbf16>, tensor<?x?x14336xbf16>, tensor<?x?x4096xbf16>
) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x4096xbf16>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x4096xbf16>

  // RMSNorm before attention.
  %norm1, %norm1_rstd = swage.rms_norm %x gamma %norm1_gamma axis 2 eps 1.0e-5
      : (tensor<?x?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x?x4096xbf16>, tensor<?x?xf32>)

  // Rotary position embedding of q in its rotate-half form, heads in front:
  // (a, b) -> (a cos - b sin, b cos + a sin) for the halves a and b of each head.
  %q_heads = swage.reshape %q_product : tensor<?x?x4096xbf16> -> tensor<?x?x32x128xbf16>
  %q_cos = swage.broadcast %cos dims [1, 3] sizes(%batch, %tokens) : tensor<?x64xf32> -> tensor<?x?x32x64xf32>
  %q_sin = swage.broadcast %sin dims [1, 3] sizes(%batch, %tokens) : tensor<?x64xf32> -> tensor<?x?x32x64xf32>
  %q_a16 = swage.slice %q_heads axis 3 from 0 size 64 : tensor<?x?x32x128xbf16> -> tensor<?x?x32x64xbf16>
  %q_b16 = swage.slice %q_heads axis 3 from 64 size 64 : tensor<?x?x32x128xbf16> -> tensor<?x?x32x64xbf16>
  %q_a = arith.extf %q_a16 : tensor<?x?x32x64xbf16> to tensor<?x?x32x64xf32>
  %q_b = arith.extf %q_b16 : tensor<?x?x32x64xbf16> to tensor<?x?x32x64xf32>
  %q_a_cos = arith.mulf %q_a, %q_cos : tensor<?x?x32x64xf32>
  %q_b_sin = arith.mulf %q_b, %q_sin : tensor<?x?x32x64xf32>
  %q_b_cos = arith.mulf %q_b, %q_cos : tensor<?x?x32x64xf32>
  %q_a_sin = arith.mulf %q_a, %q_sin : tensor<?x?x32x64xf32>
  %q_first = arith.subf %q_a_cos, %q_b_sin : tensor<?x?x32x64xf32>
  %q_second = arith.addf %q_b_cos, %q_a_sin : tensor<?x?x32x64xf32>
  %q_first16 = arith.truncf %q_first : tensor<?x?x32x64xf32> to tensor<?x?x32x64xbf16>
  %q_second16 = arith.truncf %q_second : tensor<?x?x32x64xf32> to tensor<?x?x32x64xbf16>
  %q_rotated = swage.concat %q_first16, %q_second16 axis 3
      : (tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>) -> tensor<?x?x32x128xbf16>
  %q = swage.permute %q_rotated [0, 2, 1, 3] : tensor<?x?x32x128xbf16> -> tensor<?x32x?x128xbf16>

  // The same for k with its 8 heads.
  %k_heads = swage.reshape %k_product : tensor<?x?x1024xbf16> -> tensor<?x?x8x128xbf16>
  %k_cos = swage.broadcast %cos dims [1, 3] sizes(%batch, %tokens) : tensor<?x64xf32> -> tensor<?x?x8x64xf32>
  %k_sin = swage.broadcast %sin dims [1, 3] sizes(%batch, %tokens) : tensor<?x64xf32> -> tensor<?x?x8x64xf32>
  %k_a16 = swage.slice %k_heads axis 3 from 0 size 64 : tensor<?x?x8x128xbf16> -> tensor<?x?x8x64xbf16>
  %k_b16 = swage.slice %k_heads axis 3 from 64 size 64 : tensor<?x?x8x128xbf16> -> tensor<?x?x8x64xbf16>
  %k_a = arith.extf %k_a16 : tensor<?x?x8x64xbf16> to tensor<?x?x8x64xf32>
  %k_b = arith.extf %k_b16 : tensor<?x?x8x64xbf16> to tensor<?x?x8x64xf32>
  %k_a_cos = arith.mulf %k_a, %k_cos : tensor<?x?x8x64xf32>
  %k_b_sin = arith.mulf %k_b, %k_sin : tensor<?x?x8x64xf32>
  %k_b_cos = arith.mulf %k_b, %k_cos : tensor<?x?x8x64xf32>
  %k_a_sin = arith.mulf %k_a, %k_sin : tensor<?x?x8x64xf32>
  %k_first = arith.subf %k_a_cos, %k_b_sin : tensor<?x?x8x64xf32>
  %k_second = arith.addf %k_b_cos, %k_a_sin : tensor<?x?x8x64xf32>
  %k_first16 = arith.truncf %k_first : tensor<?x?x8x64xf32> to tensor<?x?x8x64xbf16>
  %k_second16 = arith.truncf %k_second : tensor<?x?x8x64xf32> to tensor<?x?x8x64xbf16>
  %k_rotated = swage.concat %k_first16, %k_second16 axis 3
      : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x128xbf16>
  %k = swage.permute %k_rotated [0, 2, 1, 3] : tensor<?x?x8x128xbf16> -> tensor<?x8x?x128xbf16>

  // v is only split into heads.
  %v_heads = swage.reshape %v_product : tensor<?x?x1024xbf16> -> tensor<?x?x8x128xbf16>
  %v = swage.permute %v_heads [0, 2, 1, 3] : tensor<?x?x8x128xbf16> -> tensor<?x8x?x128xbf16>

  // Merge the heads of the attention output.
  %attention_tokens = swage.permute %attention [0, 2, 1, 3] : tensor<?x32x?x128xbf16> -> tensor<?x?x32x128xbf16>
  %merged = swage.reshape %attention_tokens : tensor<?x?x32x128xbf16> -> tensor<?x?x4096xbf16>

  // First residual and RMSNorm before the feed-forward part.
  %residual1 = arith.addf %x, %o_product : tensor<?x?x4096xbf16>
  %norm2, %norm2_rstd = swage.rms_norm %residual1 gamma %norm2_gamma axis 2 eps 1.0e-5
      : (tensor<?x?x4096xbf16>, tensor<4096xbf16>) -> (tensor<?x?x4096xbf16>, tensor<?x?xf32>)

  // SiLU gate: gate / (1 + exp(-gate)) * up, where the activated gate is kept too.
  %c_one = arith.constant dense<1.0> : tensor<f32>
  %one = swage.broadcast %c_one dims [] sizes(%batch, %tokens) : tensor<f32> -> tensor<?x?x14336xf32>
  %gate = arith.extf %gate_product : tensor<?x?x14336xbf16> to tensor<?x?x14336xf32>
  %negated = arith.negf %gate : tensor<?x?x14336xf32>
  %exponential = math.exp %negated : tensor<?x?x14336xf32>
  %denominator = arith.addf %exponential, %one : tensor<?x?x14336xf32>
  %silu = arith.divf %gate, %denominator : tensor<?x?x14336xf32>
  %activated = arith.truncf %silu : tensor<?x?x14336xf32> to tensor<?x?x14336xbf16>
  %gated = arith.mulf %activated, %up_product : tensor<?x?x14336xbf16>

  // Second residual.
  %residual2 = arith.addf %residual1, %down_product : tensor<?x?x4096xbf16>

  return %norm1, %norm1_rstd, %q, %k, %v, %merged, %residual1, %norm2, %norm2_rstd, %activated, %gated, %residual2
      : tensor<?x?x4096xbf16>, tensor<?x?xf32>,
        tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>, tensor<?x8x?x128xbf16>,
        tensor<?x?x4096xbf16>, tensor<?x?x4096xbf16>, tensor<?x?x4096xbf16>, tensor<?x?xf32>,
        tensor<?x?x14336xbf16>, tensor<?x?x14336xbf16>, tensor<?x?x4096xbf16>
}
