"""Installs Swage into a temporary prefix, moves it, and builds and runs host programs against it.

    install_test.py --build BUILD --source SOURCE [--llvm PREFIX] [--configuration NAME] [unittest arguments]

Everything runs on the simulator: no GPU, and no NVRTC, is needed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# Larger than today's by half: what makes the libraries grow should be noticed.
SIZE_LIMITS = {"libswage.so": 18 << 20, "libswage_runtime.so": 3 << 20}
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# LLVM's, for compressed sections of object files.
LLVM_LIBRARIES = {"libz.so.1", "libzstd.so.1"}

options = argparse.Namespace()


def run(*command, environment=None, fails=False):
    """The output of a command that succeeds, or, with `fails`, that fails."""
    result = subprocess.run([str(part) for part in command], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if (result.returncode != 0) != fails:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stdout}")
    return result.stdout


def setUpModule():
    options.root = tempfile.mkdtemp(prefix="swage-install-")
    unittest.addModuleCleanup(shutil.rmtree, options.root)
    first = os.path.join(options.root, "first")
    for component in ("libraries", "development"):
        run("cmake", "--install", options.build, "--prefix", first, "--component", component)
    # Nothing may remember where it was installed.
    options.prefix = os.path.join(options.root, "prefix")
    os.rename(first, options.prefix)
    options.lib = os.path.dirname(find("libswage.so"))
    options.environment = dict(
        os.environ, SWAGE_CUDA_DRIVER="/nonexistent/libcuda.so", SWAGE_CACHE_DIR=os.path.join(options.root, "cache"),
        PKG_CONFIG_PATH=os.path.join(options.lib, "pkgconfig"))


def find(name):
    for directory, _, files in os.walk(options.prefix):
        if name in files:
            return os.path.join(directory, name)
    raise AssertionError(f"{name} is not installed")


def headers():
    root = os.path.join(options.prefix, "include")
    return sorted(os.path.relpath(os.path.join(directory, name), root)
                  for directory, _, files in os.walk(root) for name in files)


def pkg_config(package):
    return run("pkg-config", "--cflags", "--libs", package, environment=options.environment).split()


class Hosts(unittest.TestCase):
    def cmake(self, source, *arguments, fails=False):
        build = os.path.join(options.root, "build-" + self.id().split(".")[-1])
        output = run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={options.prefix}", *arguments,
                     fails=fails)
        return output if fails else (run("cmake", "--build", build), build)[1]

    def test_cpp_by_cmake(self):
        build = self.cmake(os.path.join(options.source, "examples/embed"))
        output = run(os.path.join(build, "swage-embed"), environment=options.environment)
        self.assertIn("4 rows: 1 + 1 = 2", output)
        self.assertIn("100 rows: 1 + 1 = 2", output)

    def test_c_by_cmake(self):
        build = self.cmake(os.path.join(options.source, "examples/c"))
        self.assertIn("-1.0000 1.0000", run(os.path.join(build, "host"), environment=options.environment))

    def test_other_version_by_cmake(self):
        source = os.path.join(options.root, "other-version")
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.22)\nproject(Other LANGUAGES C)\n"
                       "find_package(Swage 99 REQUIRED)\n")
        self.assertIn('requested version "99"', self.cmake(source, fails=True))

    def test_inside_of_another_project(self):
        source = os.path.join(options.root, "another")
        os.mkdir(source)
        with open(os.path.join(source, "CMakeLists.txt"), "w") as file:
            file.write("cmake_minimum_required(VERSION 3.22)\nproject(Another LANGUAGES C CXX)\nenable_testing()\n"
                       f"add_subdirectory({options.source} swage)\n"
                       "get_target_property(type Swage::swage TYPE)\nmessage(STATUS \"Swage::swage: ${type}\")\n"
                       "foreach(name swage-opt swage-run swage-embed swage-runtime-tests)\n"
                       "  if(TARGET ${name})\n    message(FATAL_ERROR \"${name} came along\")\n  endif()\nendforeach()\n")
        build = os.path.join(options.root, "another-build")
        output = run("cmake", "-G", "Ninja", "-S", source, "-B", build)
        self.assertIn("Swage::swage: SHARED_LIBRARY", output)
        self.assertIn("Total Tests: 0", run("ctest", "--test-dir", build, "-N"))
        self.assertNotIn("swage", run("cmake", "--install", build, "--prefix", build + "/nothing"))

    def compile_c(self, name, package):
        program = os.path.join(options.root, name)
        run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror",
            os.path.join(options.source, "examples/c", name + ".c"), *pkg_config(package),
            f"-Wl,-rpath,{options.lib}", "-o", program)
        return program

    def test_c_and_its_bundle_by_pkg_config(self):
        bundle = os.path.join(options.root, "norm.swage")
        output = run(self.compile_c("host", "swage"), bundle, environment=options.environment)
        self.assertIn("-1.0000 1.0000", output)
        self.assertIn("for sim:sm_90a", output)
        # Of the compilers there is nothing left, and of the cache neither.
        bare = dict(options.environment, SWAGE_HOST_COMPILER="/nonexistent/c++", SWAGE_CACHE="off")
        loader = self.compile_c("bundle", "swage-runtime")
        self.assertIn("-1.0000 1.0000", run(loader, bundle, "simulator", environment=bare))
        with open(bundle, "r+b") as file:
            file.truncate(os.path.getsize(bundle) - 1)
        self.assertIn("load error", run(loader, bundle, "simulator", environment=bare, fails=True))

    @unittest.skipUnless(shutil.which("c++"), "no c++")
    def test_beside_another_llvm(self):
        if not os.path.exists(os.path.join(options.llvm, "lib/libMLIR.so")):
            self.skipTest("no libMLIR.so")
        program = os.path.join(options.root, "beside_llvm")
        run("c++", "-std=c++17", "-fno-rtti", os.path.join(options.source, "test/Install/beside_llvm.cpp"),
            f"-I{options.prefix}/include", f"-I{options.llvm}/include", f"-L{options.llvm}/lib", "-lMLIR", "-lLLVM",
            "-ldl", f"-Wl,-rpath,{options.llvm}/lib", "-o", program)
        for order in ("swage-first", "llvm-first"):
            self.assertIn("both work", run(program, os.path.join(options.lib, "libswage.so"), order,
                                           environment=options.environment), order)


class Headers(unittest.TestCase):
    def test_stand_alone(self):
        unit = os.path.join(options.root, "alone.cpp")
        for header in headers():
            with open(unit, "w") as file:
                file.write(f'#include "{header}"\n')
            run("c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{options.prefix}/include", unit)

    def test_need_nothing_else(self):
        for header in headers():
            with open(os.path.join(options.prefix, "include", header)) as file:
                for included in re.findall(r'#include [<"]([^>"]*/[^>"]*)[>"]', file.read()):
                    self.assertIn(included, headers(), f"{header} includes {included}")


class Libraries(unittest.TestCase):
    def test_export_only_ours(self):
        for name in SIZE_LIMITS:
            symbols = run("nm", "-D", "--defined-only", find(name)).splitlines()
            exported = {line.split()[2].split("@")[0] for line in symbols} - {"SWAGE_0"}
            self.assertIn("swageProgramRun", exported)
            foreign = [symbol for symbol in exported
                       if not re.match(r"swage[A-Z]|_ZNK?5swage|_ZT[ISV]N5swage", symbol)]
            self.assertEqual(foreign, [], name)

    def test_export_the_whole_header(self):
        with open(os.path.join(options.prefix, "include/swage-c/Swage.h")) as file:
            declared = set(re.findall(r"SWAGE_C_API [^;(]*?(swage\w+)\(", file.read()))
        self.assertGreater(len(declared), 50)
        for name, missing in (("libswage.so", set()), ("libswage_runtime.so", {"swageProgramParse"})):
            symbols = run("nm", "-D", "--defined-only", find(name))
            self.assertEqual(declared - set(re.findall(r"\b(swage\w+)", symbols)), missing, name)

    def test_need_only_the_system(self):
        for name, more in (("libswage.so", LLVM_LIBRARIES), ("libswage_runtime.so", set())):
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", find(name))))
            self.assertLessEqual(needed, SYSTEM_LIBRARIES | more, name)

    def test_runtime_has_no_compiler(self):
        text = run("strings", "-a", find("libswage_runtime.so"))
        for word in ("nvrtcCompileProgram", "builtin.module", "LLVM ERROR"):
            self.assertNotIn(word, text)

    def test_sizes(self):
        if options.configuration != "Release":
            self.skipTest(f"the limits are for Release, this is {options.configuration}")
        stripped = os.path.join(options.root, "stripped")
        for name, limit in SIZE_LIMITS.items():
            run("strip", "-o", stripped, find(name))
            print(f"{name}: {os.path.getsize(stripped)} bytes stripped")
            self.assertLess(os.path.getsize(stripped), limit, name)

    def test_soname(self):
        for name in SIZE_LIMITS:
            self.assertRegex(run("readelf", "-d", find(name)), r"SONAME.*\[" + re.escape(name) + r"\.\d+\]")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--llvm", default="")
    parser.add_argument("--configuration", default="Release")
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
