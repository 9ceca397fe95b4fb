"""Reads swage-doctor --json strictly and prints what a test looks for."""
import json
import sys

with open(sys.argv[1], encoding="ascii") as file:
    report = json.load(file)
assert report["problems"] == sum(f["level"] == "problem" for f in report["findings"])
print("simulator:", report["simulator"])
for name in ("kernel cache", "simulator", "verdict"):
    (finding,) = [f for f in report["findings"] if f["what"] == name]
    print(f"{name}: {finding['level']} {finding.get('values', {}).get('path', '')}")
