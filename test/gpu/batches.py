#!/usr/bin/env python3
"""Whether decoding with `batch_invariant` gives a sequence the same bits in every batch.

    python3 test/gpu/batches.py [--sequences 64] [--sizes 1,7,64] [--longest 8000] [--heads 32] [--key-heads 8] [--dim 128] [--seed 1]

Needs the Python package and torch. Sequences of random lengths go through batches of each size; what is the same to the bit is
counted, with the attribute, where all of it must be, and without it. Exits with 1 where it is not, or where a result is far from PyTorch's.
"""

import argparse
import sys

import swage
import torch


def text(batch, options, invariant):
    q = f"tensor<{batch}x{options.heads}x1x{options.dim}xbf16>"
    cache = f"tensor<{batch}x{options.key_heads}x{options.longest}x{options.dim}xbf16>"
    lengths = f"tensor<{batch}xi32>"
    return f"""func.func @main(%q: {q}, %k: {cache}, %v: {cache}, %lengths: {lengths}) -> {q} {{
  %o = swage.attention %q, %k, %v scale {options.dim**-0.5}{" batch_invariant" if invariant else ""} mask {{
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %length = tensor.extract %lengths[%b] : {lengths}
    %key = arith.index_cast %j : index to i32
    %seen = arith.cmpi slt, %key, %length : i32
    swage.yield %seen : i1
  }} : ({q}, {cache}, {cache}) -> {q}
  return %o : {q}
}}"""


def results(size, options, invariant, operands):
    """Of all sequences, `size` of them at a time; those that fill the last batch up are not kept."""
    step = swage.compile(text(size, options, invariant))
    parts = []
    for first in range(0, options.sequences, size):
        which = [(first + i) % options.sequences for i in range(size)]
        parts.append(step(*(x[which].contiguous() for x in operands))[: options.sequences - first].clone())
    return torch.cat(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("sequences", 64), ("longest", 8000), ("heads", 32), ("key-heads", 8), ("dim", 128), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--sizes", default="1,7,64")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    random = lambda *shape: torch.randn(shape, device="cuda").bfloat16()
    lengths = torch.randint(1, options.longest + 1, (options.sequences,), dtype=torch.int32, device="cuda")
    cache = options.sequences, options.key_heads, options.longest, options.dim
    q, k, v = random(options.sequences, options.heads, 1, options.dim), random(*cache), random(*cache)
    seen = torch.arange(options.longest, device="cuda") < lengths[:, None]
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None], enable_gqa=True)
    failed = False
    sizes = [int(size) for size in options.sizes.split(",")]
    for invariant in (True, False):
        first, *rest = (results(size, options, invariant, (q, k, v, lengths)) for size in sizes)
        same = sum(all(torch.equal(first[i], other[i]) for other in rest) for i in range(options.sequences))
        failed |= invariant and same < options.sequences or not torch.allclose(first.float(), expected.float(), rtol=0.02, atol=0.01)
        print(f"batches of {options.sizes}, {'' if invariant else 'not '}batch_invariant: {same} of {options.sequences} sequences the same to the bit")
    sys.exit(failed)


if __name__ == "__main__":
    main()
