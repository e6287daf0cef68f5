# SPDX-License-Identifier: Apache-2.0
"""Negative controls of tools/check_includes.py: a name without its header must fail, one that an included header of ours
brings must pass."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).parents[2] / "tools/check_includes.py"
SORTS = "void f() { std::sort(x.begin(), x.end()); }\n"


def expect(code, phrase, files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        run  = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        text = run.stdout + run.stderr
        assert (run.returncode, phrase in text) == (code, True), f"exit {run.returncode}, expected {code} and '{phrase}' in:\n{text}"


GOOD = "every file includes what it uses"
expect(0, GOOD, {"braintrace/a.cpp": "#include <algorithm>\n" + SORTS})
expect(0, GOOD, {"braintrace/a.cpp": '#include "braintrace/b.h"\n' + SORTS, "braintrace/b.h": '#include "braintrace/c.h"\n',
                 "braintrace/c.h": "#include <algorithm>\n"})
expect(0, GOOD, {"braintrace/a.cpp": "// std::sort\nauto text = \"std::sort\";\nauto code = R\"c(\nstd::sort();\n)c\";\n"})
expect(0, GOOD, {"braintrace/a.cpp": "#include <cstdlib>\nauto x = std::abs(-1);\n"})
expect(1, "braintrace/a.cpp: std::sort needs #include <algorithm>", {"braintrace/a.cpp": "#include <vector>\n" + SORTS})
expect(1, "cli/a.cpp: std::sort", {"cli/a.cpp": '#include "braintrace/b.h"\n' + SORTS, "braintrace/b.h": ""})
expect(1, "braintrace/b.h: std::sort", {"braintrace/a.cpp": '#include <algorithm>\n#include "braintrace/b.h"\n',
                                        "braintrace/b.h": SORTS})
expect(1, "fmt::join needs", {"braintrace/a.cpp": "#include <fmt/core.h>\nauto s = fmt::format(\"{}\", fmt::join(x, y));\n"})
# Ours.
HEADER = "namespace braintrace {\nstruct Thing {\n};\nint count_of(const Thing& t);\n}\n"
expect(0, GOOD, {"braintrace/a.cpp": '#include "braintrace/b.h"\nThing f(Thing t);\n', "braintrace/b.h": HEADER})
expect(0, GOOD, {"braintrace/a.cpp": "struct Thing {};\nint count_of(int n);\nint m = count_of(3);\n", "braintrace/b.h": HEADER})
expect(0, GOOD, {"braintrace/a.cpp": "auto n = list.count_of(3) + Kind::Thing;\n", "braintrace/b.h": HEADER})
expect(1, 'braintrace/a.cpp: Thing needs #include "braintrace/b.h"',
       {"braintrace/a.cpp": "void f(const Thing& t);\n", "braintrace/b.h": HEADER})
expect(1, 'cli/a.cpp: count_of needs #include "braintrace/b.h"',
       {"cli/a.cpp": "auto n = count_of(x);\n", "braintrace/b.h": HEADER})
expect(1, "tests/a_test.cpp: count_of", {"tests/a_test.cpp": "auto n = count_of(x);\n", "braintrace/b.h": HEADER})
expect(0, GOOD, {"tests/a_test.cpp": "TEST(Thing, HasOne) {}\n", "braintrace/b.h": HEADER})
expect(1, "no sources", {})
