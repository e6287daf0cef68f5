#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of code of each layer of braintrace/ and of what surrounds them: without blank lines and comments.

    tools/sizes.py [ROOT]"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
KINDS = {".cpp", ".h", ".js", ".css", ".py", ".c", ".cu"}


def lines(file):
    """Of code: neither blank nor only a comment."""
    comment = re.compile(r"\s*#" if file.suffix == ".py" else r"\s*//")
    return sum(1 for line in file.read_text(errors="replace").splitlines() if line.strip() and not comment.match(line))


def row(name, files):
    tests = [f for f in files if re.search(r"_test\.\w+$", f.name) or f.is_relative_to(ROOT / "tests")]
    code = [f for f in files if f not in tests]
    return name, len(files), sum(map(lines, code)), sum(map(lines, tests))


def files_of(folder):
    return [f for f in sorted(folder.rglob("*")) if f.suffix in KINDS and f.is_file()]


order = re.findall(r"^(\w+):", (ROOT / "tools/layers.txt").read_text(), re.M)
layers = [row(name, files_of(ROOT / "braintrace" / name)) for name in order]
around = [row(name, files_of(ROOT / name)) for name in ["cli", "examples", "benchmarks", "python", "tools", "tests"]]
total = lambda name, rows: (name, *(sum(r[i] for r in rows) for i in (1, 2, 3)))
print(f"{'':<14}{'files':>8}{'code':>8}{'tests':>8}")
for name, files, code, tests in [*layers, total("library", layers), *around, total("all", layers + around)]:
    print(f"{name:<14}{files:>8}{code:>8}{tests:>8}")
