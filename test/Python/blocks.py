#!/usr/bin/env python3
"""Transformer blocks in torch, of the structure that the common implementations have, small enough to run anywhere.

    blocks.py DIRECTORY    writes each as torch.export and swage.torch have it, for the tests of the passes
"""

import math
import os
import sys

import torch
from torch import nn
from torch.nn import functional


class Projection(nn.Module):
    """GPT-2's linear layer, whose weight is [inputs, outputs]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs**0.5)
        self.bias = nn.Parameter(torch.randn(outputs) / 8)

    def forward(self, x):
        rows = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return rows.view(*x.shape[:-1], rows.size(-1))


class Gpt2Attention(nn.Module):
    def __init__(self, width, heads, positions, fused):
        super().__init__()
        self.width, self.heads, self.fused = width, heads, fused
        self.c_attn, self.c_proj = Projection(width, 3 * width), Projection(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        triangle = torch.tril(torch.ones(positions, positions, dtype=torch.bool))
        self.register_buffer("bias", triangle.view(1, 1, positions, positions), persistent=False)

    def attend(self, q, k, v):
        if self.fused:
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / torch.full([], v.size(-1) ** 0.5, dtype=scores.dtype)
        queries, keys = q.size(-2), k.size(-2)
        causal = self.bias[:, :, keys - queries : keys, :keys]
        scores = torch.where(causal, scores, torch.full([], torch.finfo(scores.dtype).min, dtype=scores.dtype))
        weights = functional.softmax(scores, dim=-1).type(v.dtype)
        return torch.matmul(self.attn_dropout(weights), v)

    def forward(self, x):
        q, k, v = self.c_attn(x).split(self.width, dim=2)
        q, k, v = (part.view(*x.shape[:-1], self.heads, -1).transpose(1, 2) for part in (q, k, v))
        heads = self.attend(q, k, v).transpose(1, 2)
        return self.resid_dropout(self.c_proj(heads.reshape(*x.shape[:-1], -1).contiguous()))


class Gpt2Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj, self.dropout = Projection(width, 4 * width), Projection(4 * width, width), nn.Dropout(0.1)

    def activate(self, x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))

    def forward(self, x):
        return self.dropout(self.c_proj(self.activate(self.c_fc(x))))


class Gpt2Block(nn.Module):
    def __init__(self, width=64, heads=4, positions=32, fused=False):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp = Gpt2Attention(width, heads, positions, fused), Gpt2Mlp(width)

    def forward(self, hidden_states):
        hidden_states = hidden_states + self.attn(self.ln_1(hidden_states))
        return hidden_states + self.mlp(self.ln_2(hidden_states))


class LlamaNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + torch.randn(width) / 8)

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def rotate(x, cos, sin):
    a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x * cos.unsqueeze(1) + torch.cat((-b, a), dim=-1) * sin.unsqueeze(1)


def repeat(x, times):
    batch, heads, keys, width = x.shape
    return x[:, :, None, :, :].expand(batch, heads, times, keys, width).reshape(batch, heads * times, keys, width)


class LlamaAttention(nn.Module):
    def __init__(self, width, heads, key_heads, fused):
        super().__init__()
        self.size, self.groups, self.fused = width // heads, heads // key_heads, fused
        self.q_proj, self.o_proj = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(width, key_heads * self.size, bias=False) for _ in range(2))

    def attend(self, q, k, v, mask):
        k, v = repeat(k, self.groups), repeat(v, self.groups)
        if self.fused:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.size**-0.5)
        scores = torch.matmul(q, k.transpose(2, 3)) * self.size**-0.5
        scores = scores + mask[:, :, :, : k.shape[-2]]
        weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        weights = functional.dropout(weights, p=0.0, training=self.training)
        return torch.matmul(weights, v)

    def forward(self, x, cos, sin, mask):
        shape = (*x.shape[:-1], -1, self.size)
        q, k, v = (layer(x).view(shape).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj))
        heads = self.attend(rotate(q, cos, sin), rotate(k, cos, sin), v, mask).transpose(1, 2).contiguous()
        return self.o_proj(heads.reshape(*x.shape[:-1], -1).contiguous())


class LlamaMlp(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    def __init__(self, width=64, heads=4, key_heads=2, inner=176, fused=False):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = LlamaNorm(width), LlamaNorm(width)
        self.self_attn, self.mlp = LlamaAttention(width, heads, key_heads, fused), LlamaMlp(width, inner)

    def forward(self, hidden_states, cos, sin, attention_mask):
        attended = self.self_attn(self.input_layernorm(hidden_states), cos, sin, attention_mask)
        hidden_states = hidden_states + attended
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


def llama_inputs(batch, tokens, dtype, width=64, size=16):
    """Hidden states, cosine and sine of the positions, and the mask that is added: 0, or so low that no sum overflows."""
    angles = torch.arange(tokens)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
    angles = torch.cat((angles, angles), -1).expand(batch, tokens, size)
    least = torch.finfo(dtype).min / 2
    mask = torch.triu(torch.full((tokens, tokens), least, dtype=torch.float32), 1).expand(batch, 1, tokens, tokens)
    x = torch.randn(batch, tokens, width)
    return tuple(tensor.to(dtype).contiguous() for tensor in (x, angles.cos(), angles.sin(), mask))


def blocks():
    """Each block by its name, with inputs."""
    for fused, suffix in ((False, ""), (True, "_fused")):
        yield f"gpt2_block{suffix}", Gpt2Block(fused=fused).half(), (torch.randn(2, 32, 64).half(),)
        yield f"llama_block{suffix}", LlamaBlock(fused=fused).bfloat16(), llama_inputs(2, 32, torch.bfloat16)


def main(directory):
    import swage.torch

    for name, model, inputs in blocks():
        text = swage.torch.import_exported(torch.export.export(model.eval(), inputs)).text
        kind = name.replace("_fused", "").replace("_block", "").replace("gpt2", "GPT-2").replace("llama", "Llama")
        how = "scaled_dot_product_attention" if "fused" in name else "products and a softmax"
        header = f"// A {kind} block as exported from torch, attention by {how}; made by test/Python/blocks.py.\n"
        with open(os.path.join(directory, name + ".mlir"), "w") as file:
            file.write(header + text)


if __name__ == "__main__":
    main(*sys.argv[1:])
