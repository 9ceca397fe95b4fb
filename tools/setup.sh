#!/usr/bin/env bash
# Installs everything that building and testing Swage needs on Debian 12 or newer: packages from apt, NVRTC from PyPI
# where there is no CUDA toolkit, and numpy from there for the tests. Safe to run again; says nothing where nothing is
# missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

packages=(
  cmake ninja-build g++ ccache lld-22 python3 python3-dev python3-pip python3-venv
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libzstd-dev zlib1g-dev libfmt-dev libxxhash-dev libgtest-dev libgmock-dev
  clang-22 libclang-rt-22-dev # the fuzz targets
)
# The simulator switches fibers by itself on x86-64 only.
[ "$(uname -m)" = x86_64 ] || packages+=(libboost-context-dev)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
# A tool that is there under another package's name is good enough.
keep=()
for package in ${missing[@]+"${missing[@]}"}; do
  case $package in
    cmake) command -v cmake >/dev/null && continue ;;
    ninja-build) command -v ninja >/dev/null && continue ;;
    g++) command -v g++ >/dev/null && continue ;;
    python3) command -v python3 >/dev/null && continue ;;
    python3-pip) python3 -m pip --version >/dev/null 2>&1 && continue ;;
    python3-venv) python3 -c 'import ensurepip, venv' >/dev/null 2>&1 && continue ;;
    python3-dev) [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>&1)/Python.h" ] && continue ;;
  esac
  keep+=("$package")
done
if ((${#keep[@]})); then
  sudo=
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: needs root to install ${keep[*]}" >&2; exit 1; }
    sudo=sudo
  fi
  echo "setup: installing ${keep[*]}"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${keep[@]}" >/dev/null
fi

# NVRTC: the toolkit's where there is one, otherwise the wheel, kept beside the build.
has_nvrtc() {
  [ -n "${SWAGE_NVRTC:-}" ] || compgen -G '/usr/local/cuda*/lib64/libnvrtc.so.1[23]' >/dev/null ||
    compgen -G '/opt/cuda/lib64/libnvrtc.so.1[23]' >/dev/null ||
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep 'libnvrtc\.so\.1[23]' >/dev/null
}
if ! has_nvrtc; then
  if [ ! -d "$root/.nvrtc" ]; then
    # NVTX is headers: with them, profilers see ranges of Swage.
    echo "setup: no CUDA toolkit; installing NVRTC and NVTX from PyPI"
    python3 -m pip install --quiet --target "$root/.nvrtc" nvidia-cuda-nvrtc nvidia-nvtx
  fi
fi

# The tests of the Python package run in an environment of their own, which finds numpy here.
numpy=$root/.python/$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ ! -d "$numpy" ]; then
  echo "setup: installing numpy from PyPI"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --target "$numpy" numpy
fi
