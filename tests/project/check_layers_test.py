# SPDX-License-Identifier: Apache-2.0
"""Negative controls of tools/check_layers.py: trees with one wrong include must fail, a good one must pass."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).parents[2] / "tools/check_layers.py"
LAYERS = "base:\nir: base\nops: base ir\nops/etp: base ir ops\n"
# Every edge is in use.
EDGES = {
    f"braintrace/{layer}/edge{i}.h": f'#include "braintrace/{below}/x.h"\n'
    for layer, belows in {"ir": ["base"], "ops": ["base", "ir"], "ops/etp": ["base", "ir", "ops"]}.items()
    for i, below in enumerate(belows)
}


def check(files, layers=LAYERS):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"tools/layers.txt": layers, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        run = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


def include(path):
    return f'#include <vector>\n#include "{path}"\n'


def expect(code, phrase, files, *args):
    got, text = check({**EDGES, **files} if files else {}, *args)
    assert (got, phrase in text) == (code, True), f"exit {got}, expected {code} and '{phrase}' in:\n{text}"


expect(0, "points down", {"braintrace/ops/math.cpp": include("braintrace/ir/op.h")})
expect(0, "points down", {"braintrace/ir/op_test.cpp": include("braintrace/ops/math.h")})
expect(0, "points down", {"braintrace/braintrace.h": include("braintrace/ops/math.h")})
expect(0, "points down", {"braintrace/ir/op.cpp": 'auto text = R"c(\n' + include("model.h") + ')c";\n'})
expect(1, "ir/op.cpp:5:", {"braintrace/ir/op.cpp": 'auto text = R"c(\n\n)c";\n' + include("model.h")})
expect(1, "ir/op.cpp:2: ir may not include", {"braintrace/ir/op.cpp": include("braintrace/ops/math.h")})
expect(1, "ops may not include", {"braintrace/ops/math.cpp": include("braintrace/ops/etp/dense.h")})
expect(1, "may not include braintrace/braintrace.h", {"braintrace/ir/op.cpp": include("braintrace/braintrace.h")})
expect(1, "may not include tests/", {"braintrace/ir/op.cpp": include("tests/ops/laws.h")})
expect(1, "not in tools/layers.txt", {"braintrace/new/x.cpp": include("braintrace/ir/op.h")})
expect(1, "layers.txt: ops includes nothing of ir;", {"braintrace/ops/edge1.h": ""})
expect(1, "no sources", {})
expect(1, "not listed above it", {}, "base: ir\nir: base\n")
