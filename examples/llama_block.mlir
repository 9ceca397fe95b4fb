// The memory-bound part of a Llama block (batch 2, 2048 tokens, 4096 channels, 32 query heads and 8 key-value heads of
// 128, 14336 hidden channels): everything but the matrix products, whose results are arguments.  Activations are bf16,
// statistics and the rotary tables f32.  Every value that a training framework keeps for the backward pass is a result.
//
// An expert would write eight kernels: RMSNorm; rotary with head split of q; the same of k; head split of v; head
// merge; residual and RMSNorm; SiLU gate; residual.

func.func @main(
    %x: tensor<2x2048x4096xbf16>, %norm1_gamma: tensor<4096xbf16>,
    %q_product: tensor<2x2048x4096xbf16>, %k_product: tensor<2x2048x1024xbf16>, %v_product: tensor<2x2048x1024xbf16>,
    %cos: tensor<2048x64xf32>, %sin: tensor<2048x64xf32>,
    %attention: tensor<2x32x2048x128xbf16>, %o_product: tensor<2x2048x4096xbf16>,
    %norm2_gamma: tensor<4096xbf16>,
    %gate_product: tensor<2x2048x14336xbf16>, %up_product: tensor<2x2048x14336xbf16>,
    %down_product: tensor<2x2048x4096xbf16>
) -> (
    tensor<2x2048x4096xbf16>, tensor<2x2048xf32>,
    tensor<2x32x2048x128xbf16>, tensor<2x8x2048x128xbf16>, tensor<2x8x2048x128xbf16>,
    tensor<2x2048x4096xbf16>, tensor<2x2048x4096xbf16>, tensor<2x2048x4096xbf16>, tensor<2x2048xf32>,
    tensor<2x2048x14336xbf16>, tensor<2x2048x14336xbf16>, tensor<2x2048x4096xbf16>
) {
  // RMSNorm before attention.
  %norm1, %norm1_rstd = swage.rms_norm %x gamma %norm1_gamma axis 2 eps 1.0e-5
      : (tensor<2x2048x4096xbf16>, tensor<4096xbf16>) -> (tensor<2x2048x4096xbf16>, tensor<2x2048xf32>)

  // Rotary position embedding of q in its rotate-half form, heads in front:
  // (a, b) -> (a cos - b sin, b cos + a sin) for the halves a and b of each head.
  %q_heads = swage.reshape %q_product : tensor<2x2048x4096xbf16> -> tensor<2x2048x32x128xbf16>
  %q_cos = swage.broadcast %cos dims [1, 3] : tensor<2048x64xf32> -> tensor<2x2048x32x64xf32>
  %q_sin = swage.broadcast %sin dims [1, 3] : tensor<2048x64xf32> -> tensor<2x2048x32x64xf32>
  %q_a16 = swage.slice %q_heads axis 3 from 0 size 64 : tensor<2x2048x32x128xbf16> -> tensor<2x2048x32x64xbf16>
  %q_b16 = swage.slice %q_heads axis 3 from 64 size 64 : tensor<2x2048x32x128xbf16> -> tensor<2x2048x32x64xbf16>
  %q_a = arith.extf %q_a16 : tensor<2x2048x32x64xbf16> to tensor<2x2048x32x64xf32>
  %q_b = arith.extf %q_b16 : tensor<2x2048x32x64xbf16> to tensor<2x2048x32x64xf32>
  %q_a_cos = arith.mulf %q_a, %q_cos : tensor<2x2048x32x64xf32>
  %q_b_sin = arith.mulf %q_b, %q_sin : tensor<2x2048x32x64xf32>
  %q_b_cos = arith.mulf %q_b, %q_cos : tensor<2x2048x32x64xf32>
  %q_a_sin = arith.mulf %q_a, %q_sin : tensor<2x2048x32x64xf32>
  %q_first = arith.subf %q_a_cos, %q_b_sin : tensor<2x2048x32x64xf32>
  %q_second = arith.addf %q_b_cos, %q_a_sin : tensor<2x2048x32x64xf32>
  %q_first16 = arith.truncf %q_first : tensor<2x2048x32x64xf32> to tensor<2x2048x32x64xbf16>
  %q_second16 = arith.truncf %q_second : tensor<2x2048x32x64xf32> to tensor<2x2048x32x64xbf16>
  %q_rotated = swage.concat %q_first16, %q_second16 axis 3
      : (tensor<2x2048x32x64xbf16>, tensor<2x2048x32x64xbf16>) -> tensor<2x2048x32x128xbf16>
  %q = swage.permute %q_rotated [0, 2, 1, 3] : tensor<2x2048x32x128xbf16> -> tensor<2x32x2048x128xbf16>

  // The same for k with its 8 heads.
  %k_heads = swage.reshape %k_product : tensor<2x2048x1024xbf16> -> tensor<2x2048x8x128xbf16>
  %k_cos = swage.broadcast %cos dims [1, 3] : tensor<2048x64xf32> -> tensor<2x2048x8x64xf32>
  %k_sin = swage.broadcast %sin dims [1, 3] : tensor<2048x64xf32> -> tensor<2x2048x8x64xf32>
  %k_a16 = swage.slice %k_heads axis 3 from 0 size 64 : tensor<2x2048x8x128xbf16> -> tensor<2x2048x8x64xbf16>
  %k_b16 = swage.slice %k_heads axis 3 from 64 size 64 : tensor<2x2048x8x128xbf16> -> tensor<2x2048x8x64xbf16>
  %k_a = arith.extf %k_a16 : tensor<2x2048x8x64xbf16> to tensor<2x2048x8x64xf32>
  %k_b = arith.extf %k_b16 : tensor<2x2048x8x64xbf16> to tensor<2x2048x8x64xf32>
  %k_a_cos = arith.mulf %k_a, %k_cos : tensor<2x2048x8x64xf32>
  %k_b_sin = arith.mulf %k_b, %k_sin : tensor<2x2048x8x64xf32>
  %k_b_cos = arith.mulf %k_b, %k_cos : tensor<2x2048x8x64xf32>
  %k_a_sin = arith.mulf %k_a, %k_sin : tensor<2x2048x8x64xf32>
  %k_first = arith.subf %k_a_cos, %k_b_sin : tensor<2x2048x8x64xf32>
  %k_second = arith.addf %k_b_cos, %k_a_sin : tensor<2x2048x8x64xf32>
  %k_first16 = arith.truncf %k_first : tensor<2x2048x8x64xf32> to tensor<2x2048x8x64xbf16>
  %k_second16 = arith.truncf %k_second : tensor<2x2048x8x64xf32> to tensor<2x2048x8x64xbf16>
  %k_rotated = swage.concat %k_first16, %k_second16 axis 3
      : (tensor<2x2048x8x64xbf16>, tensor<2x2048x8x64xbf16>) -> tensor<2x2048x8x128xbf16>
  %k = swage.permute %k_rotated [0, 2, 1, 3] : tensor<2x2048x8x128xbf16> -> tensor<2x8x2048x128xbf16>

  // v is only split into heads.
  %v_heads = swage.reshape %v_product : tensor<2x2048x1024xbf16> -> tensor<2x2048x8x128xbf16>
  %v = swage.permute %v_heads [0, 2, 1, 3] : tensor<2x2048x8x128xbf16> -> tensor<2x8x2048x128xbf16>

  // Merge the heads of the attention output.
  %attention_tokens = swage.permute %attention [0, 2, 1, 3] : tensor<2x32x2048x128xbf16> -> tensor<2x2048x32x128xbf16>
  %merged = swage.reshape %attention_tokens : tensor<2x2048x32x128xbf16> -> tensor<2x2048x4096xbf16>

  // First residual and RMSNorm before the feed-forward part.
  %residual1 = arith.addf %x, %o_product : tensor<2x2048x4096xbf16>
  %norm2, %norm2_rstd = swage.rms_norm %residual1 gamma %norm2_gamma axis 2 eps 1.0e-5
      : (tensor<2x2048x4096xbf16>, tensor<4096xbf16>) -> (tensor<2x2048x4096xbf16>, tensor<2x2048xf32>)

  // SiLU gate: gate / (1 + exp(-gate)) * up, where the activated gate is kept too.
  %one = arith.constant dense<1.0> : tensor<2x2048x14336xf32>
  %gate = arith.extf %gate_product : tensor<2x2048x14336xbf16> to tensor<2x2048x14336xf32>
  %negated = arith.negf %gate : tensor<2x2048x14336xf32>
  %exponential = math.exp %negated : tensor<2x2048x14336xf32>
  %denominator = arith.addf %exponential, %one : tensor<2x2048x14336xf32>
  %silu = arith.divf %gate, %denominator : tensor<2x2048x14336xf32>
  %activated = arith.truncf %silu : tensor<2x2048x14336xf32> to tensor<2x2048x14336xbf16>
  %gated = arith.mulf %activated, %up_product : tensor<2x2048x14336xbf16>

  // Second residual.
  %residual2 = arith.addf %residual1, %down_product : tensor<2x2048x4096xbf16>

  return %norm1, %norm1_rstd, %q, %k, %v, %merged, %residual1, %norm2, %norm2_rstd, %activated, %gated, %residual2
      : tensor<2x2048x4096xbf16>, tensor<2x2048xf32>,
        tensor<2x32x2048x128xbf16>, tensor<2x8x2048x128xbf16>, tensor<2x8x2048x128xbf16>,
        tensor<2x2048x4096xbf16>, tensor<2x2048x4096xbf16>, tensor<2x2048x4096xbf16>, tensor<2x2048xf32>,
        tensor<2x2048x14336xbf16>, tensor<2x2048x14336xbf16>, tensor<2x2048x4096xbf16>
}
