"""Runs `swage-opt` over the random graphs of a range of seeds: check.py GENERATOR OPT FIRST COUNT [OPTION ...].

Each graph must be accepted, each must be printed the same for the same seed, and what the options make of it
(by default --canonicalize --cse) must be accepted again.
"""

import shutil
import subprocess
import sys


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: exit code %d\n%s\n%s" % (" ".join(command), done.returncode, done.stderr[:2000], text or ""))
    return done.stdout


generator, opt = (shutil.which(name) or sys.exit("no " + name) for name in sys.argv[1:3])
first, count = int(sys.argv[3]), int(sys.argv[4])
options = sys.argv[5:] or ["--canonicalize", "--cse"]
for seed in range(first, first + count):
    graph = run([generator, str(seed)])
    if graph != run([generator, str(seed)]):
        sys.exit("seed %d gives two graphs" % seed)
    if "return" not in graph or "-> ()" in graph:
        sys.exit("seed %d gives no results" % seed)
    run([opt, "-"], run([opt, "-"] + options, graph))
print("%d graphs" % count)
