// The memory-bound part of a pre-norm transformer block as in GPT-2 (batch 8, 1024 tokens, 768 channels, 12 heads):
// everything but the matrix products, whose results are arguments.  Activations are f16, statistics f32.  Every value
// that a training framework keeps for the backward pass is a result.
//
// An expert would write seven kernels: LayerNorm; bias and head split of q, k and v; scale, mask and softmax; head
// merge; bias, residual and LayerNorm; bias and GELU; bias and residual.

func.func @main(
    %x: tensor<8x1024x768xf16>,
    %ln1_gamma: tensor<768xf16>, %ln1_beta: tensor<768xf16>,
    %qkv_product: tensor<8x1024x2304xf16>, %qkv_bias: tensor<2304xf16>,
    %scores: tensor<8x12x1024x1024xf16>, %mask: tensor<1024x1024xi1>,
    %attention: tensor<8x12x1024x64xf16>,
    %proj_product: tensor<8x1024x768xf16>, %proj_bias: tensor<768xf16>,
    %ln2_gamma: tensor<768xf16>, %ln2_beta: tensor<768xf16>,
    %fc_product: tensor<8x1024x3072xf16>, %fc_bias: tensor<3072xf16>,
    %fc2_product: tensor<8x1024x768xf16>, %fc2_bias: tensor<768xf16>
) -> (
    tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>,
    tensor<8x12x1024x64xf16>, tensor<8x12x1024x64xf16>, tensor<8x12x1024x64xf16>,
    tensor<8x12x1024x1024xf16>, tensor<8x1024x768xf16>, tensor<8x1024x768xf16>,
    tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>,
    tensor<8x1024x3072xf16>, tensor<8x1024x3072xf16>, tensor<8x1024x768xf16>
) {
  // LayerNorm before attention.
  %ln1, %ln1_mean, %ln1_rstd = swage.layer_norm %x gamma %ln1_gamma beta %ln1_beta axis 2 eps 1.0e-5
      : (tensor<8x1024x768xf16>, tensor<768xf16>, tensor<768xf16>)
      -> (tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>)

  // Bias of the joint projection, then q, k and v with the heads in front: [8, 12, 1024, 64] each.
  %qkv_bias_all = swage.broadcast %qkv_bias dims [2] : tensor<2304xf16> -> tensor<8x1024x2304xf16>
  %qkv = arith.addf %qkv_product, %qkv_bias_all : tensor<8x1024x2304xf16>
  %q_flat = swage.slice %qkv axis 2 from 0 size 768 : tensor<8x1024x2304xf16> -> tensor<8x1024x768xf16>
  %k_flat = swage.slice %qkv axis 2 from 768 size 768 : tensor<8x1024x2304xf16> -> tensor<8x1024x768xf16>
  %v_flat = swage.slice %qkv axis 2 from 1536 size 768 : tensor<8x1024x2304xf16> -> tensor<8x1024x768xf16>
  %q_heads = swage.reshape %q_flat : tensor<8x1024x768xf16> -> tensor<8x1024x12x64xf16>
  %k_heads = swage.reshape %k_flat : tensor<8x1024x768xf16> -> tensor<8x1024x12x64xf16>
  %v_heads = swage.reshape %v_flat : tensor<8x1024x768xf16> -> tensor<8x1024x12x64xf16>
  %q = swage.permute %q_heads [0, 2, 1, 3] : tensor<8x1024x12x64xf16> -> tensor<8x12x1024x64xf16>
  %k = swage.permute %k_heads [0, 2, 1, 3] : tensor<8x1024x12x64xf16> -> tensor<8x12x1024x64xf16>
  %v = swage.permute %v_heads [0, 2, 1, 3] : tensor<8x1024x12x64xf16> -> tensor<8x12x1024x64xf16>

  // Scores: scale by 1 / sqrt(64), keep what the mask allows, softmax over the keys.
  %scale = arith.constant dense<0.125> : tensor<8x12x1024x1024xf16>
  %masked_out = arith.constant dense<0xFC00> : tensor<8x12x1024x1024xf16> // -inf
  %scaled = arith.mulf %scores, %scale : tensor<8x12x1024x1024xf16>
  %mask_all = swage.broadcast %mask dims [2, 3] : tensor<1024x1024xi1> -> tensor<8x12x1024x1024xi1>
  %masked = arith.select %mask_all, %scaled, %masked_out : tensor<8x12x1024x1024xi1>, tensor<8x12x1024x1024xf16>
  %probabilities = swage.softmax %masked axis 3 : tensor<8x12x1024x1024xf16> -> tensor<8x12x1024x1024xf16>

  // Merge the heads of the attention output.
  %attention_tokens = swage.permute %attention [0, 2, 1, 3] : tensor<8x12x1024x64xf16> -> tensor<8x1024x12x64xf16>
  %merged = swage.reshape %attention_tokens : tensor<8x1024x12x64xf16> -> tensor<8x1024x768xf16>

  // Bias of the output projection, first residual, LayerNorm before the feed-forward part.
  %proj_bias_all = swage.broadcast %proj_bias dims [2] : tensor<768xf16> -> tensor<8x1024x768xf16>
  %proj = arith.addf %proj_product, %proj_bias_all : tensor<8x1024x768xf16>
  %residual1 = arith.addf %x, %proj : tensor<8x1024x768xf16>
  %ln2, %ln2_mean, %ln2_rstd = swage.layer_norm %residual1 gamma %ln2_gamma beta %ln2_beta axis 2 eps 1.0e-5
      : (tensor<8x1024x768xf16>, tensor<768xf16>, tensor<768xf16>)
      -> (tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>)

  // Bias and GELU in its tanh form: 0.5 h (1 + tanh(sqrt(2 / pi) (h + 0.044715 h^3))).
  %fc_bias_all = swage.broadcast %fc_bias dims [2] : tensor<3072xf16> -> tensor<8x1024x3072xf16>
  %preactivation = arith.addf %fc_product, %fc_bias_all : tensor<8x1024x3072xf16>
  %half = arith.constant dense<0.5> : tensor<8x1024x3072xf32>
  %one = arith.constant dense<1.0> : tensor<8x1024x3072xf32>
  %cubic = arith.constant dense<0.044715> : tensor<8x1024x3072xf32>
  %sqrt_2_over_pi = arith.constant dense<0.797884583> : tensor<8x1024x3072xf32>
  %h = arith.extf %preactivation : tensor<8x1024x3072xf16> to tensor<8x1024x3072xf32>
  %h2 = arith.mulf %h, %h : tensor<8x1024x3072xf32>
  %h3 = arith.mulf %h2, %h : tensor<8x1024x3072xf32>
  %h3_scaled = arith.mulf %h3, %cubic : tensor<8x1024x3072xf32>
  %inner_sum = arith.addf %h, %h3_scaled : tensor<8x1024x3072xf32>
  %inner = arith.mulf %inner_sum, %sqrt_2_over_pi : tensor<8x1024x3072xf32>
  %tanh = math.tanh %inner : tensor<8x1024x3072xf32>
  %one_plus_tanh = arith.addf %tanh, %one : tensor<8x1024x3072xf32>
  %half_h = arith.mulf %h, %half : tensor<8x1024x3072xf32>
  %gelu_wide = arith.mulf %half_h, %one_plus_tanh : tensor<8x1024x3072xf32>
  %gelu = arith.truncf %gelu_wide : tensor<8x1024x3072xf32> to tensor<8x1024x3072xf16>

  // Bias of the second feed-forward product and second residual.
  %fc2_bias_all = swage.broadcast %fc2_bias dims [2] : tensor<768xf16> -> tensor<8x1024x768xf16>
  %fc2 = arith.addf %fc2_product, %fc2_bias_all : tensor<8x1024x768xf16>
  %residual2 = arith.addf %residual1, %fc2 : tensor<8x1024x768xf16>

  return %ln1, %ln1_mean, %ln1_rstd, %q, %k, %v, %probabilities, %merged, %residual1, %ln2, %ln2_mean, %ln2_rstd,
      %preactivation, %gelu, %residual2
      : tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>,
        tensor<8x12x1024x64xf16>, tensor<8x12x1024x64xf16>, tensor<8x12x1024x64xf16>,
        tensor<8x12x1024x1024xf16>, tensor<8x1024x768xf16>, tensor<8x1024x768xf16>,
        tensor<8x1024x768xf16>, tensor<8x1024xf32>, tensor<8x1024xf32>,
        tensor<8x1024x3072xf16>, tensor<8x1024x3072xf16>, tensor<8x1024x768xf16>
}
