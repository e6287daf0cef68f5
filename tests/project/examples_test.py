# SPDX-License-Identifier: Apache-2.0
"""The catalogue of examples, the programs and docs/examples.md speak of the same things; an example fails with an error on unknown
flags.  Usage: examples_test.py ROOT BIN"""
import pathlib
import subprocess
import sys
import tempfile

ROOT, BIN = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(ROOT / "examples"))
from measure import catalogue, figure  # noqa: E402

wrong = []
rows = catalogue()
page = (ROOT / "docs/examples.md").read_text()
sources = [p for p in (ROOT / "examples").glob("*/*.cpp")]
for entries, program, flags, reference, difference, sizes in rows:
    start = f"| {entries} | `{program}` | " + (f"`{flags}`" if flags else "") + f" | {reference} | "
    line = next((line for line in page.splitlines() if line.startswith(start)), None)
    if not line or not line.endswith(f"| {difference} |") or "MISSED" in line or sizes not in line:
        wrong.append(f"docs/examples.md lacks a line that begins: {start}")
    if program not in {p.stem for p in sources}:
        wrong.append(f"there is no program {program}")
for p in sources:
    if p.stem not in {row[1] for row in rows}:
        wrong.append(f"{p.stem} is not in examples/catalogue.txt")
    if "Should reach" not in p.read_text():
        wrong.append(f"{p.stem} does not say what it should reach")
listed = {e for row in rows for e in row[0].split(", ")}
everything = {f"d{i:02}" for i in range(1, 12) if i != 6} | {f"p{i:02}" for i in range(1, 15)}
everything |= {"000", "001", "002", "003", "004", "100", "101"}
if listed != everything:
    wrong.append(f"missing or unknown entries: {sorted(listed ^ everything)}")

if subprocess.run([BIN / "integrator", "--nonsense"], capture_output=True).returncode != 2:
    wrong.append("an unknown flag must end with 2")
for args in ["0"], ["many"], ["1e3"], ["100", "10", "1", "2"], ["10", "100"]:
    run = subprocess.run([BIN / "brain_scale", *args], capture_output=True, text=True)
    if run.returncode != 2 or not run.stderr:
        wrong.append(f"brain_scale {args} must end with 2 and say why: {run.returncode} {run.stderr}")
with tempfile.TemporaryDirectory() as folder:
    plot = pathlib.Path(folder) / "losses.html"
    run = subprocess.run([BIN / "spike_integrator", "--quick", "--plot", plot], capture_output=True, text=True)
    if "<svg" not in plot.read_text():
        wrong.append("--plot draws nothing")
if figure("a  epoch   1   loss 2.0\na  epoch   2   loss 1.0\nreached: x\n") != "a 2.0 → 1.0":
    wrong.append("measure.py misreads what examples print")
print("\n".join(wrong) or f"{len(rows)} lines of the catalogue, {len(sources)} programs")
sys.exit(bool(wrong))
