// A GPT-2 block as exported from torch, attention by products and a softmax; made by test/Python/blocks.py.
func.func @main(
    %hidden_states: tensor<2x32x64xf16>,
    %ln_1.weight: tensor<64xf16>,
    %ln_1.bias: tensor<64xf16>,
    %ln_2.weight: tensor<64xf16>,
    %ln_2.bias: tensor<64xf16>,
    %attn.c_attn.weight: tensor<64x192xf16>,
    %attn.c_attn.bias: tensor<192xf16>,
    %attn.c_proj.weight: tensor<64x64xf16>,
    %attn.c_proj.bias: tensor<64xf16>,
    %mlp.c_fc.weight: tensor<64x256xf16>,
    %mlp.c_fc.bias: tensor<256xf16>,
    %mlp.c_proj.weight: tensor<256x64xf16>,
    %mlp.c_proj.bias: tensor<64xf16>,
    %attn.bias: tensor<1x1x32x32xi1>
) -> (tensor<2x32x64xf16>) {
  // hidden_states = hidden_states + self.attn(self.ln_1(hidden_states))
  %layer_norm = swage.layer_norm %hidden_states gamma %ln_1.weight beta %ln_1.bias axis 2 eps 1.0e-05 : (tensor<2x32x64xf16>, tensor<64xf16>, tensor<64xf16>) -> (tensor<2x32x64xf16>)
  // rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
  %view = swage.reshape %layer_norm : tensor<2x32x64xf16> -> tensor<64x64xf16>
  %addmm.product = swage.matmul %view, %attn.c_attn.weight : (tensor<64x64xf16>, tensor<64x192xf16>) -> tensor<64x192xf16>
  %attn.c_attn.bias.all = swage.broadcast %attn.c_attn.bias dims [1] : tensor<192xf16> -> tensor<64x192xf16>
  %addmm = arith.addf %addmm.product, %attn.c_attn.bias.all : tensor<64x192xf16>
  // return rows.view(*x.shape[:-1], rows.size(-1))
  %view_1 = swage.reshape %addmm : tensor<64x192xf16> -> tensor<2x32x192xf16>
  // q, k, v = self.c_attn(x).split(self.width, dim=2)
  %split.0 = swage.slice %view_1 axis 2 from 0 size 64 : tensor<2x32x192xf16> -> tensor<2x32x64xf16>
  %split.1 = swage.slice %view_1 axis 2 from 64 size 64 : tensor<2x32x192xf16> -> tensor<2x32x64xf16>
  %split.2 = swage.slice %view_1 axis 2 from 128 size 64 : tensor<2x32x192xf16> -> tensor<2x32x64xf16>
  // q, k, v = (part.view(*x.shape[:-1], self.heads, -1).transpose(1, 2) for part in (q, k, v))
  %view_2 = swage.reshape %split.0 : tensor<2x32x64xf16> -> tensor<2x32x4x16xf16>
  %transpose = swage.permute %view_2 [0, 2, 1, 3] : tensor<2x32x4x16xf16> -> tensor<2x4x32x16xf16>
  %view_3 = swage.reshape %split.1 : tensor<2x32x64xf16> -> tensor<2x32x4x16xf16>
  %transpose_1 = swage.permute %view_3 [0, 2, 1, 3] : tensor<2x32x4x16xf16> -> tensor<2x4x32x16xf16>
  %view_4 = swage.reshape %split.2 : tensor<2x32x64xf16> -> tensor<2x32x4x16xf16>
  %transpose_2 = swage.permute %view_4 [0, 2, 1, 3] : tensor<2x32x4x16xf16> -> tensor<2x4x32x16xf16>
  // heads = self.attend(q, k, v).transpose(1, 2)
  %transpose_3 = swage.permute %transpose_1 [0, 1, 3, 2] : tensor<2x4x32x16xf16> -> tensor<2x4x16x32xf16>
  %matmul = swage.matmul %transpose, %transpose_3 : (tensor<2x4x32x16xf16>, tensor<2x4x16x32xf16>) -> tensor<2x4x32x32xf16>
  %constant = arith.constant dense<4.0> : tensor<f16>
  %constant.all = swage.broadcast %constant dims [] : tensor<f16> -> tensor<2x4x32x32xf16>
  %div = arith.divf %matmul, %constant.all : tensor<2x4x32x32xf16>
  %constant_1 = arith.constant dense<-65504.0> : tensor<f16>
  %attn.bias.all = swage.broadcast %attn.bias dims [0, 1, 2, 3] : tensor<1x1x32x32xi1> -> tensor<2x4x32x32xi1>
  %constant_1.all = swage.broadcast %constant_1 dims [] : tensor<f16> -> tensor<2x4x32x32xf16>
  %where = arith.select %attn.bias.all, %div, %constant_1.all : tensor<2x4x32x32xi1>, tensor<2x4x32x32xf16>
  %softmax = swage.softmax %where axis 3 : tensor<2x4x32x32xf16> -> tensor<2x4x32x32xf16>
  %matmul_1 = swage.matmul %softmax, %transpose_2 : (tensor<2x4x32x32xf16>, tensor<2x4x32x16xf16>) -> tensor<2x4x32x16xf16>
  %transpose_4 = swage.permute %matmul_1 [0, 2, 1, 3] : tensor<2x4x32x16xf16> -> tensor<2x32x4x16xf16>
  // return self.resid_dropout(self.c_proj(heads.reshape(*x.shape[:-1], -1).contiguous()))
  %reshape = swage.reshape %transpose_4 : tensor<2x32x4x16xf16> -> tensor<2x32x64xf16>
  // rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
  %view_5 = swage.reshape %reshape : tensor<2x32x64xf16> -> tensor<64x64xf16>
  %addmm_1.product = swage.matmul %view_5, %attn.c_proj.weight : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %attn.c_proj.bias.all = swage.broadcast %attn.c_proj.bias dims [1] : tensor<64xf16> -> tensor<64x64xf16>
  %addmm_1 = arith.addf %addmm_1.product, %attn.c_proj.bias.all : tensor<64x64xf16>
  // return rows.view(*x.shape[:-1], rows.size(-1))
  %view_6 = swage.reshape %addmm_1 : tensor<64x64xf16> -> tensor<2x32x64xf16>
  // hidden_states = hidden_states + self.attn(self.ln_1(hidden_states))
  %add = arith.addf %hidden_states, %view_6 : tensor<2x32x64xf16>
  // return hidden_states + self.mlp(self.ln_2(hidden_states))
  %layer_norm_1 = swage.layer_norm %add gamma %ln_2.weight beta %ln_2.bias axis 2 eps 1.0e-05 : (tensor<2x32x64xf16>, tensor<64xf16>, tensor<64xf16>) -> (tensor<2x32x64xf16>)
  // rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
  %view_7 = swage.reshape %layer_norm_1 : tensor<2x32x64xf16> -> tensor<64x64xf16>
  %addmm_2.product = swage.matmul %view_7, %mlp.c_fc.weight : (tensor<64x64xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
  %mlp.c_fc.bias.all = swage.broadcast %mlp.c_fc.bias dims [1] : tensor<256xf16> -> tensor<64x256xf16>
  %addmm_2 = arith.addf %addmm_2.product, %mlp.c_fc.bias.all : tensor<64x256xf16>
  // return rows.view(*x.shape[:-1], rows.size(-1))
  %view_8 = swage.reshape %addmm_2 : tensor<64x256xf16> -> tensor<2x32x256xf16>
  // return self.dropout(self.c_proj(self.activate(self.c_fc(x))))
  %constant_2 = arith.constant dense<0.5> : tensor<2x32x256xf16>
  %mul = arith.mulf %view_8, %constant_2 : tensor<2x32x256xf16>
  %pow_1 = arith.mulf %view_8, %view_8 : tensor<2x32x256xf16>
  %pow_1_1 = arith.mulf %pow_1, %view_8 : tensor<2x32x256xf16>
  %pow_1_1.f32 = arith.extf %pow_1_1 : tensor<2x32x256xf16> to tensor<2x32x256xf32>
  %constant_3 = arith.constant dense<0.044715> : tensor<2x32x256xf32>
  %mul_1 = arith.mulf %pow_1_1.f32, %constant_3 : tensor<2x32x256xf32>
  %mul_1_1 = arith.truncf %mul_1 : tensor<2x32x256xf32> to tensor<2x32x256xf16>
  %add_1 = arith.addf %view_8, %mul_1_1 : tensor<2x32x256xf16>
  %add_1.f32 = arith.extf %add_1 : tensor<2x32x256xf16> to tensor<2x32x256xf32>
  %constant_4 = arith.constant dense<0.7978845608028654> : tensor<2x32x256xf32>
  %mul_2 = arith.mulf %add_1.f32, %constant_4 : tensor<2x32x256xf32>
  %mul_2_1 = arith.truncf %mul_2 : tensor<2x32x256xf32> to tensor<2x32x256xf16>
  %tanh = math.tanh %mul_2_1 : tensor<2x32x256xf16>
  %constant_5 = arith.constant dense<1.0> : tensor<2x32x256xf16>
  %add_2 = arith.addf %tanh, %constant_5 : tensor<2x32x256xf16>
  %mul_3 = arith.mulf %mul, %add_2 : tensor<2x32x256xf16>
  // rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
  %view_9 = swage.reshape %mul_3 : tensor<2x32x256xf16> -> tensor<64x256xf16>
  %addmm_3.product = swage.matmul %view_9, %mlp.c_proj.weight : (tensor<64x256xf16>, tensor<256x64xf16>) -> tensor<64x64xf16>
  %mlp.c_proj.bias.all = swage.broadcast %mlp.c_proj.bias dims [1] : tensor<64xf16> -> tensor<64x64xf16>
  %addmm_3 = arith.addf %addmm_3.product, %mlp.c_proj.bias.all : tensor<64x64xf16>
  // return rows.view(*x.shape[:-1], rows.size(-1))
  %view_10 = swage.reshape %addmm_3 : tensor<64x64xf16> -> tensor<2x32x64xf16>
  // return hidden_states + self.mlp(self.ln_2(hidden_states))
  %add_3 = arith.addf %add, %view_10 : tensor<2x32x64xf16>
  return %add_3 : tensor<2x32x64xf16>
}
