#!/usr/bin/env python3
"""The graphs of test/Run on a GPU: each command of theirs that judges a graph, without the simulator's options.

    python3 test/gpu/run_graphs.py --run build/tools/swage-run/swage-run [--only attention] [--workers 8]

What it does not run: commands for another architecture, and commands of several steps. Needs no torch.
Prints what failed with its output, one line of counts last; exits with 1 if anything did.
"""

import argparse
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands(path):
    """The arguments of swage-run in the RUN lines of a test, as far as they are for a GPU too."""
    for line in re.findall(r"^// RUN: (.*)$", path.read_text(), re.M):
        command = line.split("|")[0].strip()
        if not command.startswith("swage-run ") or " --check" not in command or "&&" in command or ">" in command or "%t" in command:
            continue
        words = shlex.split(command.replace("%s", str(path)).replace("%examples", str(ROOT / "examples")))[1:]
        if not any(word.startswith("--arch=") for word in words):
            yield tuple(word for word in words if not word.startswith(("--device=", "--sim=")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True, help="the executable swage-run")
    parser.add_argument("--only", default="", help="what a test's name begins with")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--device", choices=("gpu", "sim"), default="gpu")
    options = parser.parse_args()
    found = {}
    for path in sorted((ROOT / "test/Run").glob(f"{options.only}*.mlir")):
        for words in commands(path):
            found.setdefault(words, path.name)

    def judge(words):
        done = subprocess.run([options.run, *words, f"--device={options.device}"], capture_output=True, text=True)
        return words, done.returncode, done.stdout + done.stderr

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for words, status, output in pool.map(judge, found):
            if status:
                failed += 1
                print("FAILED", found[words], *words[1:])
                print("\n".join(line[:240] for line in output.splitlines()[-12:]))
    print(f"{len(found)} commands of {len(set(found.values()))} tests, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
