# The lit suite.  Tools are found in the build tree and in LLVM's own directory, never on the user's PATH; what a test
# needs beyond them is a feature: `nvrtc` (the compiler library can be opened), `gpu` (and there is a device),
# `host-compiler` (what the simulator compiles with), `fake-driver` (the stand-in of test/FakeDriver is built).

import ctypes
import glob
import os
import shutil
import site

import lit.formats

config.name = "Swage"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "lib", "gpu", "Inputs"]
config.test_source_root = os.path.dirname(__file__)

build = config.swage_binary_dir
tool_dirs = sorted(glob.glob(os.path.join(build, "tools", "*"))) + [os.path.join(build, "test", "lib")]
tool_dirs = [d for d in tool_dirs if os.path.isdir(d)] + [os.path.join(config.llvm_prefix, "bin")]
config.environment["PATH"] = os.pathsep.join(tool_dirs + [config.environment.get("PATH", "")])
# A variable of one function's checks must not leak into the next one's.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"
# Kernels compiled by one test must not be found by another.
config.environment["SWAGE_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
for name in ("SWAGE_NVRTC", "SWAGE_HOST_COMPILER", "SWAGE_CUDA_DRIVER", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%python", '"%s"' % config.python),
    ("%examples", os.path.join(config.swage_source_dir, "examples")),
    ("%source", config.swage_source_dir),
]


def opens(candidates):
    """The first of these libraries that loads, or None."""
    for name in candidates:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def nvrtc_candidates():
    """Where NVRTC may be: the environment, the linker's path, a toolkit, the wheel."""
    given = os.environ.get("SWAGE_NVRTC")
    if given:
        return sorted(glob.glob(os.path.join(given, "libnvrtc.so*"))) if os.path.isdir(given) else [given]
    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")] + sorted(glob.glob("/usr/local/cuda*"))
    folders = [os.path.join(root, sub) for root in roots if root for sub in ("lib64", "lib")]
    for packages in site.getsitepackages() + [site.getusersitepackages()]:
        folders += glob.glob(os.path.join(packages, "nvidia", "*", "lib"))
    found = [lib for folder in folders for lib in sorted(glob.glob(os.path.join(folder, "libnvrtc.so*")))]
    return ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"] + found


def device_count():
    driver = opens([os.environ.get("SWAGE_CUDA_DRIVER") or "libcuda.so.1"])
    count = ctypes.c_int(0)
    if driver is None or driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


if opens(nvrtc_candidates()):
    config.available_features.add("nvrtc")
compilers = [os.environ.get("SWAGE_HOST_COMPILER")] if os.environ.get("SWAGE_HOST_COMPILER") else ["g++", "clang++", "c++"]
host_compiler = next(filter(None, map(shutil.which, compilers)), None)
if host_compiler:
    config.available_features.add("host-compiler")
    config.substitutions.append(("%host_compiler", host_compiler))
if device_count() > 0:
    config.available_features.add("gpu")
fake_driver = os.path.join(build, "test", "Unit", "FakeDriver", "swage-fake-cuda.so")
if os.path.exists(fake_driver):
    config.available_features.add("fake-driver")
    config.substitutions.append(("%fake_driver", fake_driver))
