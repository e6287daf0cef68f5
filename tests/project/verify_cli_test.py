# SPDX-License-Identifier: Apache-2.0
"""The command verify.  Usage: verify_cli_test.py BINARY SOURCE_DIR"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

BINARY, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
GRAPHS = SOURCE / "tests/data/golden/graphs"
FOLDER = pathlib.Path(tempfile.mkdtemp())


def expect(args, status, out="", err=""):
    r = subprocess.run([BINARY, "verify", *map(str, args)], capture_output=True, text=True)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


# Files and folders; text and JSON.
expect([GRAPHS / "lstm_batched.json", GRAPHS / "mgu.json"], 0, out="2 cases: 2 passed, 0 failed")
text = expect([GRAPHS / "lstm_batched.json", "--verbose"], 0, out="ok   default.relations")
assert "skipped default.message: wording" in text, text
data = json.loads(expect([GRAPHS / "lstm_batched.json", "--json"], 0))
assert data["summary"]["passed"] == 1 and data["summary"]["facts"] == len(data["cases"][0]["compared"]) > 10, data

# A whole folder; tests/golden runs all of them.
data = json.loads(expect([SOURCE / "tests/data/golden/corrected", "--json"], 0))
summary = data["summary"]
assert summary["failed"] == summary["broken"] == summary["left_out"] == 0 and summary["arrays"] > 8000, summary
unknown = [(c["case"], l["what"]) for c in data["cases"] for l in c["left_out"] if l["reason"] == "not understood"]
assert not unknown, unknown

# A corrupted case is a miss: exit 1, and the place.
case = json.loads((GRAPHS / "lstm_batched.json").read_text())
case["compilations"]["default"]["hidden_groups"][0]["num_state"] = 3
(FOLDER / "lstm_batched.json").write_text(json.dumps(case))
expect([FOLDER], 1, out="/0/num_state: expected 3, got 2")
assert json.loads(expect([FOLDER, "--json"], 1))["summary"]["failed"] == 1

# Bad input is exit 2; the other cases are run all the same.
shutil.copy(GRAPHS / "mgu.json", FOLDER)
for text, message in [
    ('{"format": ', "not JSON"),
    ('{"format": "braintrace-golden-graph/7"}', "is not known here"),
    ('{"format": "braintrace-golden-graph/1"}', "compilations"),
    ('{"format": "braintrace-golden-numeric/1", "arrays": {}}', "arrays.npz"),
]:
    (FOLDER / "broken.json").write_text(text)
    expect([FOLDER / "broken.json", FOLDER / "mgu.json"], 2, out="1 passed, 0 failed, 0 skipped, 1 broken", err=message)
expect([FOLDER / "gone.json"], 2, err="no such file")
expect([tempfile.mkdtemp()], 2, err="no case")
expect([], 2, err="CASE")
