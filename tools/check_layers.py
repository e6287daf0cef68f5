#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when an include in braintrace/ leaves the layers allowed by layers.txt, or when layers.txt names a layer that
is not included.  Usage: check_layers.py [ROOT]"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)  # raw strings may hold sources of their own


def read_layers(path):
    allowed = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, below = line.split(":")
        unknown = [b for b in below.split() if b not in allowed]
        if unknown:
            raise SystemExit(f"{path}: {name} names {unknown}, not listed above it")
        allowed[name] = {name, *below.split()}
    return allowed


def layer_of(path, allowed):
    """braintrace/ops/etp/dense.h -> ops/etp; None for a file directly in braintrace/."""
    folder = path.split("/")[1:-1]
    while folder and "/".join(folder) not in allowed:
        folder.pop()
    return "/".join(folder) or None


def problems(root, allowed):
    files = sorted((root / "braintrace").rglob("*"))
    if not files:
        yield f"{root} has no sources in braintrace/"
    unused = {layer: below - {layer} for layer, below in allowed.items()}
    for file in files:
        path = file.relative_to(root).as_posix()
        if file.suffix not in {".h", ".cpp", ".cu"} or path.endswith("_test.cpp") or path == "braintrace/braintrace.h":
            continue
        layer = layer_of(path, allowed)
        if layer is None:
            yield f"{path}: its folder is not in tools/layers.txt"
            continue
        code = TEXT.sub(lambda match: "\n" * match[0].count("\n"), file.read_text())
        for number, line in enumerate(code.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            included = layer_of(match[1], allowed) if match[1].startswith("braintrace/") else None
            unused[layer].discard(included)
            if included not in allowed[layer]:
                yield f"{path}:{number}: {layer} may not include {match[1]}; allowed: {' '.join(sorted(allowed[layer]))}"
    for layer, names in unused.items():
        if names:
            yield f"tools/layers.txt: {layer} includes nothing of {' '.join(sorted(names))}; take it out of its line"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(problems(root, read_layers(root / "tools/layers.txt")))
    print("\n".join(found) or "every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
