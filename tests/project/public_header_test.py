# SPDX-License-Identifier: Apache-2.0
"""Public headers (tools/public_headers.txt) include no private ones, and each compiles alone. Examples need no others. A
user's file with the umbrella header compiles; its weight is printed, and heavy headers must not come along.
Usage: public_header_test.py COMPILER ROOT"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COMPILER, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
HEAVY = ["nlohmann/", "CLI/", "Random123/", "/iostream", "/regex", "/filesystem", "/fmt/format.h", "zlib.h"]
UMBRELLA = "braintrace/braintrace.h"
SOURCE = f"""
#include "{UMBRELLA}"
bt::Tensor loss(bt::Tensor x) {{ return bt::sum(bt::tanh(x) * x); }}
"""
MOST_LINES = 96_000  # of the preprocessed file; 75,300 are <string>, <vector>, <memory>, <functional>, <map> and <optional> of GCC 12
# Read once for all headers: what they must include themselves is ours.
STANDARD = ["fmt/core.h", "nlohmann/json_fwd.hpp", "algorithm", "any", "array", "atomic", "functional", "iosfwd", "map",
            "memory", "optional", "set", "span", "string", "unordered_map", "variant", "vector"]

wrong = []
public = set(re.findall(r"^braintrace/\S+", (ROOT / "tools/public_headers.txt").read_text(), re.M))


def includes(file):
    return re.findall(r'^#include "(braintrace/[^"]+)"', file.read_text(), re.M)


for header in sorted(public):
    if not (ROOT / header).exists():
        wrong.append(f"tools/public_headers.txt: there is no {header}")
        public.discard(header)
        continue
    wrong += [f"{header} is public and includes {other}, which is private: include that in a source, or add it to "
              "tools/public_headers.txt" for other in includes(ROOT / header) if other not in public]
users = [*(ROOT / "examples").rglob("*.cpp"), *(ROOT / "examples").rglob("*.h"), *(ROOT / "docs").rglob("*.cpp")]
wrong += [f"{user.relative_to(ROOT)} includes {other}, which is private" for user in users for other in includes(user)
          if other not in public]

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    source = folder / "user.cpp"
    source.write_text(SOURCE)
    base = [COMPILER, "-std=c++20", f"-I{ROOT}"]
    before = os.times()
    subprocess.run([*base, "-c", source, "-o", folder / "user.o"], check=True)
    seconds = [now - then for now, then in zip(os.times(), before)]
    lines = subprocess.run([*base, "-E", source], check=True, capture_output=True, text=True).stdout.count("\n")
    print(f"a file including {UMBRELLA} has {lines} lines and compiles in {seconds[4]:.2f} s ({seconds[2]:.2f} s of CPU time)")
    if lines > MOST_LINES:
        wrong.append(f"a file including {UMBRELLA} has {lines} lines; at most {MOST_LINES} are expected")
    seen = subprocess.run([*base, "-M", source], check=True, capture_output=True, text=True).stdout.split()
    heavy = sorted({h for h in HEAVY for s in seen if h in s})
    if heavy:
        wrong.append(f"the public headers pull in {heavy}: include them in sources only")

    standard = folder / "standard.h"
    standard.write_text("".join(f"#include <{h}>\n" for h in STANDARD))
    suffix = ".pch" if "clang" in COMPILER else ".gch"
    subprocess.run([*base, "-x", "c++-header", standard, "-o", f"{standard}{suffix}"], check=True)
    # A header that another one includes before all others is read alone there.
    first = {included[0] for header in public if (included := includes(ROOT / header))}
    for header in sorted(public - first):
        source.write_text(f'#include "{header}"\n')
        done = subprocess.run([*base, "-include", standard, "-fsyntax-only", source], capture_output=True, text=True)
        if done.returncode:
            wrong.append(f"{header} does not compile alone:\n{done.stderr[:2000]}")

print("\n".join(wrong) or f"{len(public)} public headers compile alone and include each other only")
sys.exit(bool(wrong))
