# SPDX-License-Identifier: Apache-2.0
"""The documentation site builds without a warning, and has what readers look for.  Usage: site_test.py ROOT BINARY

MkDocs checks links between pages, anchors, and that every page is in the menu. The tools come from PyPI; if PyPI cannot be reached, the
test fails with a message."""
import pathlib
import re
import subprocess
import sys

ROOT, BINARY = pathlib.Path(sys.argv[1]), sys.argv[2]
built = subprocess.run([ROOT / "tools/site/build", BINARY], capture_output=True, text=True)
assert built.returncode == 0, built.stdout + built.stderr
SITE = ROOT / "build/site/html"


def page(name):
    return (SITE / name / "index.html").read_text()


def headings(name):
    return set(re.findall(r'<h[1-4] id="([^"]+)"', page(name)))


cpp, python, commands = headings("reference/cpp"), headings("reference/python"), headings("reference/command_line")
assert {"d_rtrl", "matmul", "grucell", "jit", "value_and_grad", "export_model", "fleet", "learnabledelay", "import_graph", "load_weights"} <= cpp
assert len(cpp) > 500, len(cpp)
assert {"grucell", "adam", "matmul"} <= python and len(python) > 150, len(python)
assert "Reinitialize the rule's memory." in page("reference/python"), "methods have their docstrings"
assert {"train", "graph", "completion", "predict", "sweep", "import"} <= commands, commands
assert {"window", "position", "hidden-group", "eligibility-trace", "same-step-gradient"} <= headings("glossary")
assert page("glossary").count("<math") == 3, "formulas are MathML"
assert "h<sub>t-1</sub>" in page("credit") and "D_RTRL" in page("rules/D_RTRL"), "letters have subscripts, names do not"
assert len(re.findall(r"https://doi.org/10\.", page("bibliography"))) >= 15
assert "elementwise" in (SITE / "search/search_index.json").read_text()
broken = [(p.parent.name, a) for p in SITE.rglob("index.html") for a in re.findall(r'(?:href|src)="?([^"#> ]+)', p.read_text())
          if not re.match(r"\w+:", a) and not (p.parent / a).exists()]
assert not broken, f"links to files that do not exist: {broken[:5]}"
outside = [a for p in SITE.rglob("*.html") for a in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', p.read_text())]
assert not outside, f"the site loads external files: {outside[:3]}"
print(f"{len(list(SITE.rglob('*.html')))} pages, {len(cpp)} headings of C++, {len(python)} of Python")
