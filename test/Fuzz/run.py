#!/usr/bin/env python3
"""Builds the fuzz targets and runs each of them on its kept corpus and then on what it makes of it.

Fails with the input that breaks a promise, and how to run it again.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))


def build(directory):
    """Configures and builds; the log only where that fails."""
    for command in (
        ["cmake", "--preset", "fuzz", "-S", root, "-B", directory],
        ["cmake", "--build", directory, "--target", "fuzzers"],
    ):
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(done.stdout[-8000:])


def start(fuzzer, options, work):
    """One fuzzer, writing what it finds into directories of its own."""
    name = os.path.basename(fuzzer)
    found = os.path.join(options.corpus or work, name)
    artifacts = os.path.join(options.artifacts, name) + "-"
    os.makedirs(found, exist_ok=True)
    os.makedirs(options.artifacts, exist_ok=True)
    kept = os.path.join(here, "Corpus", name)
    dictionary = os.path.join(here, name + ".dict")
    command = [fuzzer, f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=16384",
               "-print_final_stats=1", f"-artifact_prefix={artifacts}"]
    command += [f"-dict={dictionary}"] if os.path.exists(dictionary) else []
    command += [found] + ([kept] if os.path.isdir(kept) else [])
    log = open(os.path.join(work, name + ".log"), "w+", errors="replace")
    return name, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT), log


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(root, "build-fuzz"), help="build directory")
    parser.add_argument("--seconds", type=int, default=60, help="that each target runs")
    parser.add_argument("--corpus", help="keeps what adds coverage in DIR/<target>; otherwise it is thrown away")
    parser.add_argument("--artifacts", default="fuzz-failures", help="receives inputs that fail")
    parser.add_argument("targets", nargs="*", help="all by default")
    options = parser.parse_args()
    if not shutil.which("clang++-22"):
        sys.exit("fuzz: clang++-22 is not here; tools/setup.sh installs it")
    build(options.build)

    folder = os.path.join(options.build, "fuzzers")
    names = options.targets or sorted(os.listdir(folder))
    failed = False
    with tempfile.TemporaryDirectory() as work:
        for name, process, log in [start(os.path.join(folder, name), options, work) for name in names]:
            code = process.wait()
            log.seek(0)
            text = log.read()
            runs = re.search(r"number_of_executed_units: (\d+)", text)
            coverage = re.findall(r"cov: (\d+)", text)
            print(f"fuzz: {name}: {runs.group(1) if runs else '?'} inputs, {coverage[-1] if coverage else '?'} edges")
            if code:
                failed = True
                print(text[-6000:])
                print(f"fuzz: {name} failed; {os.path.join(folder, name)} FILE runs one input again")
    return failed


if __name__ == "__main__":
    sys.exit(main())
