#!/usr/bin/env python3
"""Packs the package and the libraries that CMake built into a wheel: make_wheel.py VERSION DIRECTORY FILE...

A .py goes into the package, so does a library, under its own name. The extension uses the limited API of Python 3.9, so
that one wheel serves every later CPython on the same platform.
"""

import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile

SUMMARY = "Op graphs to CUDA kernels, specialised to shapes, types and the GPU at hand"


def main(version, directory, *files):
    tag = "cp39-abi3-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"swage-{version}.dist-info"
    contents = {}
    for file in files:
        with open(file, "rb") as source:
            contents[f"swage/{os.path.basename(file)}"] = source.read()
    contents[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: swage\nVersion: {version}\nSummary: {SUMMARY}\nRequires-Python: >=3.9\n"
    ).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: swage\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in contents.items()
    ]
    contents[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()

    os.makedirs(directory, exist_ok=True)
    for old in os.listdir(directory):
        if old.startswith("swage-") and old.endswith(".whl"):
            os.remove(os.path.join(directory, old))
    path = os.path.join(directory, f"swage-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name)  # of a fixed date: the same build gives the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            wheel.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
