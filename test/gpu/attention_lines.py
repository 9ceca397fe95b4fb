#!/usr/bin/env python3
"""Attention beside attention: what score functions, windows, head dims and the layouts of caches cost.

    python3 test/gpu/attention_lines.py --bench build/tools/swage-bench/swage-bench [--only NAME,NAME] [--rounds 3] [--device sim]

Each line is a graph beside a plain one, both timed by swage-bench in the same run: the median of the rounds, how much work the
graph has of the plain one's, by how much more time than that it takes, which should be no more than the bound, and what its
kernel took to compile (0: it was in the cache). On the
simulator (--device sim) the graphs are made small and judged, not timed. Needs no torch. Exits with 1 where a bound is missed
or a result is wrong.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

GRAPHS, LINES = {}, []


def tensor(*shape):
    return f"tensor<{'x'.join(map(str, shape))}>"


def attention(name, batch, heads, key_heads, queries, keys, dim, regions="", captured=()):
    """A graph of one attention. `captured`: (name, type, attributes) of what its regions read."""
    q, k = tensor(batch, heads, queries, dim, "bf16"), tensor(batch, key_heads, keys, dim, "bf16")
    more = "".join(f", %{n}: {t}{a}" for n, t, a in captured)
    GRAPHS[name] = f"""func.func @main(%q: {q}, %k: {k}, %v: {k}{more}) -> {q} {{
  %o = swage.attention %q, %k, %v scale {dim**-0.5} {regions}: ({q}, {k}, {k}) -> {q}
  return %o : {q}
}}
"""


def line(name, plain, work, most):
    """`work`: the graph's over the plain one's; `most`: its time over that much of the plain one's. `plain` may be two
    head dims' graphs, and how far between them the work of a graph's head dim, `work`, lies.
    """
    LINES.append((name, plain, work, most))


CAUSAL = """mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    swage.yield %seen : i1
  } """


def score_functions(length):
    shape = 4, 16, 16, length, length, 128
    attention("causal", *shape, regions=CAUSAL)
    ids = tensor(4, length, "i32")
    captured = [
        ("ids", ids, " {swage.range = array<i64: 7, 7>}"),
        ("slopes", tensor(16, "f32"), ""),
        ("prefix", tensor(1, "i32"), " {swage.range = array<i64: 0, 0>}"),
    ]
    distance = """    %slope = tensor.extract %slopes[%h] : tensor<16xf32>
    %apart = arith.subi %j, %i : index
    %apart32 = arith.index_cast %apart : index to i32
    %distance = arith.sitofp %apart32 : i32 to f32
    %bias = arith.mulf %slope, %distance : f32
"""
    bound = """    %less = arith.constant 0.02 : f32
    %more = arith.constant 50.0 : f32
    %small = arith.mulf %s, %less : f32
    %held = math.tanh %small : f32
    %bounded = arith.mulf %held, %more : f32
"""
    mask = f"""mask {{
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %mine = tensor.extract %ids[%b, %i] : {ids}
    %of = tensor.extract %ids[%b, %j] : {ids}
    %same = arith.cmpi eq, %mine, %of : i32
    %zero = arith.constant 0 : index
    %length = tensor.extract %prefix[%zero] : tensor<1xi32>
    %at = arith.index_cast %j : index to i32
    %early = arith.cmpi slt, %at, %length : i32
    %before = arith.cmpi sle, %j, %i : index
    %either = arith.ori %early, %before : i1
    %seen = arith.andi %same, %either : i1
    swage.yield %seen : i1
  }} """
    for name, first, value, most in (("function", "", "%s", 0.85), ("function_tanh", bound, "%bounded", 0.75)):
        score = f"""score {{
  ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
{first}{distance}    %sum = arith.addf {value}, %bias : f32
    swage.yield %sum : f32
  }} """
        attention(name, *shape, regions=score + mask, captured=captured)
        line(name, "causal", 1, 1 / most)


def windows(length, window):
    shape = 1, 16, 16, length, length, 128
    attention("long", *shape)
    attention(
        "window",
        *shape,
        regions=f"""mask {{
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %window = arith.constant {window} : index
    %end = arith.addi %j, %window : index
    %after = arith.cmpi sgt, %end, %i : index
    %before = arith.cmpi sle, %j, %i : index
    %seen = arith.andi %after, %before : i1
    swage.yield %seen : i1
  }} """,
    )
    # Of blocks of 128 queries and 128 keys, those that a window reaches.
    line("window", "long", (min(window, length) // 128 + 1) / (length // 128), 1 / 0.8)


def head_dims(length):
    def size(dim):
        return 4, 16, 16, length, length, dim

    for dim in (64, 128):
        attention(f"d{dim}", *size(dim))
    for dim in (72, 80, 96, 112):
        attention(f"d{dim}", *size(dim))
        line(f"d{dim}", ("d64", "d128", (dim - 64) / 64), dim, 1 / 0.9)


def faster_transformer(name, batch, heads, key_heads, keys, dim):
    q, k = tensor(batch, heads, 1, dim, "bf16"), tensor(batch, key_heads, keys, dim, "bf16")
    cache = tensor(batch, key_heads, dim // 8, keys, 8, "bf16")
    turned = tensor(batch, key_heads, keys, dim // 8, 8, "bf16")
    GRAPHS[name] = f"""func.func @main(%q: {q}, %cache: {cache}, %v: {k}) -> {q} {{
  %turned = swage.permute %cache [0, 1, 3, 2, 4] : {cache} -> {turned}
  %k = swage.reshape %turned : {turned} -> {k}
  %o = swage.attention %q, %k, %v scale {dim**-0.5} : ({q}, {k}, {k}) -> {q}
  return %o : {q}
}}
"""


def paged(name, batch, heads, key_heads, keys, dim, page):
    pages = batch * keys // page
    q, k = tensor(batch, heads, 1, dim, "bf16"), tensor(batch, key_heads, keys, dim, "bf16")
    pool, table = tensor(pages, key_heads, page, dim, "bf16"), tensor(batch, keys // page, "i32")
    GRAPHS[name] = f"""func.func @main(%q: {q}, %ks: {pool}, %vs: {pool}, %table: {table} {{swage.range = array<i64: 0, {pages - 1}>}}) -> {q} {{
  %k = swage.pages %ks, %table : ({pool}, {table}) -> {k}
  %v = swage.pages %vs, %table : ({pool}, {table}) -> {k}
  %o = swage.attention %q, %k, %v scale {dim**-0.5} : ({q}, {k}, {k}) -> {q}
  return %o : {q}
}}
"""


def caches(scale):
    shapes = [(16, 32, 8, 4096, 128), (64, 32, 8, 4096, 128), (1, 32, 8, 8192, 128), (64, 8, 8, 1024, 64), (8, 8, 8, 1024, 64)]
    for i, (batch, heads, key_heads, keys, dim) in enumerate(shapes):
        keys = max(keys // scale, 64)
        batch = max(batch // scale, 1)
        attention(f"step{i}", batch, heads, key_heads, 1, keys, dim)
        faster_transformer(f"ft{i}", batch, heads, key_heads, keys, dim)
        line(f"ft{i}", f"step{i}", 1, 1.05)
        if i in (0, 1, 3):
            for page in (16, 64):
                paged(f"pages{i}_{page}", batch, heads, key_heads, keys, dim, page)
                line(f"pages{i}_{page}", f"step{i}", 1, 1.04)
    # One sequence is 64 times longer than the 63 others; beside as many of the mean length.
    long, short, batch = 16384 // scale, max(256 // scale, 16), max(64 // scale, 2)
    mean = (long + (batch - 1) * short) // batch
    for heads, key_heads, dim in ((32, 8, 128), (8, 8, 64)):
        attention(
            f"skewed_d{dim}",
            batch,
            heads,
            key_heads,
            1,
            long,
            dim,
            regions=f"""mask {{
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %long = arith.constant {long} : index
    %short = arith.constant {short} : index
    %zero = arith.constant 0 : index
    %isLong = arith.cmpi eq, %b, %zero : index
    %length = arith.select %isLong, %long, %short : index
    %seen = arith.cmpi slt, %j, %length : index
    swage.yield %seen : i1
  }} """,
        )
        attention(f"even_d{dim}", batch, heads, key_heads, 1, mean, dim)
        line(f"skewed_d{dim}", f"even_d{dim}", 1, 1 / 0.85)
    for dim in (100, 104):
        attention(f"step_d{dim}", max(64 // scale, 1), 8, 8, 1, 2048 // scale, dim)
    line("step_d100", "step_d104", 100 / 104, 1 / 0.8)


def times(options, directory):
    names = sorted({n for name, plain, *_ in LINES for n in (name, *(plain[:2] if isinstance(plain, tuple) else (plain,)))})
    for name in names:
        (directory / f"{name}.mlir").write_text(GRAPHS[name])
    (directory / "cases.txt").write_text("".join(f"graph {name}.mlir\n" for name in names))
    command = [options.bench, f"--cases={directory / 'cases.txt'}", f"--json={directory / 'out.json'}", f"--device={options.device}"]
    if options.device == "sim":
        done = subprocess.run(command + ["--check"], capture_output=True, text=True)
        print(done.stdout + done.stderr)
        return None if done.returncode else {}
    found = {name: [] for name in names}
    for _ in range(options.rounds):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for record in json.loads((directory / "out.json").read_text()):
            found[pathlib.Path(record["case"]).stem].append(record)
    return {name: (statistics.median(r["us"] for r in records), max(r.get("compile_ms", 0) for r in records)) for name, records in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the executable swage-bench")
    parser.add_argument("--only", help="lines, with commas between")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=("gpu", "sim"), default="gpu")
    options = parser.parse_args()
    small = options.device == "sim"
    score_functions(256 if small else 4096)
    windows(512 if small else 32768, 128 if small else 1024)
    head_dims(128 if small else 4096)
    caches(16 if small else 1)
    if options.only:
        LINES[:] = [entry for entry in LINES if entry[0] in options.only.split(",")]
    with tempfile.TemporaryDirectory() as directory:
        found = times(options, pathlib.Path(directory))
    if not found:
        return 1 if found is None else 0
    compiled = {name: ms for name, (_, ms) in found.items()}
    found = {name: us for name, (us, _) in found.items()}
    missed = 0
    print(f"{'graph':16} {'us':>10} {'beside':>12} {'us':>10} {'work':>7} {'takes':>7} {'bound':>7} {'compile':>8}")
    for name, plain, work, most in LINES:
        if isinstance(plain, tuple):  # between two head dims, by their products in a microsecond
            low, high, part = plain
            rate = (1 - part) * 64 / found[low] + part * 128 / found[high]
            beside, us = f"{low}, {high}", work / rate
            work = 1
        else:
            beside, us = plain, found[plain]
        takes = found[name] / us / work
        missed += takes > most
        print(
            f"{name:16} {found[name]:10.2f} {beside:>12} {us:10.2f} {work:7.4f} {takes:7.3f} {most:7.3f} {compiled[name]:5.0f} ms"
            + ("  missed" if takes > most else "")
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
