"""Layers as models write them, through the importer: results beside torch's, times beside torch.compile's.

    python layers.py [--only NAME,NAME] [--minutes 6] [--json FILE]

Each layer is a function of tensors. It is exported by torch, imported, compiled and run with random inputs, once checked and then
timed in turns with what torch.compile makes of it: CUDA graphs over sets of inputs that together exceed L2 three times, results
kept. What torch returns without copying (a view of another order) costs it nothing, and Swage a copy.

The error is the largest difference from what torch computes in float64, beside torch's own; a layer fails where it is more than
twice that and a unit in the last place of bfloat16. The package must be importable; torch must see the GPU.
"""

import argparse
import json
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F

import swage
import swage.torch
from timing import graph_of, times

L2_BYTES = 60 << 20
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "u8": torch.uint8}
B, H, S, U = TYPES
LAYERS = {}


def layer(*inputs):
    """Enters a function of inputs (element, extents...)."""

    def enter(function):
        LAYERS[function.__name__] = function, inputs
        return function

    return enter


@layer((B, 8, 4096, 1152), (B, 8, 1152), (B, 8, 1152))
def adaln(x, shift, scale):
    return F.layer_norm(x, (1152,)) * (1 + scale[:, None]) + shift[:, None]


@layer((B, 8, 4096, 1152), (B, 8, 4096, 1152), (B, 8, 1152), (B, 8, 1152), (B, 8, 1152))
def adaln_gate(x, y, gate, shift, scale):
    x = x + gate[:, None] * y
    return x, F.layer_norm(x, (1152,)) * (1 + scale[:, None]) + shift[:, None]


@layer((H, 4, 320, 96, 96), (H, 320), (H, 320))
def group_norm_silu(x, g, b):
    return F.silu(F.group_norm(x, 32, g, b))


@layer((B, 8192, 22016))
def swiglu(x):
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


@layer((B, 8192, 10240))
def geglu(x):
    a, b = x.chunk(2, -1)
    return a * F.gelu(b)


@layer((B, 8192, 10240))
def glu(x):
    return F.glu(x, -1)


@layer((H, 32, 192, 56, 56), (H, 192), (H, 192))
def convnext_norm(x, g, b):
    return F.layer_norm(x.permute(0, 2, 3, 1), (192,), g, b)


@layer((H, 32, 192, 56, 56), (H, 192), (H, 192))
def layer_norm_2d(x, g, b):
    u = x.float().mean(1, keepdim=True)
    s = (x.float() - u).pow(2).mean(1, keepdim=True)
    return (g[:, None, None] * ((x.float() - u) / torch.sqrt(s + 1e-6)) + b[:, None, None]).to(x.dtype)


@layer((H, 32, 56, 56, 128), (H, 128), (H, 128))
def swin_partition(x, g, b):
    return F.layer_norm(x, (128,), g, b).view(32, 8, 7, 8, 7, 128).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, 128)


@layer((H, 2048, 49, 128), (H, 32, 56, 56, 128))
def swin_reverse(w, x):
    return x + w.view(32, 8, 8, 7, 7, 128).permute(0, 1, 3, 2, 4, 5).reshape(32, 56, 56, 128)


@layer((B, 8, 150, 256, 256))
def softmax_channels(x):
    return x.softmax(1)


@layer((B, 65536, 768))
def normalize(x):
    return F.normalize(x, dim=-1)


@layer((B, 4, 2048, 32, 128), (B, 128))
def query_norm(q, g):
    return F.rms_norm(q, (128,), g).transpose(1, 2).contiguous()


@layer((B, 2, 4096, 32, 128), (S, 4096, 64), (S, 4096, 64))
def rope_interleaved(x, c, s):
    x1, x2 = x[..., 0::2].float(), x[..., 1::2].float()
    c, s = c[:, None], s[:, None]
    return torch.stack((x1 * c - x2 * s, x1 * s + x2 * c), -1).flatten(-2).to(x.dtype)


@layer((B, 2, 4096, 32, 128), (B, 4096, 128), (B, 4096, 128))
def rope_halves(x, c, s):
    x1, x2 = x[..., :64], x[..., 64:]
    return x * c[:, None] + torch.cat((-x2, x1), -1) * s[:, None]


@layer((B, 2, 4096, 32, 128), (B, 128), (B, 4096, 128), (B, 4096, 128))
def query_norm_rope(x, g, c, s):
    h = x.float()
    h = g * (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
    h = h.transpose(1, 2)
    return h * c + torch.cat((-h[..., 64:], h[..., :64]), -1) * s


@layer((B, 16384, 4096), (B, 4096))
def rms_norm_hf(x, w):
    h = x.float()
    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
    return w * h.to(x.dtype)


@layer((B, 16384, 4096), (B, 16384, 4096), (B, 4096))
def add_rms_norm(x, r, w):
    s = x + r
    return s, F.rms_norm(s, (4096,), w, 1e-6)


@layer((B, 4096, 128256))
def logsumexp(x):
    return x.float().logsumexp(-1)


@layer((B, 2048, 50257))
def log_softmax(x):
    return F.log_softmax(x.float(), -1)


@layer((H, 64, 256, 56, 56), (H, 256), (H, 256), (H, 256), (H, 256), (H, 64, 256, 56, 56))
def batch_norm_residual(x, m, v, g, b, r):
    return F.relu(F.batch_norm(x, m, v.abs(), g, b) + r)


@layer((H, 256, 2048, 7, 7))
def average_pool(x):
    return x.mean((2, 3))


@layer((H, 64, 112, 112, 64))
def average_pool_last(x):
    return x.mean((1, 2))


@layer((B, 16384, 4096))
def bias_gradient(x):
    return x.sum(0)


@layer((H, 64, 256, 56, 56))
def channel_sum(x):
    return x.sum((0, 2, 3))


@layer((H, 64, 256, 56, 56))
def channel_moments(x):
    x = x.float()
    return x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)


@layer((H, 64, 3, 224, 224))
def patchify(x):
    return x.view(64, 3, 14, 16, 14, 16).permute(0, 2, 4, 3, 5, 1).reshape(64, 196, 768)


@layer((H, 64, 196, 768))
def unpatchify(x):
    return x.view(64, 14, 14, 16, 16, 3).permute(0, 5, 1, 3, 2, 4).reshape(64, 3, 224, 224)


@layer((H, 16, 256, 64, 64))
def pixel_shuffle(x):
    return F.pixel_shuffle(x, 2)


@layer((H, 64, 240, 56, 56))
def channel_shuffle(x):
    return x.view(64, 3, 80, 56, 56).transpose(1, 2).reshape(64, 240, 56, 56)


@layer((H, 16, 1024, 2304), (H, 2304))
def qkv_heads(x, b):
    q, k, v = (x + b).view(16, 1024, 3, 12, 64).permute(2, 0, 3, 1, 4).unbind(0)
    return q.contiguous(), k.contiguous(), v.contiguous()


@layer((H, 16, 12, 1024, 64))
def merge_heads(x):
    return x.transpose(1, 2).reshape(16, 1024, 768)


@layer((H, 8, 16, 1024, 1024), (H, 8, 1, 1024, 1024))
def additive_mask_softmax(x, m):
    return (x * 0.125 + m).softmax(-1)


@layer((B, 4, 32, 1024, 1024), (B, 1, 32, 1024, 1024))
def bias_softmax(x, m):
    return (x.float() + m).softmax(-1).to(x.dtype)


@layer((B, 4, 32, 1024, 1024))
def softcap_softmax(x):
    return (torch.tanh(x.float() / 50) * 50).softmax(-1).to(x.dtype)


@layer((B, 16384, 4096))
def quantise_rows(x):
    x = x.float()
    s = x.abs().amax(-1, keepdim=True) / 127
    return torch.round(x / s).clamp(-127, 127).to(torch.int8), s


@layer((B, 16384, 4096), (S, 1))
def quantise_fp8(x, s):
    return (x.float() * s).clamp(-448, 448).to(torch.float8_e4m3fn)


@layer((B, 16384, 4096), (B, 4096))
def bias_gelu(x, b):
    return F.gelu(x + b)


@layer((B, 16384, 4096), (B, 4096))
def bias_gelu_tanh(x, b):
    return F.gelu(x + b, approximate="tanh")


@layer((B, 16384, 4096))
def squared_relu(x):
    return F.relu(x).square()


@layer((B, 16384, 4096))
def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


@layer((B, 16384, 4096))
def mish(x):
    return F.mish(x)


@layer((H, 64, 240, 56, 56))
def hardswish(x):
    return F.hardswish(x)


@layer((B, 16384, 4096))
def softplus(x):
    return F.softplus(x)


@layer((B, 16384, 4096))
def elu(x):
    return F.elu(x)


@layer((B, 16384, 4096))
def leaky_relu(x):
    return F.leaky_relu(x, 0.1)


@layer((H, 16, 64, 256, 256))
def instance_norm(x):
    return F.instance_norm(x)


@layer((B, 4096, 8192), (B, 4096, 8192), (B, 8192))
def gated_rms_norm(x, z, w):
    y = x.float() * F.silu(z.float())
    return (F.rms_norm(y.view(4096, 8, 1024), (1024,)).view(4096, 8192) * w).to(x.dtype)


@layer((S, 8192, 8192), (S, 8192, 8192))
def mse(a, b):
    return ((a - b) ** 2).mean()


@layer((B, 16384, 4096), (B, 16384, 4096), (B, 1))
def tanh_gate(x, y, a):
    return x + torch.tanh(a) * y


@layer((B, 64, 512, 1024), (B, 64, 512, 1))
def attention_pool(x, w):
    return (w.softmax(1) * x).sum(1)


@layer(
    (
        B,
        8192,
    ),
    (
        B,
        8192,
    ),
)
def outer_sum(a, b):
    return a[:, None] + b[None]


@layer((B, 8192, 8192))
def entropy(x):
    l = F.log_softmax(x.float(), -1)
    return -(l.exp() * l).sum(-1)


@layer((S, 16384, 4096))
def min_max(x):
    lo, hi = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - lo) / (hi - lo)


@layer((S, 2048, 512, 3, 3))
def weight_standardise(w):
    m = w.mean((1, 2, 3), keepdim=True)
    v = w.var((1, 2, 3), keepdim=True, unbiased=False)
    return (w - m) * torch.rsqrt(v + 1e-5)


@layer((S, 64, 17, 128, 128))
def spatial_softmax(x):
    return x.flatten(2).softmax(-1).view_as(x)


@layer((B, 64, 64, 128, 128), (B, 128, 128), (B, 128, 128))
def layer_norm_last_two(x, g, b):
    return F.layer_norm(x, (128, 128), g, b)


@layer((H, 8, 16, 1024, 1024), (H, 8, 16, 1024, 1024))
def softmax_backward(p, g):
    p, g32 = p.float(), g.float()
    return (p * (g32 - (p * g32).sum(-1, keepdim=True))).to(g.dtype)


@layer((B, 16384, 4096), (B, 16384, 4096), (B, 4096), (S, 16384, 1), (S, 16384, 1))
def layer_norm_dx(dy, x, g, m, r):
    xh = (x.float() - m) * r
    w = dy.float() * g.float()
    return (r * (w - w.mean(-1, keepdim=True) - xh * (w * xh).mean(-1, keepdim=True))).to(x.dtype)


@layer((B, 8192, 1024), (B, 8192, 1024), (B, 1024))
def layer_scale(x, y, g):
    return x + g * y


@layer((H, 64, 256, 56, 56), (H, 64, 256))
def squeeze_excite(x, s):
    return x * torch.sigmoid(s)[:, :, None, None]


@layer((H, 4, 320, 48, 48))
def upsample(x):
    return x[:, :, :, None, :, None].expand(4, 320, 48, 2, 48, 2).reshape(4, 320, 96, 96)


@layer((H, 4, 320, 96, 96), (H, 4, 320, 96, 96), (H, 640), (H, 640))
def skip_group_norm(a, b, g, h):
    return F.silu(F.group_norm(torch.cat((a, b), 1), 32, g, h))


@layer((S, 8192, 8192))
def transpose(x):
    return x.t().contiguous()


@layer((H, 32, 128, 112, 112))
def to_channels_last(x):
    return x.permute(0, 2, 3, 1).contiguous()


@layer((B, 2, 2048, 8, 128))
def repeat_kv(x):
    return x[:, :, :, None].expand(2, 2048, 8, 4, 128).reshape(2, 2048, 32, 128).transpose(1, 2).contiguous()


@layer((B, 32768, 2048), (B, 2048), (B, 2048))
def layer_norm(x, g, b):
    return F.layer_norm(x, (2048,), g, b)


@layer((B, 8, 4096, 1152), (B, 8, 4096, 1152), (B, 1152), (B, 1152))
def post_norm(x, y, g, b):
    return F.layer_norm(x + y, (1152,), g, b)


@layer(
    (B, 16384, 64),
)
def router_softmax(x):
    return x.float().softmax(-1)


@layer(
    (B, 16384, 64),
)
def router_sigmoid_norm(x):
    p = torch.sigmoid(x.float())
    return p / p.sum(-1, keepdim=True)


@layer(
    (S, 4096, 4096),
)
def frobenius(x):
    return x.pow(2).sum().sqrt()


@layer(
    (S, 4096, 4096),
)
def l1_rows(x):
    return x.abs().sum(1)


@layer(
    (S, 4096, 4096),
)
def mean_rows_and_columns(x):
    return x.mean(0), x.mean(1)


@layer(
    (B, 64, 1024, 1024),
)
def sum_middle(x):
    return x.sum(1)


@layer((B, 8, 4096, 32, 64), (B, 4096, 64), (B, 4096, 64))
def rope_halves_64(x, c, s):
    x1, x2 = x[..., :32], x[..., 32:]
    return (x * c[:, None] + torch.cat((-x2, x1), -1) * s[:, None]).transpose(1, 2).contiguous()


@layer((H, 32, 96, 56, 56), (H, 96), (H, 96))
def layer_norm_permuted(x, g, b):
    return F.layer_norm(x.permute(0, 2, 3, 1), (96,), g, b).permute(0, 3, 1, 2).contiguous()


@layer((S, 16384, 4096))
def standardise(x):
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)


@layer((B, 16384, 4096))
def mean_and_largest(x):
    return x.float().mean(-1), x.abs().amax(-1)


@layer((B, 4096, 8192), (B, 4096, 8192))
def cosine(a, b):
    return F.cosine_similarity(a.float(), b.float(), -1)


@layer((B, 8192, 8192), (B, 8192, 8192))
def kl(p, q):
    p, q = F.log_softmax(p.float(), -1), F.log_softmax(q.float(), -1)
    return (p.exp() * (p - q)).sum(-1)


@layer((B, 16384, 4096), (B, 16384, 4096), (B, 4096), (S, 16384, 1))
def rms_norm_dx(dy, x, g, r):
    xh = x.float() * r
    w = dy.float() * g.float()
    return (r * (w - xh * (w * xh).mean(-1, keepdim=True))).to(x.dtype)


@layer((B, 8192, 8192))
def log_softmax_gradient(x):
    p = x.float().softmax(-1)
    return (p - 1 / 8192).to(x.dtype)


@layer((U, 64, 256, 256, 3), (S, 3), (S, 3))
def image_in(x, mean, spread):
    return ((x.permute(0, 3, 1, 2).float() / 255 - mean[:, None, None]) / spread[:, None, None]).half()


@layer((H, 64, 3, 256, 256))
def image_out(x):
    return (x.float().clamp(0, 1) * 255).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous()


@layer((B, 32, 56, 56, 64), (S, 64), (S, 64))
def batch_norm_relu_last(x, g, b):
    y = x.float()
    mean, rstd = y.mean((0, 1, 2)), torch.rsqrt(y.var((0, 1, 2), unbiased=False) + 1e-5)
    return F.relu((y - mean) * rstd * g + b).to(x.dtype), mean, rstd


class _Call(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def results(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def error(found, function, inputs):
    """The largest error, torch's, and whether ours is within the bound."""
    wide = torch.float64 if sum(x.numel() for x in inputs) < 1 << 28 else torch.float32
    expected, own = results(function(*(x.to(wide) for x in inputs))), results(function(*inputs))
    ours = theirs = 0.0
    fits = True
    for y, reference, eager in zip(found, expected, own):
        y = y.view(eager.dtype)  # uint8 comes back as int8
        reference = reference.to(torch.float64)
        bound = reference.abs().max().item() * torch.finfo(torch.bfloat16).eps
        mine, other = ((x.to(torch.float64) - reference).abs().max().item() for x in (y, eager))
        # A number that is rounded to a whole one may be on the other side.
        bound += 1 if not y.dtype.is_floating_point else 0
        fits = fits and mine <= 2 * other + bound
        ours, theirs = max(ours, mine), max(theirs, other)
    return ours, theirs, fits


def measure(name):
    function, shapes = LAYERS[name]

    def make():
        return tuple(
            torch.randint(0, 256, shape, device="cuda", dtype=torch.uint8)
            if element == "u8"
            else torch.randn(shape, device="cuda", dtype=TYPES[element])
            for element, *shape in shapes
        )

    inputs = make()
    program = torch.export.export(_Call(function), inputs, strict=False)
    call = swage.compile(swage.torch.import_exported(program).text)
    found = results(call(*inputs))
    ours, theirs, fits = error(found, function, inputs)
    del found
    size = sum(x.numel() * x.element_size() for x in inputs)
    sets = [inputs] + [make() for _ in range(max(1, min(11, math.ceil(3 * L2_BYTES / size) - 1)))]
    compiled = torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs")
    medians = times([graph_of(call, sets), graph_of(compiled, sets)], max(5, min(40, round(8e9 / size / len(sets)))))
    us, other = (median / len(sets) for median in medians)
    return {"layer": name, "us": us, "torch": other, "ratio": other / us, "error": ours, "torch_error": theirs, "fits": fits}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--json")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(LAYERS)
    begin, records, failed = time.time(), [], 0
    torch._dynamo.config.cache_size_limit = 512
    for name in names:
        if time.time() - begin > 60 * options.minutes:
            print(f"no time for {len(names) - names.index(name)} layers from {name} on")
            break
        try:
            record = measure(name)
        except Exception as reason:  # of torch or of ours: the next layer may be fine
            failed += 1
            print(f"{name:24} {type(reason).__name__}: {str(reason)[:200]}", flush=True)
            continue
        finally:
            torch.cuda.empty_cache()
        failed += not record["fits"]
        records.append(record)
        if not record["fits"]:
            print(f"{name:24} wrong: off by {record['error']:.2g}, torch by {record['torch_error']:.2g}", flush=True)
    print(f"{'layer':24} {'us':>9} {'torch.compile':>13} {'ratio':>6}   error of both")
    for record in sorted(records, key=lambda record: record["ratio"]):
        print(
            f"{record['layer']:24} {record['us']:9.2f} {record['torch']:13.2f} {record['ratio']:6.3f}   "
            f"{record['error']:.2g} {record['torch_error']:.2g}"
        )
    ratios = sorted(record["ratio"] for record in records)
    if ratios:
        print(
            f"{len(ratios)} layers, {failed} failed; torch.compile's time over ours: least {ratios[0]:.2f}, median {statistics.median(ratios):.2f}"
        )
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
