// A Llama block as exported from torch, attention by products and a softmax; made by test/Python/blocks.py.
func.func @main(
    %hidden_states: tensor<2x32x64xbf16>,
    %cos: tensor<2x32x16xbf16>,
    %sin: tensor<2x32x16xbf16>,
    %attention_mask: tensor<2x1x32x32xbf16>,
    %input_layernorm.weight: tensor<64xbf16>,
    %post_attention_layernorm.weight: tensor<64xbf16>,
    %self_attn.q_proj.weight: tensor<64x64xbf16>,
    %self_attn.o_proj.weight: tensor<64x64xbf16>,
    %self_attn.k_proj.weight: tensor<32x64xbf16>,
    %self_attn.v_proj.weight: tensor<32x64xbf16>,
    %mlp.gate_proj.weight: tensor<176x64xbf16>,
    %mlp.up_proj.weight: tensor<176x64xbf16>,
    %mlp.down_proj.weight: tensor<64x176xbf16>
) -> (tensor<2x32x64xbf16>) {
  // wide = x.to(torch.float32)
  %to = arith.extf %hidden_states : tensor<2x32x64xbf16> to tensor<2x32x64xf32>
  // wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
  %pow_1 = arith.mulf %to, %to : tensor<2x32x64xf32>
  %mean = swage.reduce mean %pow_1 dims [2] : tensor<2x32x64xf32> -> tensor<2x32xf32>
  %mean.view = swage.reshape %mean : tensor<2x32xf32> -> tensor<2x32x1xf32>
  %constant = arith.constant dense<1.0e-06> : tensor<2x32x1xf32>
  %add = arith.addf %mean.view, %constant : tensor<2x32x1xf32>
  %rsqrt = math.rsqrt %add : tensor<2x32x1xf32>
  %rsqrt.all = swage.broadcast %rsqrt dims [0, 1, 2] : tensor<2x32x1xf32> -> tensor<2x32x64xf32>
  %mul = arith.mulf %to, %rsqrt.all : tensor<2x32x64xf32>
  // return self.weight * wide.to(x.dtype)
  %to_1 = arith.truncf %mul : tensor<2x32x64xf32> to tensor<2x32x64xbf16>
  %input_layernorm.weight.all = swage.broadcast %input_layernorm.weight dims [2] : tensor<64xbf16> -> tensor<2x32x64xbf16>
  %mul_1 = arith.mulf %input_layernorm.weight.all, %to_1 : tensor<2x32x64xbf16>
  // q, k, v = (layer(x).view(shape).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
  %mul_1.view = swage.reshape %mul_1 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear = swage.matmul %mul_1.view, %self_attn.q_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %linear.view = swage.reshape %linear : tensor<64x64xbf16> -> tensor<2x32x64xbf16>
  %view = swage.reshape %linear.view : tensor<2x32x64xbf16> -> tensor<2x32x4x16xbf16>
  %transpose = swage.permute %view [0, 2, 1, 3] : tensor<2x32x4x16xbf16> -> tensor<2x4x32x16xbf16>
  %mul_1.view_1 = swage.reshape %mul_1 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear_1 = swage.matmul %mul_1.view_1, %self_attn.k_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<32x64xbf16>) -> tensor<64x32xbf16>
  %linear_1.view = swage.reshape %linear_1 : tensor<64x32xbf16> -> tensor<2x32x32xbf16>
  %view_1 = swage.reshape %linear_1.view : tensor<2x32x32xbf16> -> tensor<2x32x2x16xbf16>
  %transpose_1 = swage.permute %view_1 [0, 2, 1, 3] : tensor<2x32x2x16xbf16> -> tensor<2x2x32x16xbf16>
  %mul_1.view_2 = swage.reshape %mul_1 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear_2 = swage.matmul %mul_1.view_2, %self_attn.v_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<32x64xbf16>) -> tensor<64x32xbf16>
  %linear_2.view = swage.reshape %linear_2 : tensor<64x32xbf16> -> tensor<2x32x32xbf16>
  %view_2 = swage.reshape %linear_2.view : tensor<2x32x32xbf16> -> tensor<2x32x2x16xbf16>
  %transpose_2 = swage.permute %view_2 [0, 2, 1, 3] : tensor<2x32x2x16xbf16> -> tensor<2x2x32x16xbf16>
  // heads = self.attend(rotate(q, cos, sin), rotate(k, cos, sin), v, mask).transpose(1, 2).contiguous()
  %slice_1 = swage.slice %transpose axis 3 from 0 size 8 : tensor<2x4x32x16xbf16> -> tensor<2x4x32x8xbf16>
  %slice_2 = swage.slice %transpose axis 3 from 8 size 8 : tensor<2x4x32x16xbf16> -> tensor<2x4x32x8xbf16>
  %unsqueeze = swage.reshape %cos : tensor<2x32x16xbf16> -> tensor<2x1x32x16xbf16>
  %unsqueeze.all = swage.broadcast %unsqueeze dims [0, 1, 2, 3] : tensor<2x1x32x16xbf16> -> tensor<2x4x32x16xbf16>
  %mul_2 = arith.mulf %transpose, %unsqueeze.all : tensor<2x4x32x16xbf16>
  %neg = arith.negf %slice_2 : tensor<2x4x32x8xbf16>
  %cat = swage.concat %neg, %slice_1 axis 3 : (tensor<2x4x32x8xbf16>, tensor<2x4x32x8xbf16>) -> tensor<2x4x32x16xbf16>
  %unsqueeze_1 = swage.reshape %sin : tensor<2x32x16xbf16> -> tensor<2x1x32x16xbf16>
  %unsqueeze_1.all = swage.broadcast %unsqueeze_1 dims [0, 1, 2, 3] : tensor<2x1x32x16xbf16> -> tensor<2x4x32x16xbf16>
  %mul_3 = arith.mulf %cat, %unsqueeze_1.all : tensor<2x4x32x16xbf16>
  %add_1 = arith.addf %mul_2, %mul_3 : tensor<2x4x32x16xbf16>
  %slice_3 = swage.slice %transpose_1 axis 3 from 0 size 8 : tensor<2x2x32x16xbf16> -> tensor<2x2x32x8xbf16>
  %slice_4 = swage.slice %transpose_1 axis 3 from 8 size 8 : tensor<2x2x32x16xbf16> -> tensor<2x2x32x8xbf16>
  %unsqueeze_2 = swage.reshape %cos : tensor<2x32x16xbf16> -> tensor<2x1x32x16xbf16>
  %unsqueeze_2.all = swage.broadcast %unsqueeze_2 dims [0, 1, 2, 3] : tensor<2x1x32x16xbf16> -> tensor<2x2x32x16xbf16>
  %mul_4 = arith.mulf %transpose_1, %unsqueeze_2.all : tensor<2x2x32x16xbf16>
  %neg_1 = arith.negf %slice_4 : tensor<2x2x32x8xbf16>
  %cat_1 = swage.concat %neg_1, %slice_3 axis 3 : (tensor<2x2x32x8xbf16>, tensor<2x2x32x8xbf16>) -> tensor<2x2x32x16xbf16>
  %unsqueeze_3 = swage.reshape %sin : tensor<2x32x16xbf16> -> tensor<2x1x32x16xbf16>
  %unsqueeze_3.all = swage.broadcast %unsqueeze_3 dims [0, 1, 2, 3] : tensor<2x1x32x16xbf16> -> tensor<2x2x32x16xbf16>
  %mul_5 = arith.mulf %cat_1, %unsqueeze_3.all : tensor<2x2x32x16xbf16>
  %add_2 = arith.addf %mul_4, %mul_5 : tensor<2x2x32x16xbf16>
  %unsqueeze_4 = swage.reshape %add_2 : tensor<2x2x32x16xbf16> -> tensor<2x2x1x32x16xbf16>
  %expand = swage.broadcast %unsqueeze_4 dims [0, 1, 2, 3, 4] : tensor<2x2x1x32x16xbf16> -> tensor<2x2x2x32x16xbf16>
  %reshape = swage.reshape %expand : tensor<2x2x2x32x16xbf16> -> tensor<2x4x32x16xbf16>
  %unsqueeze_5 = swage.reshape %transpose_2 : tensor<2x2x32x16xbf16> -> tensor<2x2x1x32x16xbf16>
  %expand_1 = swage.broadcast %unsqueeze_5 dims [0, 1, 2, 3, 4] : tensor<2x2x1x32x16xbf16> -> tensor<2x2x2x32x16xbf16>
  %reshape_1 = swage.reshape %expand_1 : tensor<2x2x2x32x16xbf16> -> tensor<2x4x32x16xbf16>
  %transpose_3 = swage.permute %reshape [0, 1, 3, 2] : tensor<2x4x32x16xbf16> -> tensor<2x4x16x32xbf16>
  %matmul = swage.matmul %add_1, %transpose_3 : (tensor<2x4x32x16xbf16>, tensor<2x4x16x32xbf16>) -> tensor<2x4x32x32xbf16>
  %constant_1 = arith.constant dense<0.25> : tensor<2x4x32x32xbf16>
  %mul_6 = arith.mulf %matmul, %constant_1 : tensor<2x4x32x32xbf16>
  %attention_mask.all = swage.broadcast %attention_mask dims [0, 1, 2, 3] : tensor<2x1x32x32xbf16> -> tensor<2x4x32x32xbf16>
  %add_3 = arith.addf %mul_6, %attention_mask.all : tensor<2x4x32x32xbf16>
  %add_3.f32 = arith.extf %add_3 : tensor<2x4x32x32xbf16> to tensor<2x4x32x32xf32>
  %softmax = swage.softmax %add_3.f32 axis 3 : tensor<2x4x32x32xf32> -> tensor<2x4x32x32xf32>
  %to_2 = arith.truncf %softmax : tensor<2x4x32x32xf32> to tensor<2x4x32x32xbf16>
  %matmul_1 = swage.matmul %to_2, %reshape_1 : (tensor<2x4x32x32xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x32x16xbf16>
  %transpose_4 = swage.permute %matmul_1 [0, 2, 1, 3] : tensor<2x4x32x16xbf16> -> tensor<2x32x4x16xbf16>
  // return self.o_proj(heads.reshape(*x.shape[:-1], -1).contiguous())
  %reshape_2 = swage.reshape %transpose_4 : tensor<2x32x4x16xbf16> -> tensor<2x32x64xbf16>
  %reshape_2.view = swage.reshape %reshape_2 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear_3 = swage.matmul %reshape_2.view, %self_attn.o_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %linear_3.view = swage.reshape %linear_3 : tensor<64x64xbf16> -> tensor<2x32x64xbf16>
  // hidden_states = hidden_states + attended
  %add_4 = arith.addf %hidden_states, %linear_3.view : tensor<2x32x64xbf16>
  // wide = x.to(torch.float32)
  %to_3 = arith.extf %add_4 : tensor<2x32x64xbf16> to tensor<2x32x64xf32>
  // wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
  %pow_2 = arith.mulf %to_3, %to_3 : tensor<2x32x64xf32>
  %mean_1 = swage.reduce mean %pow_2 dims [2] : tensor<2x32x64xf32> -> tensor<2x32xf32>
  %mean_1.view = swage.reshape %mean_1 : tensor<2x32xf32> -> tensor<2x32x1xf32>
  %add_5 = arith.addf %mean_1.view, %constant : tensor<2x32x1xf32>
  %rsqrt_1 = math.rsqrt %add_5 : tensor<2x32x1xf32>
  %rsqrt_1.all = swage.broadcast %rsqrt_1 dims [0, 1, 2] : tensor<2x32x1xf32> -> tensor<2x32x64xf32>
  %mul_7 = arith.mulf %to_3, %rsqrt_1.all : tensor<2x32x64xf32>
  // return self.weight * wide.to(x.dtype)
  %to_4 = arith.truncf %mul_7 : tensor<2x32x64xf32> to tensor<2x32x64xbf16>
  %post_attention_layernorm.weight.all = swage.broadcast %post_attention_layernorm.weight dims [2] : tensor<64xbf16> -> tensor<2x32x64xbf16>
  %mul_8 = arith.mulf %post_attention_layernorm.weight.all, %to_4 : tensor<2x32x64xbf16>
  // return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
  %mul_8.view = swage.reshape %mul_8 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear_4 = swage.matmul %mul_8.view, %mlp.gate_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<176x64xbf16>) -> tensor<64x176xbf16>
  %linear_4.view = swage.reshape %linear_4 : tensor<64x176xbf16> -> tensor<2x32x176xbf16>
  %linear_4.view.f32 = arith.extf %linear_4.view : tensor<2x32x176xbf16> to tensor<2x32x176xf32>
  %constant_2 = arith.constant dense<1.0> : tensor<2x32x176xf32>
  %silu.neg = arith.negf %linear_4.view.f32 : tensor<2x32x176xf32>
  %silu.exp = math.exp %silu.neg : tensor<2x32x176xf32>
  %silu.below = arith.addf %silu.exp, %constant_2 : tensor<2x32x176xf32>
  %silu = arith.divf %linear_4.view.f32, %silu.below : tensor<2x32x176xf32>
  %silu_1 = arith.truncf %silu : tensor<2x32x176xf32> to tensor<2x32x176xbf16>
  %mul_8.view_1 = swage.reshape %mul_8 : tensor<2x32x64xbf16> -> tensor<64x64xbf16>
  %linear_5 = swage.matmul %mul_8.view_1, %mlp.up_proj.weight transpose_b : (tensor<64x64xbf16>, tensor<176x64xbf16>) -> tensor<64x176xbf16>
  %linear_5.view = swage.reshape %linear_5 : tensor<64x176xbf16> -> tensor<2x32x176xbf16>
  %mul_9 = arith.mulf %silu_1, %linear_5.view : tensor<2x32x176xbf16>
  %mul_9.view = swage.reshape %mul_9 : tensor<2x32x176xbf16> -> tensor<64x176xbf16>
  %linear_6 = swage.matmul %mul_9.view, %mlp.down_proj.weight transpose_b : (tensor<64x176xbf16>, tensor<64x176xbf16>) -> tensor<64x64xbf16>
  %linear_6.view = swage.reshape %linear_6 : tensor<64x64xbf16> -> tensor<2x32x64xbf16>
  // return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))
  %add_6 = arith.addf %add_4, %linear_6.view : tensor<2x32x64xbf16>
  return %add_6 : tensor<2x32x64xbf16>
}
