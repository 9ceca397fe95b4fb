"""Compares what the twins of the device layer declare, file by file: functions with their template parameters,
parameters and defaults, types with their members, constants with their values.  What is in the namespaces swage::ptx
and swage::simt belongs to one side and does not count.

    check_twins.py templates/swage/device
"""

import os
import re
import sys

# The machinery that only the simulator's side has.
CPU_ONLY = {"abi.cuh", "hooks.cuh", "module.cuh"}
# What only instructions need: macros, which declare nothing.
CUDA_ONLY = {"wgmma_operands.cuh"}
PRIVATE = {"ptx", "simt"}
IGNORED = {"__device__", "__forceinline__", "inline"}

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|[A-Za-z_]\w*|\.?\d(?:[\w.\']|[eEpP][+-])*|::|\.\.\.|\S')


def tokens_of(text):
    text = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    return TOKEN.findall(text)


def past(tokens, at):
    """The place behind the bracket that closes the one at `at`."""
    close = {"{": "}", "(": ")", "[": "]"}
    depth = []
    while True:
        token = tokens[at]
        if token in close:
            depth.append(close[token])
        elif depth and token == depth[-1]:
            depth.pop()
            if not depth:
                return at + 1
        at += 1


def name_behind(head, keyword):
    """`struct alignas(8) Packet<8>` -> Packet<8>"""
    rest = head[head.index(keyword) + 1 :]
    if rest and rest[0] == "class":
        rest = rest[1:]
    if rest and rest[0] == "alignas":
        rest = rest[past(rest, 1) :]
    return "".join(rest)


def declarations(tokens, at, end, scope):
    """Yields one text for each declaration in tokens[at:end]."""
    while at < end:
        if tokens[at] in (";", "public", "private", "protected"):
            at += 2 if tokens[at] != ";" else 1
            continue
        if tokens[at] == "namespace":
            open_brace = tokens.index("{", at)
            names = tokens[at + 1 : open_brace : 2]
            close = past(tokens, open_brace)
            if not PRIVATE & set(names):
                yield from declarations(tokens, open_brace + 1, close - 1, scope + "".join(n + "::" for n in names))
            at = close
            continue
        start = at
        while tokens[at] not in (";", "{"):
            at = past(tokens, at) if tokens[at] in "([" else at + 1
        head = [t for t in tokens[start:at] if t not in IGNORED]
        text = scope + " ".join(head)
        if tokens[at] == ";":
            yield text
        elif head[-1] == "=":
            close = past(tokens, at)
            yield text + " " + " ".join(tokens[at:close])
            at = close
        elif "enum" in head:
            close = past(tokens, at)
            yield text + " " + " ".join(tokens[at:close])
            at = close
        elif ("struct" in head or "class" in head) and head[-1] != ")":
            keyword = "struct" if "struct" in head else "class"
            close = past(tokens, at)
            yield text
            yield from declarations(tokens, at + 1, close - 1, scope + name_behind(head, keyword) + "::")
            at = close
        else:
            at = past(tokens, at)
            yield text
            continue
        at += 1


def declared(path):
    with open(path, encoding="utf-8") as file:
        tokens = tokens_of(file.read())
    return sorted(declarations(tokens, 0, len(tokens), ""))


def main():
    root = sys.argv[1]
    sides = {side: {f for f in os.listdir(os.path.join(root, side)) if f.endswith(".cuh")} for side in ("cuda", "cpu")}
    sides["cpu"] -= CPU_ONLY
    sides["cuda"] -= CUDA_ONLY
    failures = []
    for name in sorted(sides["cuda"] ^ sides["cpu"]):
        failures.append(f"{name}: only in {'cuda' if name in sides['cuda'] else 'cpu'}/")
    files = sorted(sides["cuda"] & sides["cpu"])
    count = 0
    for name in files:
        cuda, cpu = (declared(os.path.join(root, side, name)) for side in ("cuda", "cpu"))
        count += len(cuda)
        for text in sorted(set(cuda) | set(cpu)):
            if cuda.count(text) != cpu.count(text):
                side = "cuda" if cuda.count(text) > cpu.count(text) else "cpu"
                failures.append(f"{name}: only in {side}/: {text}")
    for failure in failures:
        print(failure)
    print(f"{len(files)} files, {count} declarations, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
