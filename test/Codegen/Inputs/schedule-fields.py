"""Edits one field of each schedule at a time and compares the bodies of the generated files."""

import re
import subprocess
import sys

opt, translate, source = sys.argv[1:]

# Edits that stay valid; a pair of fields goes together where one alone would not fit the kernel.
EDITS = {
    "pointwise": ["threads = 256:threads = 128", "vector = 8:vector = 4", "unroll = 1:unroll = 2", "index = 32:index = 64"],
    "runs": ["threads = 256:threads = 128", "movement = 16:movement = 8", "unroll = 1:unroll = 2", "index = 32:index = 64"],
    "tiles": ["threads = 256:threads = 128", "tile_in = 64:tile_in = 32 and threads = 256:threads = 128",
              "tile_out = 64:tile_out = 32 and threads = 256:threads = 128",
              "vector_in = 4:vector_in = 2", "vector_out = 4:vector_out = 2", "index = 32:index = 64"],
    "row": ["vector = 8:vector = 4 and vectors_per_thread = 2:vectors_per_thread = 4", "kind = block:kind = looped",
            "threads_per_row = 512:threads_per_row = 256 and vectors_per_thread = 2:vectors_per_thread = 4",
            "index = 32:index = 64", "index = 32:index = 32, blocks_per_row = 2",
            "index = 32:index = 32, bypass_l1 = true",
            "index = 32:index = 32, staged = true",
            "kind = block:kind = looped and index = 32:index = 32, staged = true",
            "kind = block:kind = looped and index = 32:index = 32, staged = true, shelved_steps = 1"],
    "reduce": ["lanes = \\d+:lanes = 2", "row_groups = \\d+:row_groups = 64", "vector = \\d+:vector = 4",
               "unroll = \\d+:unroll = 3", "index = 32:index = 64"],
}


def run(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def body(module):
    """The kernel without its comments, which quote the schedule."""
    prepared = run([opt, "--swage-prepare-for-emission"], module)
    cuda = run([translate, "--swage-to-cuda"], prepared)
    return re.sub(r" *//.*", "", cuda)


functions = {m[1]: m[0] for m in re.finditer(r"func\.func @(\w+).*?\n}\n", open(source).read(), re.S)}
stages = ("builtin.module(func.func(swage-infer-shapes),canonicalize,cse,swage-fuse,cse,"
          "swage-merge-dimensions,swage-select-schedule)")
for name, edits in EDITS.items():
    scheduled = run([opt, "--pass-pipeline=" + stages], functions[name])
    texts = {"as selected": body(scheduled)}
    schedule = re.search(r"schedule (#swage\.\w+<.*?>)", scheduled)[1]
    for edit in edits:
        edited = schedule
        for change in edit.split(" and "):
            before, after = change.split(":")
            edited, count = re.subn(r"\b" + before + r"\b", after, edited)
            assert count == 1, f"{name}: no '{before}' in {schedule}"
        text = body(scheduled.replace(schedule, edited))
        same = [other for other, known in texts.items() if known == text]
        assert not same, f"{name}: '{edit}' prints the same as '{same[0]}'"
        texts[edit] = text
