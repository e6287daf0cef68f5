# SPDX-License-Identifier: Apache-2.0
"""The command line: output, exit status, and which stream says what.  Usage: cli_test.py BINARY VERSION"""
import json
import subprocess
import sys

BINARY, VERSION = sys.argv[1:]


def run(*args, stdout=subprocess.PIPE):
    return subprocess.run([BINARY, *args], stdout=stdout, stderr=subprocess.PIPE, text=True)


def expect(args, status, out="", err=""):
    r = run(*args)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout}\nstderr: {r.stderr}"
    assert "\033" not in r.stdout + r.stderr, f"{args}: colour without a terminal"
    return r.stdout


expect(["--help"], 0, out="info")
expect(["--version"], 0, out=VERSION)
expect(["info", "--help"], 0, out="--json")
expect(["info"], 0, out="reference")
expect(["info", "--ops"], 0, out="tanh")
expect(["info", "--algorithms"], 0, out="pp_prop")
expect([], 2, err="subcommand")
expect(["imfo"], 2, err="did you mean 'info'?")
expect(["info", "--jason"], 2, err="--jason")

info = json.loads(expect(["info", "--json", "--ops"], 0))
assert info["version"] == VERSION and info["backends"] == ["reference", "cpu"], info
assert info["num_ops"] == len(info["ops"]) > 10 and "bf16" in info["dtypes"], info
assert not {"ops", "algorithms"} & json.loads(expect(["info", "--json"], 0)).keys()
assert "D_RTRL" in [a["name"] for a in json.loads(expect(["info", "--json", "--algorithms"], 0))["algorithms"]]

with open("/dev/full", "w") as full:
    r = run("info", stdout=full)
assert r.returncode == 2 and "could not be written" in r.stderr, r
