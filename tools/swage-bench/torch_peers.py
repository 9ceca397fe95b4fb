"""Times torch.compile, and of attention cuDNN and FlashAttention-2 through PyTorch, on the cases of a swage-bench run, on
the same GPU and in the same way.

    swage-bench --cases=FILE --list=cases.json
    swage-bench --cases=FILE --json=swage.json
    python3 torch_peers.py cases.json --json=torch.json [--marked] [--eager]

--marked: only what the file marks with torch=N. A graph is timed where its name is one of GRAPHS. Times are of GPU work:
CUDA-graph replays over rotating inputs that together exceed the L2 cache three times, outputs where the allocator puts
them, the median of the replays of five rounds. Records are those of swage-bench, with peer "compile" (or "eager"), "cudnn"
and "flash2"."""

import argparse
import json
import math
import re

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

L2 = 60 << 20
ROUNDS, TARGET_MS, MAX_SETS = 5, 20, 64
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
         "i8": torch.int8, "i32": torch.int32, "i64": torch.int64}


def median(values):
    return sorted(values)[len(values) // 2]


def seconds(make, function):
    """Median seconds of one call, over rounds of graph replays."""
    first = make()
    size = sum(t.numel() * t.element_size() for t in first)
    count = max(2, min(MAX_SETS, math.ceil(3 * L2 / max(size, 1))))
    sets = [first] + [make() for _ in range(count - 1)]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function(*first)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for arguments in sets:
                function(*arguments)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

        def replay():
            begin.record(stream)
            graph.replay()
            end.record(stream)
            torch.cuda.synchronize()
            return begin.elapsed_time(end)

        for _ in range(2):
            replay()
        repetitions = max(5, min(200, int(TARGET_MS / max(replay(), 1e-3))))
        return median([median([replay() for _ in range(repetitions)]) for _ in range(ROUNDS)]) / count * 1e-3


def randn(shape, dtype, offset=0):
    """A tensor that starts `offset` elements after an aligned address."""
    count = math.prod(shape)
    flat = torch.empty(count + offset, device="cuda", dtype=dtype)[offset:]
    flat.copy_(torch.randn(count, device="cuda", dtype=torch.float32))
    return flat.view(shape)


def row(family, shape, dtype, offset):
    """Inputs and function of a row family."""
    length = shape[-1:]

    def full():
        return randn(shape, dtype, offset)

    def one():
        return randn(length, dtype, offset)

    def added(x, residual, gamma, beta, bias=None):
        total = x + residual if bias is None else x + bias + residual
        return total, F.layer_norm(total, length, gamma, beta)

    return {
        "layernorm": (lambda: (full(), one(), one()), lambda x, g, b: F.layer_norm(x, length, g, b)),
        "rmsnorm": (lambda: (full(), one()), lambda x, g: F.rms_norm(x, length, g)),
        "softmax": (lambda: (full(),), lambda x: torch.softmax(x, -1)),
        "log_softmax": (lambda: (full(),), lambda x: torch.log_softmax(x, -1)),
        "add_layernorm": (lambda: (full(), full(), one(), one()), added),
        "add_bias_res_ln": (lambda: (full(), full(), one(), one(), one()), lambda x, r, bias, g, b: added(x, r, g, b, bias)),
    }.get(family)


def masked_softmax(causal, shape, dtype):
    batch, _, length, _ = shape
    if causal:
        mask = lambda: torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1)
        low = float("-inf")
    else:
        mask = lambda: torch.rand(batch, 1, length, length, device="cuda") > 0.5
        low = -1e4
    return lambda: (randn(shape, dtype), mask()), lambda x, m: torch.softmax((x * 0.125).masked_fill(m, low), -1)


def attention(name):
    """Inputs, and a function for each of PyTorch's kernels, of a case by its name; what it has none for is None."""
    found = re.fullmatch(r"b(\d+) hq(\d+) hk(\d+) (?:(\d+)x|ctx)(\d+) d(\d+)(?: c(\d))?(?: q(\d+))? (f16|bf16)", name)
    if not found:
        return None
    batch, heads, key_heads, rows, keys, dim, causal, few = (int(x or 0) for x in found.groups()[:-1])
    queries, dtype = rows or few or 1, TYPES[found[9]]
    if causal and queries != keys:
        return None

    def by(backend):
        def call(q, k, v):
            with sdpa_kernel([backend]):
                return F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), enable_gqa=heads != key_heads)

        return call

    def make():
        return [randn((batch, n, length, dim), dtype) for n, length in ((heads, queries), (key_heads, keys), (key_heads, keys))]

    return make, [("cudnn", by(SDPBackend.CUDNN_ATTENTION)), ("flash2", by(SDPBackend.FLASH_ATTENTION))]


def gpt2_block():
    """examples/gpt2_block.mlir."""
    half = torch.float16

    def make():
        shapes = [(8, 1024, 768), (768,), (768,), (8, 1024, 2304), (2304,), (8, 12, 1024, 1024)]
        rest = [(8, 12, 1024, 64), (8, 1024, 768), (768,), (768,), (768,), (8, 1024, 3072), (3072,), (8, 1024, 768), (768,)]
        mask = torch.ones(1024, 1024, device="cuda", dtype=torch.bool).triu(1)
        return [randn(s, half) for s in shapes] + [mask] + [randn(s, half) for s in rest]

    def block(x, g1, b1, qkv, qkv_bias, scores, mask, attention, proj, proj_bias, g2, b2, fc, fc_bias, fc2, fc2_bias):
        ln1, mean1, rstd1 = torch.native_layer_norm(x, (768,), g1, b1, 1e-5)
        q, k, v = ((qkv + qkv_bias).view(8, 1024, 3, 12, 64)[:, :, i].permute(0, 2, 1, 3).contiguous() for i in range(3))
        probabilities = torch.softmax((scores * 0.125).masked_fill(mask, float("-inf")), -1)
        merged = attention.permute(0, 2, 1, 3).reshape(8, 1024, 768)
        residual = x + (proj + proj_bias)
        ln2, mean2, rstd2 = torch.native_layer_norm(residual, (768,), g2, b2, 1e-5)
        biased = fc + fc_bias
        gelu = F.gelu(biased, approximate="tanh")
        return (ln1, mean1, rstd1, q, k, v, probabilities, merged, residual, ln2, mean2, rstd2, biased, gelu,
                residual + (fc2 + fc2_bias))

    return make, block


def llama_block():
    """examples/llama_block.mlir."""
    dtype, eps = torch.bfloat16, 1e-5

    def make():
        wide, narrow, hidden = (2, 2048, 4096), (2, 2048, 1024), (2, 2048, 14336)
        shapes = [wide, (4096,), wide, narrow, narrow]
        rest = [(2, 32, 2048, 128), wide, (4096,), hidden, hidden, wide]
        table = [randn((2048, 64), torch.float32) for _ in range(2)]
        return [randn(s, dtype) for s in shapes] + table + [randn(s, dtype) for s in rest]

    def norm(x, gamma):
        wide = x.float()
        rstd = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
        return (wide * rstd * gamma.float()).to(dtype), rstd.squeeze(-1)

    def rotated(x, heads, cos, sin):
        a, b = x.view(2, 2048, heads, 128).float().split(64, -1)
        c, s = cos[:, None], sin[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], -1).to(dtype).permute(0, 2, 1, 3).contiguous()

    def block(x, g1, q, k, v, cos, sin, attention, o, g2, gate, up, down):
        norm1, rstd1 = norm(x, g1)
        heads_v = v.view(2, 2048, 8, 128).permute(0, 2, 1, 3).contiguous()
        merged = attention.permute(0, 2, 1, 3).reshape(2, 2048, 4096)
        residual = x + o
        norm2, rstd2 = norm(residual, g2)
        activated = F.silu(gate)
        return (norm1, rstd1, rotated(q, 32, cos, sin), rotated(k, 8, cos, sin), heads_v, merged, residual, norm2, rstd2,
                activated, activated * up, residual + down)

    return make, block


GRAPHS = {"gpt2_block": gpt2_block, "llama_block": llama_block}


def prepare(case):
    """Inputs and function of a case; None where there is no such family here."""
    family, shape, dtype = case["family"], case["shape"], TYPES.get(case["type"])
    if family == "graph":
        return GRAPHS[case["case"]]() if case["case"] in GRAPHS else None
    if family == "permute":
        order = case["permutation"]
        return lambda: (randn(shape, dtype),), lambda x: x.permute(order).contiguous()
    if family in ("mask_softmax", "causal_softmax"):
        return masked_softmax(family == "causal_softmax", shape, dtype)
    return row(family, shape, dtype, case["offset"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", help="what swage-bench --list wrote")
    parser.add_argument("--json", help="file for the records")
    parser.add_argument("--marked", action="store_true", help="only cases marked with torch=N")
    parser.add_argument("--eager", action="store_true", help="time PyTorch without torch.compile too")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch._dynamo.config.cache_size_limit = 4096
    records, failed = [], 0
    for case in json.load(open(options.cases)):
        is_attention = case["family"] in ("attention", "decode")
        prepared = attention(case["case"]) if is_attention else prepare(case)
        if prepared is None or (options.marked and not case["torch"]):
            continue
        make, function = prepared
        if is_attention:
            peers = function
        else:
            peers = [("compile", torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs"))]
            if options.eager:
                peers.append(("eager", function))
        for peer, call in peers:
            try:
                time = seconds(make, call)
            except Exception as error:  # one case that PyTorch cannot do is no reason to stop
                failed += 1
                print(case["family"], case["case"], peer, "FAILED", str(error).splitlines()[0][:150], flush=True)
                continue
            record = dict(family=case["family"], case=case["case"], peer=peer, us=time * 1e6)
            if case["bytes"]:
                record["GBs"] = case["bytes"] / time / 1e9
            records.append(record)
            print(f"{case['family']:16s} {case['case']:44s} {peer:8s} {time * 1e6:10.2f} us", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=0)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
