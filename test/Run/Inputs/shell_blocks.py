"""Prints the shell commands of a page. With a file, fails where the page lacks a SWAGE_ variable that is in the file."""

import re
import sys

text = open(sys.argv[1]).read()
if len(sys.argv) > 2:
    variables = set(re.findall(r"SWAGE_[A-Z_]+", open(sys.argv[2]).read()))
    missing = [name for name in sorted(variables) if f"`{name}`" not in text]
    if missing or not variables:
        sys.exit(f"{sys.argv[1]} lacks {', '.join(missing)}")
print("set -eu")
print("\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)))
