#!/usr/bin/env bash
# The main job, from an empty machine: builds Swage and runs the memory-bound part of a GPT-2 block, checked against the
# reference. Without a GPU the same kernels run on the simulator, one sequence of 1024 tokens instead of eight.
set -euo pipefail
. "$(dirname "$0")/build.sh" swage-run
model=$root/examples/gpt2_block.mlir
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
  echo "no GPU: batch 1 instead of 8 (build/gpt2_block.mlir)"
  sed 's/tensor<8x/tensor<1x/g; s/batch 8/batch 1/' "$model" >"$build/gpt2_block.mlir"
  model=$build/gpt2_block.mlir
fi
exec "$build/tools/swage-run/swage-run" "$model" --entry=main --check --benchmark "$@"
