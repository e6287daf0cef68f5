# SPDX-License-Identifier: Apache-2.0
"""A user's file with the umbrella header compiles; the time is printed, and heavy headers must not come along.
Usage: public_header_test.py COMPILER ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

COMPILER, ROOT = sys.argv[1:]
HEAVY = ["nlohmann/", "CLI/", "Random123/", "/iostream", "/regex", "/filesystem", "/fmt/format.h", "zlib.h"]
SOURCE = """
#include "braintrace/braintrace.h"
bt::Tensor loss(bt::Tensor x) { return bt::sum(bt::tanh(x) * x); }
"""

with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "user.cpp"
    source.write_text(SOURCE)
    compile_ = [COMPILER, "-std=c++20", f"-I{ROOT}", "-c", str(source), "-o", str(source.with_suffix(".o"))]
    before = os.times()
    subprocess.run(compile_, check=True)
    seconds = [now - then for now, then in zip(os.times(), before)]
    print(f"a file including braintrace/braintrace.h compiles in {seconds[4]:.2f} s ({seconds[2]:.2f} s of CPU time)")
    seen = subprocess.run(compile_[:3] + ["-M", str(source)], check=True, capture_output=True, text=True).stdout.split()
heavy = sorted({h for h in HEAVY for s in seen if h in s})
if heavy:
    sys.exit(f"the public headers pull in {heavy}: include them in sources only")
