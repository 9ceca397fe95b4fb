// The block of gpt2_block.mlir for any batch and any number of tokens: both are `?`, and the first argument says what
// they are.  One compiled program serves every size; what each kernel walks together is checked at launch.

func.func @main(
    %x: tensor<?x?x768xf16>,
    %ln1_gamma: tensor<768xf16>, %ln1_beta: tensor<768xf16>,
    %qkv_product: tensor<?x?x2304xf16>, %qkv_bias: tensor<2304xf16>,
    %scores: tensor<?x12x?x?xf16>, %mask: tensor<?x?xi1>,
    %attention: tensor<?x12x?x64xf16>,
    %proj_product: tensor<?x?x768xf16>, %proj_bias: tensor<768xf16>,
    %ln2_gamma: tensor<768xf16>, %ln2_beta: tensor<768xf16>,
    %fc_product: tensor<?x?x3072xf16>, %fc_bias: tensor<3072xf16>,
    %fc2_product: tensor<?x?x768xf16>, %fc2_bias: tensor<768xf16>
) -> (
    tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>,
    tensor<?x12x?x64xf16>, tensor<?x12x?x64xf16>, tensor<?x12x?x64xf16>,
    tensor<?x12x?x?xf16>, tensor<?x?x768xf16>, tensor<?x?x768xf16>,
    tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>,
    tensor<?x?x3072xf16>, tensor<?x?x3072xf16>, tensor<?x?x768xf16>
) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x768xf16>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x768xf16>

  // LayerNorm before attention.
  %ln1, %ln1_mean, %ln1_rstd = swage.layer_norm %x gamma %ln1_gamma beta %ln1_beta axis 2 eps 1.0e-5
      : (tensor<?x?x768xf16>, tensor<768xf16>, tensor<768xf16>)
      -> (tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>)

  // Bias of the joint projection, then q, k and v with the heads in front: [batch, 12, tokens, 64] each.
  %qkv_bias_all = swage.broadcast %qkv_bias dims [2] sizes(%batch, %tokens) : tensor<2304xf16> -> tensor<?x?x2304xf16>
  %qkv = arith.addf %qkv_product, %qkv_bias_all : tensor<?x?x2304xf16>
  %q_flat = swage.slice %qkv axis 2 from 0 size 768 : tensor<?x?x2304xf16> -> tensor<?x?x768xf16>
  %k_flat = swage.slice %qkv axis 2 from 768 size 768 : tensor<?x?x2304xf16> -> tensor<?x?x768xf16>
  %v_flat = swage.slice %qkv axis 2 from 1536 size 768 : tensor<?x?x2304xf16> -> tensor<?x?x768xf16>
  %q_heads = swage.reshape %q_flat : tensor<?x?x768xf16> -> tensor<?x?x12x64xf16>
  %k_heads = swage.reshape %k_flat : tensor<?x?x768xf16> -> tensor<?x?x12x64xf16>
  %v_heads = swage.reshape %v_flat : tensor<?x?x768xf16> -> tensor<?x?x12x64xf16>
  %q = swage.permute %q_heads [0, 2, 1, 3] : tensor<?x?x12x64xf16> -> tensor<?x12x?x64xf16>
  %k = swage.permute %k_heads [0, 2, 1, 3] : tensor<?x?x12x64xf16> -> tensor<?x12x?x64xf16>
  %v = swage.permute %v_heads [0, 2, 1, 3] : tensor<?x?x12x64xf16> -> tensor<?x12x?x64xf16>

  // Scores: scale by 1 / sqrt(64), keep what the mask allows, softmax over the keys.
  %c_scale = arith.constant dense<0.125> : tensor<f16>
  %c_minus_inf = arith.constant dense<0xFC00> : tensor<f16>
  %scale = swage.broadcast %c_scale dims [] sizes(%batch, %tokens, %tokens) : tensor<f16> -> tensor<?x12x?x?xf16>
  %masked_out = swage.broadcast %c_minus_inf dims [] sizes(%batch, %tokens, %tokens)
      : tensor<f16> -> tensor<?x12x?x?xf16>
  %scaled = arith.mulf %scores, %scale : tensor<?x12x?x?xf16>
  %mask_all = swage.broadcast %mask dims [2, 3] sizes(%batch, %tokens, %tokens) : tensor<?x?xi1> -> tensor<?x12x?x?xi1>
  %masked = arith.select %mask_all, %scaled, %masked_out : tensor<?x12x?x?xi1>, tensor<?x12x?x?xf16>
  %probabilities = swage.softmax %masked axis 3 : tensor<?x12x?x?xf16> -> tensor<?x12x?x?xf16>

  // Merge the heads of the attention output.
  %attention_tokens = swage.permute %attention [0, 2, 1, 3] : tensor<?x12x?x64xf16> -> tensor<?x?x12x64xf16>
  %merged = swage.reshape %attention_tokens : tensor<?x?x12x64xf16> -> tensor<?x?x768xf16>

  // Bias of the output projection, first residual, LayerNorm before the feed-forward part.
  %proj_bias_all = swage.broadcast %proj_bias dims [2] sizes(%batch, %tokens) : tensor<768xf16> -> tensor<?x?x768xf16>
  %proj = arith.addf %proj_product, %proj_bias_all : tensor<?x?x768xf16>
  %residual1 = arith.addf %x, %proj : tensor<?x?x768xf16>
  %ln2, %ln2_mean, %ln2_rstd = swage.layer_norm %residual1 gamma %ln2_gamma beta %ln2_beta axis 2 eps 1.0e-5
      : (tensor<?x?x768xf16>, tensor<768xf16>, tensor<768xf16>)
      -> (tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>)

  // Bias and GELU in its tanh form: 0.5 h (1 + tanh(sqrt(2 / pi) (h + 0.044715 h^3))).
  %fc_bias_all = swage.broadcast %fc_bias dims [2] sizes(%batch, %tokens) : tensor<3072xf16> -> tensor<?x?x3072xf16>
  %preactivation = arith.addf %fc_product, %fc_bias_all : tensor<?x?x3072xf16>
  %c_half = arith.constant dense<0.5> : tensor<f32>
  %c_one = arith.constant dense<1.0> : tensor<f32>
  %c_cubic = arith.constant dense<0.044715> : tensor<f32>
  %c_sqrt_2_over_pi = arith.constant dense<0.797884583> : tensor<f32>
  %half = swage.broadcast %c_half dims [] sizes(%batch, %tokens) : tensor<f32> -> tensor<?x?x3072xf32>
  %one = swage.broadcast %c_one dims [] sizes(%batch, %tokens) : tensor<f32> -> tensor<?x?x3072xf32>
  %cubic = swage.broadcast %c_cubic dims [] sizes(%batch, %tokens) : tensor<f32> -> tensor<?x?x3072xf32>
  %sqrt_2_over_pi = swage.broadcast %c_sqrt_2_over_pi dims [] sizes(%batch, %tokens)
      : tensor<f32> -> tensor<?x?x3072xf32>
  %h = arith.extf %preactivation : tensor<?x?x3072xf16> to tensor<?x?x3072xf32>
  %h2 = arith.mulf %h, %h : tensor<?x?x3072xf32>
  %h3 = arith.mulf %h2, %h : tensor<?x?x3072xf32>
  %h3_scaled = arith.mulf %h3, %cubic : tensor<?x?x3072xf32>
  %inner_sum = arith.addf %h, %h3_scaled : tensor<?x?x3072xf32>
  %inner = arith.mulf %inner_sum, %sqrt_2_over_pi : tensor<?x?x3072xf32>
  %tanh = math.tanh %inner : tensor<?x?x3072xf32>
  %one_plus_tanh = arith.addf %tanh, %one : tensor<?x?x3072xf32>
  %half_h = arith.mulf %h, %half : tensor<?x?x3072xf32>
  %gelu_wide = arith.mulf %half_h, %one_plus_tanh : tensor<?x?x3072xf32>
  %gelu = arith.truncf %gelu_wide : tensor<?x?x3072xf32> to tensor<?x?x3072xf16>

  // Bias of the second feed-forward product and second residual.
  %fc2_bias_all = swage.broadcast %fc2_bias dims [2] sizes(%batch, %tokens) : tensor<768xf16> -> tensor<?x?x768xf16>
  %fc2 = arith.addf %fc2_product, %fc2_bias_all : tensor<?x?x768xf16>
  %residual2 = arith.addf %residual1, %fc2 : tensor<?x?x768xf16>

  return %ln1, %ln1_mean, %ln1_rstd, %q, %k, %v, %probabilities, %merged, %residual1, %ln2, %ln2_mean, %ln2_rstd,
      %preactivation, %gelu, %residual2
      : tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>,
        tensor<?x12x?x64xf16>, tensor<?x12x?x64xf16>, tensor<?x12x?x64xf16>,
        tensor<?x12x?x?xf16>, tensor<?x?x768xf16>, tensor<?x?x768xf16>,
        tensor<?x?x768xf16>, tensor<?x?xf32>, tensor<?x?xf32>,
        tensor<?x?x3072xf16>, tensor<?x?x3072xf16>, tensor<?x?x768xf16>
}
