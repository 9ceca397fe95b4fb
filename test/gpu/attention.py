"""Random attention: graphs of a seed, each judged by swage-run against the f64 reference.

    python3 attention.py --run path/to/swage-run [--count 500] [--first 0] [--seed 1] [--device gpu|sim] [--most 1500] [--each 10] [--queries 8]
    python3 attention.py --run path/to/swage-run --torch 20

With --queries graphs have up to so many queries only, as when tokens are generated, more heads that share keys, now and then more sequences than a device has blocks,
of lengths that have little in common, and keys and values in pages of 1 to 70 positions, through tables that name pages more than once, or none.
Element types (of 8 bits with results of 16), head dims (8 to 256 by 8, of 8 bits by 16, of few queries of 16 bits by 2 or 4 as well, and up to 576, values' their own now and then, or the first columns of keys, or keys in FasterTransformer's order), heads and those that share keys, lengths of 1 to
`most`, operands as [batch, head, position, dim] or in the order of a projection, masks (none, causal to either corner,
windows, lengths, documents, prefixes), score functions (none, a bias by distance, a bias for each score, a bound by tanh),
scores of ordinary size and of 10^4 (not of 8 bits), with and without log-sum-exp, and every other one with `batch_invariant`. Each graph runs twice, and its results must be the same to
the bit. `--first` says which of a seed's configurations come first, so that parts of them can run at different times.

With --torch the same inputs go through PyTorch's own attention, and the largest error must be at most twice of what that has,
plus one unit of the largest result in its last place; errors are those from f64. Log-sum-exps may be off by the largest of 1e-3,
four units in their last place, and twice what those of PyTorch's kernel are off. Every fourth configuration has scores of 10^4; there
results are judged by the first mode alone, as one row has the largest error of either.

Prints what was not accepted with its text, and one line of counts; fails if there is anything but inputs that are too weak to judge by (rule 7 of docs/numerics.md), which
the counts name."""
import argparse, filecmp, os, random, re, subprocess, sys, tempfile


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Graph:
    """Some attention ops of one function; `portable`: for GPUs that have no kernel of 8 bits."""

    def __init__(self, portable):
        self.portable = portable
        self.arguments, self.lines, self.results = [], [], []

    def argument(self, shape, element, most=None):
        """`most`: of integers, which are from 0 on; else small ones."""
        name = f"%a{len(self.arguments)}"
        values = f" {{swage.range = array<i64: 0, {most}>}}" if most is not None else ""
        self.arguments.append(f"{name}: {tensor(shape, element)}{values}")
        return name

    def operand(self, rng, number, batch, heads, length, dim, element):
        shape = (batch, heads, length, dim)
        if rng.random() < 0.5:
            return self.argument(shape, element)
        stored = (batch, length, heads, dim)
        x = self.argument(stored, element)
        self.lines.append(f"  %p{number} = swage.permute {x} [0, 2, 1, 3] : {tensor(stored, element)} -> {tensor(shape, element)}")
        return f"%p{number}"

    def runs(self, rng, name, batch, heads, length, dim, element):
        """In FasterTransformer's order of keys."""
        shape = (batch, heads, dim // 8, length, 8)
        kept, turned, whole = (tensor(one, element) for one in (shape, (batch, heads, length, dim // 8, 8), (batch, heads, length, dim)))
        argument = self.argument(shape, element)
        self.lines += [f"  %t{name} = swage.permute {argument} [0, 1, 3, 2, 4] : {kept} -> {turned}", f"  %r{name} = swage.reshape %t{name} : {turned} -> {whole}"]
        return f"%r{name}"

    def pages(self, rng, number, batch, heads, keys, dims, element):
        """Keys and values through a table, of about so many positions."""
        size = rng.choice([1, 16, 32, 64, rng.randint(1, 70)])
        count = -(-keys // size)
        pool = rng.randint(1, 2 * batch * count)
        entries = tensor((batch, count), "i32")
        read = self.argument((batch, count), "i32")
        self.lines += [f"  %at{number} = swage.iota dim {rng.randint(0, 1)} : {entries}"]
        for name, value in ("step", rng.randint(1, pool)), ("pool", pool):
            self.lines.append(f"  %{name}{number} = arith.constant dense<{value}> : {entries}")
        self.lines += [f"  %far{number} = arith.muli %at{number}, %step{number} : {entries}",
                       f"  %some{number} = arith.addi %far{number}, {read} : {entries}",
                       # What is negative names no page.
                       f"  %table{number} = arith.{rng.choice(['remui', 'remsi'])} %some{number}, %pool{number} : {entries}"]
        names = []
        for part, dim in zip("kv", dims):
            x = self.operand(rng, f"{number}{part}", pool, heads, size, dim, element)
            types = f"({tensor((pool, heads, size, dim), element)}, {entries}) -> {tensor((batch, heads, count * size, dim), element)}"
            self.lines.append(f"  %{part}{number} = swage.pages {x}, %table{number} : {types}")
            names.append(f"%{part}{number}")
        return names + [count * size]

    def add(self, rng, most, few):
        n = len(self.results)
        element = rng.choice(["bf16", "bf16", "f16", "f16", "f32", "bf16" if self.portable else "f8E4M3FN"])
        narrow, full = element == "f8E4M3FN", element == "f32"
        wide, unit = (rng.choice(["bf16", "f16"]), 16) if narrow else (element, 8)
        if few and not narrow and not full and rng.random() < 0.3:
            unit = rng.choice([2, 4])
        dim = unit * rng.randint(-(-8 // unit), 256 // unit)
        value = min(dim if rng.random() < 0.7 else unit * rng.randint(-(-8 // unit), 256 // unit), 240 if narrow else 256)
        if few and not narrow and not full and rng.random() < 0.15:
            unit, dim, value = 32, 32 * rng.randint(9, 18), 32 * rng.randint(1, 18)
        latent = few and not narrow and dim % 8 == 0 and rng.random() < 0.15
        if latent:
            unit = 32 if dim > 256 else 8
            value = unit * rng.randint(1, dim // unit)
        batch, keyHeads, group = rng.randint(1, 3), rng.randint(1, 3), rng.choice([1, 1, 2, 4] + ([8, 13, 24] if few else []))
        many = few > 0 and rng.random() < 0.15
        if many:
            batch, group = rng.randint(70, 200), min(group, 4)
        heads = keyHeads * group
        length = lambda: rng.randint(1, most) if rng.random() < 0.5 else rng.randint(1, min(most, 200))
        queries, keys = rng.randint(1, few) if few else length(), rng.randint(most // 2, most) if many else length()
        q = self.operand(rng, f"{n}q", batch, heads, queries, dim, element)
        if few and not narrow and not full and rng.random() < 0.4:
            k, v, keys = self.pages(rng, n, batch, keyHeads, keys, (dim, value), element)
        else:
            inRuns = few and not narrow and not full and not latent and dim % 8 == 0 and rng.random() < 0.2
            k = (self.runs if inRuns else self.operand)(rng, f"{n}k", batch, keyHeads, keys, dim, element)
            v = self.operand(rng, f"{n}v", batch, keyHeads, keys, value, element)
        if latent:
            whole, part = (tensor((batch, keyHeads, keys, columns), element) for columns in (dim, value))
            self.lines.append(f"  %first{n} = swage.slice {k} axis 3 from 0 size {value} : {whole} -> {part}")
            v = f"%first{n}"
        scale = dim ** -0.5 * rng.choice([1, 1, 1, 1, 1, 3000])
        if narrow:  # scores of 10^4 and 13 bits say nothing of weights
            scale = dim ** -0.5
        coordinates = "%b: index, %h: index, %i: index, %j: index"
        mask, score = self.mask(rng, batch, queries, keys, many), self.score(rng, heads, queries, keys, wide)
        regions = (" batch_invariant" if n % 2 else "") + \
                  (f" score {{\n  ^bb0(%s: f32, {coordinates}):\n{score}  }}" if score else "") + \
                  (f" mask {{\n  ^bb0({coordinates}):\n{mask}    swage.yield %seen : i1\n  }}" if mask else "")
        types = f"({tensor((batch, heads, queries, dim), element)}, {tensor((batch, keyHeads, keys, dim), element)}, {tensor((batch, keyHeads, keys, value), element)})"
        result, sums = tensor((batch, heads, queries, value), wide), tensor((batch, heads, queries), "f32")
        if rng.random() < 0.5:
            self.lines.append(f"  %o{n} = swage.attention {q}, {k}, {v} scale {scale:e}{regions} : {types} -> {result}")
            self.results.append((f"%o{n}", result))
        else:
            self.lines.append(f"  %o{n}, %l{n} = swage.attention {q}, {k}, {v} scale {scale:e}{regions} : {types} -> ({result}, {sums})")
            self.results += [(f"%o{n}", result), (f"%l{n}", sums)]

    def mask(self, rng, batch, queries, keys, many):
        kind = rng.choice(["none", "causal", "last", "window", "lengths", "documents", "prefix"] + ["lengths"] * 8 * many)
        if kind == "none":
            return ""
        if kind == "causal":
            return "    %seen = arith.cmpi sle, %j, %i : index\n"
        if kind == "last":
            return (f"    %c = arith.constant {keys - queries} : index\n    %last = arith.addi %i, %c : index\n"
                    "    %seen = arith.cmpi sle, %j, %last : index\n")
        if kind == "window":
            return (f"    %cl = arith.constant {rng.randint(0, keys)} : index\n    %cr = arith.constant {rng.randint(0, 40)} : index\n"
                    "    %from = arith.subi %i, %cl : index\n    %to = arith.addi %i, %cr : index\n"
                    "    %left = arith.cmpi sge, %j, %from : index\n    %right = arith.cmpi sle, %j, %to : index\n"
                    "    %seen = arith.andi %left, %right : i1\n")
        if kind == "lengths":
            least, most = (0, keys) if many or rng.random() < 0.5 else (keys // 2 + 1, None)
            lengths = self.argument((batch,), "i32", most)
            return (f"    %length = tensor.extract {lengths}[%b] : {tensor((batch,), 'i32')}\n    %cm = arith.constant {least} : i32\n"
                    "    %some = arith.addi %length, %cm : i32\n    %at = arith.index_cast %j : index to i32\n"
                    "    %seen = arith.cmpi slt, %at, %some : i32\n")
        if kind == "prefix":
            return (f"    %cp = arith.constant {rng.randint(0, keys)} : index\n    %common = arith.cmpi slt, %j, %cp : index\n"
                    "    %before = arith.cmpi sle, %j, %i : index\n    %seen = arith.ori %common, %before : i1\n")
        extent = max(queries, keys)
        documents = self.argument((batch, extent), "i32")
        return (f"    %mine = tensor.extract {documents}[%b, %i] : {tensor((batch, extent), 'i32')}\n"
                f"    %other = tensor.extract {documents}[%b, %j] : {tensor((batch, extent), 'i32')}\n"
                "    %seen = arith.cmpi eq, %mine, %other : i32\n")

    def score(self, rng, heads, queries, keys, element):
        kind = rng.choice(["none", "none", "distance", "bias", "bound"])
        if kind == "none":
            return ""
        if kind == "distance":
            slopes = self.argument((heads,), "f32")
            return (f"    %slope = tensor.extract {slopes}[%h] : {tensor((heads,), 'f32')}\n    %d = arith.subi %j, %i : index\n"
                    "    %di = arith.index_cast %d : index to i32\n    %df = arith.sitofp %di : i32 to f32\n"
                    "    %cs = arith.constant 0.01 : f32\n    %small = arith.mulf %slope, %cs : f32\n"
                    "    %term = arith.mulf %small, %df : f32\n    %t = arith.addf %s, %term : f32\n    swage.yield %t : f32\n")
        if kind == "bias":
            bias = self.argument((heads, queries, keys), element)
            return (f"    %e = tensor.extract {bias}[%h, %i, %j] : {tensor((heads, queries, keys), element)}\n"
                    + ("    %t = arith.addf %s, %e : f32\n" if element == "f32" else f"    %term = arith.extf %e : {element} to f32\n    %t = arith.addf %s, %term : f32\n") +
                    "    swage.yield %t : f32\n")
        return ("    %ca = arith.constant 0.125 : f32\n    %cb = arith.constant 8.0 : f32\n    %less = arith.mulf %s, %ca : f32\n"
                "    %held = math.tanh %less : f32\n    %t = arith.mulf %held, %cb : f32\n    swage.yield %t : f32\n")

    def text(self):
        names, types = zip(*self.results)
        return (f"func.func @main({', '.join(self.arguments)}) -> ({', '.join(types)}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(names)} : {', '.join(types)}\n}}\n")


def runs(options, path, directory, seed):
    """swage-run with a check, and without one: what it says, and whether both left the same bits."""
    outputs = [os.path.join(directory, name) for name in ("first", "again")]
    common = [options.run, path, f"--device={options.device}", f"--seed={seed}"] + options.rest
    ran = subprocess.run(common + ["--check", f"--save-outputs={outputs[0]}"], capture_output=True, text=True)
    subprocess.run(common + [f"--save-outputs={outputs[1]}"], capture_output=True)
    files = sorted(os.listdir(outputs[0])) if os.path.isdir(outputs[0]) else []
    same = all(filecmp.cmp(*[os.path.join(output, name) for output in outputs], shallow=False) for name in files)
    return ran, bool(files) and same


def check(options):
    bad, results, weak = 0, 0, 0
    for number in range(options.first, options.first + options.count, options.each):
        rng, graph = random.Random(f"{options.seed} {number}"), Graph(portable=any(option.startswith("--arch") for option in options.rest))
        for _ in range(min(options.each, options.first + options.count - number)):
            graph.add(rng, options.most, options.queries)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "attention.mlir")
            with open(path, "w") as file:
                file.write(graph.text())
            ran, same = runs(options, path, directory, rng.randint(0, 2**31))
        accepted = ran.stdout.count(" accepted ")
        unjudged = len(re.findall(r"^\d+ .* INVALID by rule 7 ", ran.stdout, re.MULTILINE))
        results += accepted
        weak += unjudged
        print(f"from {number}: {accepted} of {len(graph.results)} accepted, {unjudged} too weak to judge", flush=True)
        if (ran.returncode and not unjudged) or accepted + unjudged != len(graph.results) or not same:
            bad += 1
            print(graph.text(), ran.stdout, ran.stderr[-4000:], "" if same else "not the same bits twice", sep="\n")
    print(f"attention: {options.count} of seed {options.seed} from {options.first}, {results} results accepted, {weak} too weak to judge, {bad} graphs were wrong")
    return bad or not results


def compare(options):
    """Beside PyTorch."""
    import numpy, torch
    failed = worse = farSums = within = 0
    for number in range(options.first, options.first + options.torch):
        rng = random.Random(f"{options.seed} torch {number}")
        name = rng.choice(["bf16", "f16", "f32"])
        type, bits, stored, digits = {"bf16": (torch.bfloat16, torch.int16, numpy.uint16, 8), "f16": (torch.float16, torch.int16, numpy.float16, 11),
                                      "f32": (torch.float32, torch.int32, numpy.float32, 24)}[name]
        dim, batch, keyHeads, group = 8 * rng.randint(2, 32), rng.randint(1, 3), rng.randint(1, 3), rng.choice([1, 1, 2, 4])
        heads, large = keyHeads * group, number % 4 == 3
        scale = dim ** -0.5 * (3000 if large else 1)
        queries, keys, causal = rng.randint(1, options.most), rng.randint(1, options.most), rng.random() < 0.5
        if causal:
            keys = queries
        torch.manual_seed(number)
        shapes = [(batch, count, length, dim) for count, length in ((heads, queries), (keyHeads, keys), (keyHeads, keys))]
        inputs = [torch.randn(shape, device="cuda").to(type) for shape in shapes]
        mask = " mask {\n  ^bb0(%b: index, %h: index, %i: index, %j: index):\n    %seen = arith.cmpi sle, %j, %i : index\n    swage.yield %seen : i1\n  }"
        types = [tensor(shape, name) for shape in shapes]
        results = f"{types[0]}, {tensor(shapes[0][:3], 'f32')}"
        text = (f"func.func @main(%q: {types[0]}, %k: {types[1]}, %v: {types[2]}) -> ({results}) {{\n"
                f"  %o, %l = swage.attention %q, %k, %v scale {scale:.9e}{mask if causal else ''} : ({', '.join(types)}) -> ({results})\n"
                f"  return %o, %l : {results}\n}}\n")
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "attention.mlir")
            with open(path, "w") as file:
                file.write(text)
            files = []
            for i, x in enumerate(inputs):
                files.append(os.path.join(directory, f"{i}.npy"))
                numpy.save(files[-1], x.view(bits).cpu().numpy().view(stored))
            ran = subprocess.run([options.run, path, f"--device={options.device}", f"--save-outputs={directory}"] + [f"--input={file}" for file in files],
                                 capture_output=True, text=True)
            if ran.returncode:
                print(text, ran.stdout, ran.stderr[-4000:], sep="\n")
                failed += 1
                continue
            result = numpy.load(os.path.join(directory, "result0.npy")).reshape(shapes[0]).view(f"i{stored().itemsize}")
            sums = torch.from_numpy(numpy.load(os.path.join(directory, "result1.npy"))).cuda().double().reshape(shapes[0][:3])
        ours = torch.from_numpy(result.copy()).view(type).cuda().double()
        q, k, v = inputs[0], *[x.repeat_interleave(group, 1) for x in inputs[1:]]
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale).double()
        q, k, v = (x.double() for x in (q, k, v))
        scores = numpy.float32(scale).item() * q @ k.transpose(2, 3)
        if causal:
            scores.masked_fill_(torch.ones(queries, keys, dtype=torch.bool, device="cuda").triu(1), -torch.inf)
        right, rightSums = scores.softmax(3) @ v, scores.logsumexp(3)
        mine, other = ((x - right).abs().max().item() for x in (ours, theirs))
        unit = 2.0 ** (int(numpy.floor(numpy.log2(right.abs().max().item()))) + 1 - digits)
        q, k, v = (x.to(type) for x in (q, k, v))
        if name == "f32":
            peer = torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, None, True, is_causal=causal, scale=scale)[1]
        else:
            peer = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, is_causal=causal, scale=scale)[1]
        far, peerFar = ((x - rightSums).abs() for x in (sums, peer[..., :queries].double()))
        units = 2.0 ** (rightSums.abs().log2().floor() - 23)
        sumUnits, peerUnits = ((x / units)[x > 1e-3].max().item() if (x > 1e-3).any() else 0 for x in (far, peerFar))
        beyond = (far > torch.clamp(4 * units, min=1e-3)).any().item()
        notes = ["WORSE"] * (not large and mine > 2 * other + unit) + ["SUMS"] * (beyond and far.max().item() > 2 * peerFar.max().item())
        within += not beyond
        worse += "WORSE" in notes
        farSums += "SUMS" in notes
        print(f"{name} {batch}x{heads} on {keyHeads}, {queries} by {keys}, d {dim}{' causal' if causal else ''}{' large' if large else ''}: error {mine:.2e}, PyTorch {other:.2e}, "
              f"unit {unit:.2e}; log-sum-exp {far.max().item():.2e}, PyTorch {peerFar.max().item():.2e}, units where beyond 1e-3 {sumUnits:.1f}, {peerUnits:.1f}", *notes)
    print(f"attention beside PyTorch: {options.torch} of seed {options.seed} from {options.first}, {failed} failed, {worse} were worse, "
          f"{within} had log-sum-exps within 1e-3 or 4 units, {farSums} more than twice as far off as PyTorch's")
    return failed + worse + farSums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--torch", type=int, default=0, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--most", type=int, default=1500)
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("rest", nargs="*", help="further options of swage-run, behind --")
    options = parser.parse_args()
    sys.exit((compare(options) if options.torch else check(options)) != 0)


if __name__ == "__main__":
    main()
