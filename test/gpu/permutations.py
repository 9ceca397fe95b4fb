"""Random permutations on a GPU: every bit against torch's, and the share of a copy's speed.

    python permutations.py [--count 400] [--seed 1] [--peers 20] [--least-mb 8] [--most-mb 512] [--elements 1,2,4,8,16] [--edges] [--json FILE]

Ranks 2 to 8, elements of 1 to 16 bytes (those of 16 are pairs that stay together), extents odd, prime, powers of two and
small. Times are medians of CUDA graphs over buffers that exceed L2; the copy of the same bytes is timed in turn with each
case. `--peers N`: the first N cases also by torch.compile. `--edges`: EDGES in front of the random ones, which takes 60 GB
of the GPU. The package must be importable; torch must see the GPU.
"""

import argparse
import concurrent.futures
import json
import math
import random
import re

import torch

import swage
from timing import graph_of, times

L2_BYTES = 60 << 20
ELEMENTS = {1: ("i8", torch.int8), 2: ("f16", torch.float16), 4: ("f32", torch.float32), 8: ("f64", torch.float64)}
EXTENTS = [1, 2, 3, 5, 7, 11, 13, 17, 31, 37, 61, 97, 101, 127, 2, 4, 8, 16, 32, 64, 128, 3, 6, 9, 12, 15, 24, 30, 40, 48]
EXTENTS += [56, 80, 96, 100, 112, 120, 200, 224, 256, 384, 512, 1000, 1024]

#: Bytes of an element, shape, order, and the elements by which input and output begin beyond an aligned address: more
#: than 2^31 elements, extents of 1 between those that merge, identity, nothing at all, tensors that begin anywhere.
EDGES = [
    (1, [65536, 65536, 3], [2, 0, 1], 0),
    (1, [3, 65536, 65536], [1, 2, 0], 0),
    (1, [46349, 46351], [1, 0], 0),
    (2, [5, 50021, 97, 101], [3, 0, 2, 1], 0),
    (4, [1, 256, 1, 128, 1, 512, 1], [5, 0, 1, 4, 2, 3, 6], 0),
    (2, [64, 1, 4096, 1, 96], [0, 3, 4, 1, 2], 0),
    (8, [1, 1 << 20, 1, 3], [3, 2, 0, 1], 0),
    (4, [100, 200, 300], [0, 1, 2], 0),
    (2, [1, 30000, 1, 200], [2, 1, 0, 3], 0),
    (4, [100, 0, 300], [2, 1, 0], 0),
    (1, [8191, 8193], [1, 0], 1),
    (1, [64, 512, 512, 3], [0, 3, 1, 2], 3),
    (2, [512, 33, 65, 24], [2, 0, 3, 1], 1),
    (4, [300, 77, 1000], [1, 2, 0], 1),
    (8, [300, 77, 500], [2, 1, 0], 1),
]


def random_case(generator, least_bytes, most_bytes, elements):
    """(bytes of an element, shape, order), of about a size whose logarithm is uniform."""
    while True:
        size = generator.choice(elements)
        rank = generator.randint(2, 8)
        wanted = math.exp(generator.uniform(math.log(least_bytes), math.log(most_bytes))) / size
        shape = [generator.choice(EXTENTS) for _ in range(rank)]
        scaled = generator.randrange(rank)
        shape[scaled] = round(wanted * shape[scaled] / math.prod(shape))
        if shape[scaled] < 1 or not least_bytes <= math.prod(shape) * size <= most_bytes:
            continue
        order = generator.sample(range(rank), rank)
        if order != sorted(order):
            return size, shape, order


class Case:
    def __init__(self, size, shape, order, offset=0):
        self.name = f"{'x'.join(map(str, shape))} ({', '.join(map(str, order))}) {size}" + (f" from {offset}" if offset else "")
        self.offset = offset
        self.bytes = size * math.prod(shape)
        element, self.dtype = ELEMENTS[min(size, 8)]
        pair = size == 16
        self.shape, self.order = (shape + [2], order + [len(shape)]) if pair else (shape, order)
        self.result = [self.shape[k] for k in self.order]
        types = [f"tensor<{'x'.join(map(str, extents))}x{element}>" for extents in (self.shape, self.result)]
        self.function = swage.compile(
            f"func.func @main(%x: {types[0]}) -> {types[1]} {{\n"
            f"  %y = swage.permute %x {self.order} : {types[0]} -> {types[1]}\n  return %y : {types[1]}\n}}"
        )

    def describe(self):
        """The schedule, and what the kernel takes of the GPU."""
        artifact = self.function.artifact(self.shape)
        schedules = re.findall(r"#swage\.(\w+)_schedule<([^>]*)>", artifact.passes[-1][1])
        kernels = artifact.kernels
        return schedules[-1] if schedules else ("none", ""), kernels

    def empty(self, shape):
        storage = torch.empty(math.prod(shape) + self.offset, device="cuda", dtype=self.dtype)
        return storage[self.offset :].view(shape)

    def random_input(self):
        tensor = self.empty(self.shape)
        bits(tensor).random_(-128, 128)
        return tensor


def bits(tensor):
    return tensor.view(-1).view(torch.int8)


def measure(case, with_peer):
    """{share, us, exact, ...} of a case."""
    sets = max(2, min(16, math.ceil(3 * L2_BYTES / (2 * max(case.bytes, 1)))))
    inputs = [case.random_input() for _ in range(sets)]
    outputs = [case.empty(case.result) for _ in inputs]
    for y in outputs:
        bits(y).fill_(77)
    pairs = list(zip(inputs, outputs))
    case.function(inputs[0], out=outputs[0])
    exact = torch.equal(bits(outputs[0]), bits(inputs[0].permute(case.order).contiguous()))
    if not case.bytes:
        return {"case": case.name, "bytes": 0, "exact": exact, "us": 0.0, "share": 1.0}
    first, words = -case.offset * case.dtype.itemsize % 16, case.bytes // 4 - 4
    copies = [tuple(bits(z)[first : first + words * 4].view(torch.float32) for z in pair) for pair in pairs]
    graphs = [graph_of(lambda x, y: case.function(x, out=y), pairs), graph_of(lambda x, y: torch.neg(x, out=y), copies)]
    if with_peer:
        compiled = torch.compile(
            lambda x: x.permute(case.order).contiguous(), dynamic=False, mode="max-autotune-no-cudagraphs"
        )
        # Where nothing moves it gives its input back, which is no copy to compare with.
        with_peer = compiled(inputs[0]).data_ptr() != inputs[0].data_ptr()
    if with_peer:
        graphs.append(graph_of(compiled, [(x,) for x in inputs]))
    medians = times(graphs, max(5, min(40, round(8e9 / case.bytes / sets))))
    record = {"case": case.name, "bytes": case.bytes, "exact": exact, "us": medians[0] / sets, "share": medians[1] / medians[0]}
    if with_peer:
        record["ratio"] = medians[2] / medians[0]
    return record


def percentile(values, part):
    return sorted(values)[int(part * (len(values) - 1))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", type=int, default=0)
    parser.add_argument("--least-mb", type=float, default=8)
    parser.add_argument("--most-mb", type=float, default=512)
    parser.add_argument("--elements", default="1,2,4,8,16")
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch._dynamo.config.cache_size_limit = 512
    generator = random.Random(arguments.seed)
    elements = [int(size) for size in arguments.elements.split(",")]
    limits = (arguments.least_mb * 2**20, arguments.most_mb * 2**20)
    cases = [Case(*edge) for edge in EDGES] if arguments.edges else []
    cases += [Case(*random_case(generator, *limits, elements)) for _ in range(arguments.count)]
    torch.empty(1, device="cuda")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        described = list(pool.map(Case.describe, cases))
    records = []
    peers = cases[len(cases) - arguments.count :][: arguments.peers]
    for case, (schedule, kernels) in zip(cases, described):
        record = measure(case, case in peers)
        record.update(schedule=schedule[0], details=schedule[1], kernels=len(kernels))
        records.append(record)
    for r in records[: len(cases) - arguments.count]:
        print(f"  {r['share']:.3f} {r['us']:9.1f} us  {r['case']:48} {r['schedule']} {r['details']}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)
    for size in elements:
        shares = [r["share"] for r in records if r["case"].endswith(f" {size}")]
        if shares:
            print(f"{size:2} bytes: {len(shares):3} cases, share of a copy {percentile(shares, .5):.3f} in the middle, "
                  f"{percentile(shares, .05):.3f} at 5 %")
    print("slowest:")
    for r in sorted(records, key=lambda r: r["share"])[:10]:
        print(f"  {r['share']:.3f} {r['us']:8.1f} us  {r['case']:48} {r['schedule']} {r['details']}")
    ratios = sorted((r["ratio"], r["case"]) for r in records if "ratio" in r)
    for ratio, name in ratios[:5]:
        print(f"  {ratio:.3f} of torch.compile's time over ours: {name}")
    wrong = [r["case"] for r in records if not r["exact"]]
    for name in wrong:
        print(f"  wrong: {name}")
    shares = [r["share"] for r in records]
    print(f"{len(records) - len(wrong)} of {len(records)} exact; share of a copy {percentile(shares, .5):.3f} in the middle, "
          f"{percentile(shares, .05):.3f} at 5 %, least {min(shares):.3f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
