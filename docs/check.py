#!/usr/bin/env python3
"""Fails where GUARANTEES.md or SECURITY.md names a test that does not exist.

A test is named `Suite.Name` (GoogleTest), by its file (`test/...`, `file.py::test_name` for one of several), or as ctest has it.
"""

import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


sources = [path for pattern in ("test", "python") for path in glob.glob(f"{root}/{pattern}/**/*.cpp", recursive=True)]
gtests = {".".join(found) for path in sources for found in re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", read(path))}
lists = [path for path in glob.glob(f"{root}/**/CMakeLists.txt", recursive=True) if "/build" not in path]
ctests = {name for path in lists for name in re.findall(r"(?:add_test\(NAME|swage_unit_test\()\s*([\w-]+)", read(path))}
ctests |= {"simt-" + name for path in lists for name in re.findall(r"^simt_test\((\w[\w-]*)", read(path), re.M)}
for path in lists:
    for names in re.findall(r"^foreach\(test IN ITEMS ([\w -]+)\)\s+add_test\(NAME gpu-", read(path), re.M):
        ctests |= {"gpu-" + name for name in names.split()}


def exists(name):
    if name.startswith(("test/", "python/", "examples/")):
        path, _, function = name.partition("::")
        return os.path.isfile(f"{root}/{path}") and (not function or re.search(rf"def {function}\b", read(f"{root}/{path}")))
    name = name.split("/")[-1]  # a suite with parameters has the name of its instance in front
    return name in gtests if "." in name else name in ctests


def main():
    missing = []
    for page in ("GUARANTEES.md", "SECURITY.md"):
        for number, line in enumerate(read(f"{root}/docs/{page}").split("\n"), 1):
            # The last column of a table names the tests.
            cells = line.strip().strip("|").split("|")
            if not line.startswith("|") or set(line) <= set("|-: ") or cells[-1].strip() == "Test":
                continue
            names = re.findall(r"`([^`]+)`", cells[-1])
            missing += [f"docs/{page}:{number}: no test is named" for _ in [0] if not names]
            missing += [f"docs/{page}:{number}: there is no test {name}" for name in names if not exists(name)]
    print("\n".join(missing))
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
