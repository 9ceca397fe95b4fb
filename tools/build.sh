#!/usr/bin/env bash
# Sets up the machine, configures and builds: tools/build.sh [TARGET...]. Sourced, it leaves `root` and `build`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh"
build=$root/build
[ -d "$root/.nvrtc" ] && export SWAGE_NVRTC=${SWAGE_NVRTC:-$root/.nvrtc}
log=$root/build-log.txt
(cd "$root" && cmake --preset release) >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
echo "building (log: build-log.txt)"
cmake --build "$build" --target "${@:-all}" >>"$log" 2>&1 || { grep -nE 'error|FAILED' "$log" | head -n 40; exit 1; }
