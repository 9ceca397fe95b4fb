"""Random attention: graphs of a seed, each judged by swage-run against the f64 reference.

    python3 attention.py --run path/to/swage-run [--count 500] [--seed 1] [--device gpu|sim] [--most 1500] [--each 10]

Element types, head dims (8 to 256 by 8, values' their own now and then), heads and those that share keys, lengths of 1 to
`most`, operands as [batch, head, position, dim] or in the order of a projection, masks (none, causal to either corner,
windows, lengths, documents), score functions (none, a bias by distance, a bias for each score, a bound by tanh), with and
without log-sum-exp. Prints what was not accepted with its text, and one line of counts; fails if there is anything."""
import argparse, os, random, subprocess, sys, tempfile


def tensor(shape, element):
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


class Graph:
    """Some attention ops of one function."""

    def __init__(self):
        self.arguments, self.lines, self.results = [], [], []

    def argument(self, shape, element):
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {tensor(shape, element)}")
        return name

    def operand(self, rng, number, batch, heads, length, dim, element):
        shape = (batch, heads, length, dim)
        if rng.random() < 0.5:
            return self.argument(shape, element)
        stored = (batch, length, heads, dim)
        x = self.argument(stored, element)
        self.lines.append(f"  %p{number} = swage.permute {x} [0, 2, 1, 3] : {tensor(stored, element)} -> {tensor(shape, element)}")
        return f"%p{number}"

    def add(self, rng, most):
        n = len(self.results)
        element = rng.choice(["bf16", "f16"])
        dim = 8 * rng.randint(1, 32)
        value = dim if rng.random() < 0.7 else 8 * rng.randint(1, 32)
        batch, keyHeads, group = rng.randint(1, 3), rng.randint(1, 3), rng.choice([1, 1, 2, 4])
        heads = keyHeads * group
        length = lambda: rng.randint(1, most) if rng.random() < 0.5 else rng.randint(1, min(most, 200))
        queries, keys = length(), length()
        q = self.operand(rng, f"{n}q", batch, heads, queries, dim, element)
        k = self.operand(rng, f"{n}k", batch, keyHeads, keys, dim, element)
        v = self.operand(rng, f"{n}v", batch, keyHeads, keys, value, element)
        coordinates = "%b: index, %h: index, %i: index, %j: index"
        mask, score = self.mask(rng, batch, queries, keys), self.score(rng, heads, queries, keys, element)
        regions = (f" score {{\n  ^bb0(%s: f32, {coordinates}):\n{score}  }}" if score else "") + \
                  (f" mask {{\n  ^bb0({coordinates}):\n{mask}    swage.yield %seen : i1\n  }}" if mask else "")
        types = f"({tensor((batch, heads, queries, dim), element)}, {tensor((batch, keyHeads, keys, dim), element)}, {tensor((batch, keyHeads, keys, value), element)})"
        result, sums = tensor((batch, heads, queries, value), element), tensor((batch, heads, queries), "f32")
        if rng.random() < 0.5:
            self.lines.append(f"  %o{n} = swage.attention {q}, {k}, {v} scale {dim ** -0.5:e}{regions} : {types} -> {result}")
            self.results.append((f"%o{n}", result))
        else:
            self.lines.append(f"  %o{n}, %l{n} = swage.attention {q}, {k}, {v} scale {dim ** -0.5:e}{regions} : {types} -> ({result}, {sums})")
            self.results += [(f"%o{n}", result), (f"%l{n}", sums)]

    def mask(self, rng, batch, queries, keys):
        kind = rng.choice(["none", "causal", "last", "window", "lengths", "documents"])
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
            lengths = self.argument((batch,), "i32")
            return (f"    %length = tensor.extract {lengths}[%b] : {tensor((batch,), 'i32')}\n    %cm = arith.constant {keys // 2 + 1} : i32\n"
                    "    %some = arith.addi %length, %cm : i32\n    %at = arith.index_cast %j : index to i32\n"
                    "    %seen = arith.cmpi slt, %at, %some : i32\n")
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
                    f"    %term = arith.extf %e : {element} to f32\n    %t = arith.addf %s, %term : f32\n    swage.yield %t : f32\n")
        return ("    %ca = arith.constant 0.125 : f32\n    %cb = arith.constant 8.0 : f32\n    %less = arith.mulf %s, %ca : f32\n"
                "    %held = math.tanh %less : f32\n    %t = arith.mulf %held, %cb : f32\n    swage.yield %t : f32\n")

    def text(self):
        names, types = zip(*self.results)
        return (f"func.func @main({', '.join(self.arguments)}) -> ({', '.join(types)}) {{\n" + "\n".join(self.lines) +
                f"\n  return {', '.join(names)} : {', '.join(types)}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--most", type=int, default=1500)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("rest", nargs="*", help="further options of swage-run, behind --")
    options = parser.parse_args()
    rng, done, bad, results = random.Random(options.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        while done < options.count:
            graph = Graph()
            for _ in range(min(options.each, options.count - done)):
                graph.add(rng, options.most)
                done += 1
            path = os.path.join(directory, "attention.mlir")
            with open(path, "w") as file:
                file.write(graph.text())
            ran = subprocess.run([options.run, path, "--check", f"--device={options.device}", f"--seed={rng.randint(0, 2**31)}"] + options.rest,
                                 capture_output=True, text=True)
            accepted = ran.stdout.count(" accepted ")
            results += accepted
            if ran.returncode or accepted != len(graph.results):
                bad += 1
                print(graph.text(), ran.stdout, ran.stderr[-4000:], sep="\n")
    print(f"attention: {done} of seed {options.seed}, {results} results accepted, {bad} graphs were not")
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()
