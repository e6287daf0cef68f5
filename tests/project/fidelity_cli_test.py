# SPDX-License-Identifier: Apache-2.0
"""The command fidelity.  Usage: fidelity_cli_test.py BINARY"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
MODEL = FOLDER / "small.json"
MODEL.write_text('{"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 3}, '
                 '{"name": "out", "type": "linear", "n_in": 3, "n_out": 1}]}')


def expect(args, status, out="", err=""):
    r = subprocess.run([BINARY, "fidelity", *map(str, args)], capture_output=True, text=True)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


def cosines(text):
    return [(r["rule"], r["window"], r["cosine"], r["norm_ratio"]) for r in json.loads(text)["rules"]]


# Every rule; the numbers are the same each time, and others under another seed.
args = [MODEL, "--steps", "6", "--windows", "1,6", "--json"]
first = expect(args, 0)
assert cosines(first) == cosines(expect(args, 0))
assert cosines(first) != cosines(expect([*args, "--seed", "2"], 0))
by_rule = {(rule, window): cosine for rule, window, cosine, ratio in cosines(first)}
assert len(by_rule) == 18 and by_rule["BPTT", 6] > 0.999999 and by_rule["RTRL", 1] > 0.9999, by_rule
assert by_rule["D_RTRL", 1] < 0.99999, by_rule

# Table, files, batch.
table = expect([MODEL, "--steps", "4", "--rules", "d_rtrl,snap"], 0, out="learns inside a window")
assert [line.split()[0] for line in table.splitlines()[-5:]] == ["rule", "D_RTRL", "D_RTRL", "SnAp", "SnAp"], table  # the summary is last
expect([MODEL, "--steps", "4", "--rules", "d_rtrl", "-o", FOLDER / "a.svg"], 0, out="D_RTRL")
xml.dom.minidom.parse(str(FOLDER / "a.svg"))
expect([MODEL, "--steps", "4", "--rules", "d_rtrl", "--batch", "2", "-o", FOLDER / "a.json"], 0)
assert json.loads((FOLDER / "a.json").read_text())["input"] == "f32[2,2]"

# The exact gradient itself, against finite differences and RTRL: text, JSON, files, and status 1 when more is asked
# than differences can show.
check = [MODEL, "--finite-differences", "--steps", "3"]
text = expect(check, 0, out="passed: what was checked agrees to 6 digits or more")
assert "learns in windows" in text and "an approximation of the rule" in text, text
report = json.loads(expect([*check, "--json", "--rules", "eprop,snap"], 0))
assert report["schema"] == "braintrace-check-grad/1" and report["passed"] and not report["left_out"], report
assert len(report["parameters"]) == 8
for p in report["parameters"]:
    assert p["finite_differences"]["holds"] and p["rtrl"]["digits"] > 9 and list(p["rules"]) == ["EProp", "SnAp"], p
strict = expect([*check, "--digits", "12"], 1, out="FAILS")
assert "failed: " in strict and "finite differences themselves are good to" in strict, strict
expect([*check, "--digits", "12", "-o", FOLDER / "check.json"], 1)
assert not json.loads((FOLDER / "check.json").read_text())["passed"]
spiking = expect(["lif", "--finite-differences", "--steps", "3"], 0, out="a spike is on the path")
assert "exact RTRL           agrees to" in spiking, spiking
expect([*check, "-o", FOLDER / "a.svg"], 2, err="no picture")
expect([*check, "--windows", "2"], 2, err="step by step")
expect([*check, "--digits", "40"], 2, err="from 1 to 12")
expect([MODEL, "--digits", "3"], 2, err="--finite-differences")

# Bad input.
expect([MODEL, "--rules", "d_rtlr"], 2, err="did you mean 'D_RTRL'")
expect([MODEL, "--windows", "50"], 2, err="does not fit")
expect([MODEL, "--steps", "1", "--rules", "d_rtrl"], 0, out=": 1 step of ")
expect([MODEL, "--steps", "0"], 2, err="at least one step")
expect([MODEL, "-o", FOLDER / "a.png"], 2, err="ends in .svg, .json or .txt")
expect(["grv"], 2, err="did you mean 'gru'")
