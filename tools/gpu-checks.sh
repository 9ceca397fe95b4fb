#!/usr/bin/env bash
# Everything that only a GPU can show: tools/gpu-checks.sh BUILD_DIR [OUT_DIR] [SEEDS]. Needs the executables, a driver and
# NVRTC, no LLVM. Logs and records go to OUT_DIR; a table of what passed comes last.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:?usage: tools/gpu-checks.sh BUILD_DIR [OUT_DIR] [SEEDS]}
out=${2:-gpu-checks}
seeds=${3:-300}
mkdir -p "$out"
export SWAGE_CACHE_DIR=${SWAGE_CACHE_DIR:-$out/cache}
find_tool() { find "$build" -type f -perm -u+x -name "$1" | head -n 1; }
tests=$(find_tool swage-gpu-tests)
run=$(find_tool swage-run)
rows=()
failed=0
check() { # NAME COMMAND...: runs it, keeps the log, notes the outcome
  local name=$1 start=$SECONDS status
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$out/$name.log"
  status=${PIPESTATUS[0]}
  [ "$status" -eq 77 ] && status=skipped
  [ "$status" = 0 ] || [ "$status" = skipped ] || failed=1
  rows+=("$(printf '%-14s %-8s %4d s  %s' "$name" "$([ "$status" = 0 ] && echo ok || echo "$status")" $((SECONDS - start)) \
    "$(tail -n 1 "$out/$name.log" | cut -c1-100)")")
}
# swage-simt-tests record BUILD_DIR/wrappers.rec test/Wrappers keeps what the simulator computes for a machine without a
# compiler.
recorded=$build/wrappers.rec
check wrappers "$tests" wrappers --root="$root" $([ -e "$recorded" ] && echo "--recorded=$recorded --seeds=1")
check random "$tests" random "$seeds"
check numerics "$tests" numerics
check latency "$tests" latency
check bench "$(find_tool swage-bench)" --json="$out/swage.json" --svg="$out/swage.svg"
check fusions "$(find_tool swage-bench)" --cases="$root/test/gpu/Fusions/checked.txt" --check
check permutes "$(find_tool swage-bench)" --cases="$root/test/gpu/Permutes/checked.txt" --check
for model in gpt2_block llama_block; do
  check "$model" "$run" "$root/examples/$model.mlir" --check --benchmark --json "$out/$model.json"
done
check runtime "$(find_tool swage-runtime-gpu-tests)"
echo
printf '%s\n' "${rows[@]}"
exit $failed
