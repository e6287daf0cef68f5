# SPDX-License-Identifier: Apache-2.0
"""The sizes in docs/export.md are those that the command prints.  Usage: export_sizes_test.py BINARY ROOT [--fix]

With --fix the table and the sample output are written again."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BINARY, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PAGE = ROOT / "docs/export.md"
ROW = re.compile(r"^\| (\w+) \| (\w+)(, adam)? \| \d+ \| \d+ \| \d+ \| \d+ \|$", re.M)
SAMPLE = re.compile(r"^RAM +\d+ bytes: .*$", re.M)


def exported(*args):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BINARY, "export", *args, "-o", f"{folder}/c"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def row(m):
    model, rule, adam = m.groups()
    options = ["--optimizer", "adam"] if adam else []
    sizes = json.loads(exported(model, "--rule", rule, *options, "--test-steps", "1", "--json"))
    ram = sizes["ram"]
    return f"| {model} | {rule}{adam or ''} | {ram['states']} | {ram['arena']} | {ram['all']} | {sizes['flash']['constants']} |"


text = PAGE.read_text()
measured = ROW.sub(row, text)
assert len(ROW.findall(text)) >= 8, "the table is not there"
sample = SAMPLE.search(exported("gru", "--rule", "D_RTRL", "--lr", "0.01"))[0]
measured = SAMPLE.sub(sample, measured, count=1)
if "--fix" in sys.argv:
    PAGE.write_text(measured)
elif measured != text:
    wrong = [f"{a}\n  is now\n{b}" for a, b in zip(text.splitlines(), measured.splitlines()) if a != b]
    sys.exit("docs/export.md is stale; tests/project/export_sizes_test.py BINARY ROOT --fix updates it:\n" + "\n".join(wrong))
