#!/usr/bin/env bash
# The main job, from an empty machine: builds Swage and runs the memory-bound part of a GPT-2 block, checked against the
# reference. Without a GPU it compiles every kernel and prints the table without times.
set -euo pipefail
. "$(dirname "$0")/build.sh" swage-run
exec "$build/tools/swage-run/swage-run" "$root/examples/gpt2_block.mlir" --entry=main --check --benchmark "$@"
