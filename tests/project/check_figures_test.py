# SPDX-License-Identifier: Apache-2.0
"""Negative controls of tools/check_figures.py: figures without a source must be found, those with one must pass."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).parents[2] / "tools/check_figures.py"


def check(text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "tests").mkdir()
        (root / "README.md").write_text("# Name\n")
        (root / "tests/CMakeLists.txt").write_text("add_test(NAME speeds COMMAND x)")
        (root / "docs/page.md").write_text(text)
        run = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True)
        return run.returncode, run.stdout


TABLE = "# Page\n\n## Speed\n\nSOURCE\n\n| net | ms | MB |\n|---|---|---|\n| a | 1.5 | 2.5 |\n| b | 3.5 | 4.5 |\n"
SENTENCE = "# Page\n\nSOURCE\n\nA step takes 3.4 ms.\n"
PASS = (0, "every section with figures says where they come from\n")
for page in (TABLE, SENTENCE):
    status, said = check(page.replace("SOURCE", ""))
    assert status == 1 and "where is this from?" in said, said
    for good in ("the test `speeds` checks them.", "one run on 2026-11-16, a laptop, `bench`."):
        assert check(page.replace("SOURCE", f"*Figures: {good}*")) == PASS, good
    for bad in ("the test `gone` checks them.", "one run on a laptop, `bench`.", "one run on 2026-11-16."):
        status, said = check(page.replace("SOURCE", f"*Figures: {bad}*"))
        assert status == 1 and ("date" in said or "command" in said), (bad, said)
assert check("# Page\n\n*Figures: the test `speeds` checks them.*\n\n## Speed\n\nIt takes 2 s.\n") == PASS
assert check("# Page\n\nThree layers, as `braintrace graph` shows.\n\n    takes 3 s\n\n```\ntakes 3 s\n```\n") == PASS
assert check("# Page\n\nA step takes (2S² + 4S)·B operations.\n") == PASS  # S is a size, not seconds
