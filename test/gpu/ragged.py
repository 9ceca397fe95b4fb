#!/usr/bin/env python3
"""Attention of packed sequences on a GPU, beside sequences of one length, and each against PyTorch's own.

    python3 test/gpu/ragged.py [--sequences 64] [--shortest 100] [--longest 8000] [--heads 8] [--dim 128] [--seed 1]

Needs the Python package and torch. Prints TFLOP/s of what the masks leave: of random lengths, packed; of as many
sequences of their mean length, packed and as a batch. Exits with 1 where a result differs from PyTorch's by more than
bf16's rounding explains.
"""

import argparse
import sys
import time

import swage
import torch


def packed_text(heads, tokens, dim, causal):
    x, at = f"tensor<1x{heads}x{tokens}x{dim}xbf16>", f"tensor<{tokens}xi32>"
    also = (
        "\n    %before = arith.cmpi sle, %j, %i : index\n    %seen = arith.andi %own, %before : i1"
        if causal
        else "\n    %seen = arith.andi %own, %own : i1"
    )
    return f"""func.func @main(%q: {x}, %k: {x}, %v: {x}, %begins: {at}, %ends: {at}) -> {x} {{
  %o = swage.attention %q, %k, %v scale {dim**-0.5} mask {{
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %begin = tensor.extract %begins[%i] : {at}
    %end = tensor.extract %ends[%i] : {at}
    %key = arith.index_cast %j : index to i32
    %from = arith.cmpi sge, %key, %begin : i32
    %to = arith.cmpi slt, %key, %end : i32
    %own = arith.andi %from, %to : i1{also}
    swage.yield %seen : i1
  }} : ({x}, {x}, {x}) -> {x}
  return %o : {x}
}}"""


def batch_text(batch, heads, length, dim, causal):
    x = f"tensor<{batch}x{heads}x{length}x{dim}xbf16>"
    mask = (
        """ mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  }"""
        if causal
        else ""
    )
    return f"""func.func @main(%q: {x}, %k: {x}, %v: {x}) -> {x} {{
  %o = swage.attention %q, %k, %v scale {dim**-0.5}{mask} : ({x}, {x}, {x}) -> {x}
  return %o : {x}
}}"""


def microseconds(run, rounds=5):
    """The median of a few launches in a row; the pauses keep the board from its limit of power."""
    run()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        time.sleep(0.05)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run(), run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 500)
    return sorted(times)[rounds // 2]


def random(*shape):
    return torch.randn(shape, dtype=torch.bfloat16, device="cuda")


def measure_packed(lengths, heads, dim, causal):
    """Microseconds, and whether the sequences give what PyTorch gives for each."""
    tokens = sum(lengths)
    ends = torch.cumsum(torch.tensor(lengths), 0)
    each = torch.tensor(lengths)
    at = [torch.repeat_interleave(x, each).to(torch.int32).cuda() for x in (ends - each, ends)]
    q, k, v = (random(1, heads, tokens, dim) for _ in range(3))
    f = swage.compile(packed_text(heads, tokens, dim, causal))
    result = f(q, k, v, *at)
    is_right = True
    for i in sorted({0, 1, len(lengths) // 2, len(lengths) - 1}):
        part = slice(int(ends[i]) - lengths[i], int(ends[i]))
        expected = torch.nn.functional.scaled_dot_product_attention(
            q[:, :, part], k[:, :, part], v[:, :, part], is_causal=causal
        )
        is_right &= torch.allclose(result[:, :, part].float(), expected.float(), rtol=0.02, atol=0.01)
    return microseconds(lambda: f(q, k, v, *at)), is_right


def main():
    parser = argparse.ArgumentParser()
    for name, default in [("sequences", 64), ("shortest", 100), ("longest", 8000), ("heads", 8), ("dim", 128), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    lengths = torch.randint(args.shortest, args.longest + 1, (args.sequences,)).tolist()
    mean = sum(lengths) // len(lengths)
    failed = False
    for causal in (False, True):
        rates = {}
        def rate(name, lengths, us):
            products = sum(n * (n + 1) // 2 if causal else n * n for n in lengths)
            rates[name] = 4e-6 * products * args.dim * args.heads / us
        for name, of in [("random", lengths), ("equal", [mean] * len(lengths))]:
            us, is_right = measure_packed(of, args.heads, args.dim, causal)
            failed |= not is_right
            rate(name, of, us)
        f = swage.compile(batch_text(len(lengths), args.heads, mean, args.dim, causal))
        x = [random(len(lengths), args.heads, mean, args.dim) for _ in range(3)]
        rate("batch", [mean] * len(lengths), microseconds(lambda: f(*x)))
        print(
            f"{'causal' if causal else 'full':6} packed, random lengths {rates['random']:.0f} TFLOP/s; equal ones {rates['equal']:.0f}, "
            f"as a batch {rates['batch']:.0f}; ratio {rates['random'] / rates['batch']:.3f}"
        )
    print("wrong" if failed else "right", "beside PyTorch")
    sys.exit(failed)


if __name__ == "__main__":
    main()
