#!/usr/bin/env bash
# Builds everything and runs every test that this machine can run; GPU tests skip themselves where there is no GPU.
set -euo pipefail
. "$(dirname "$0")/build.sh" all
cd "$build"
exec ctest --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
