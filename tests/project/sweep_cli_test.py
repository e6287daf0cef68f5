# SPDX-License-Identifier: Apache-2.0
"""The command sweep: good and bad input, failing runs, signals, going on.  Usage: sweep_cli_test.py BINARY"""
import csv
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mpi_ranks import ENVIRONMENT, mpirun

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
SMALL = {
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                          {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
    "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2},
    "optimizer": {"lr": 0.01}, "batch": 1, "steps": 6, "update": "step", "backend": "reference",
    "validation": {"every": 5, "batches": 1}, "checkpoint": {"every": 1, "keep": 2},
}
CONFIG = FOLDER / "small.json"
CONFIG.write_text(json.dumps(SMALL))


def expect(args, status, out="", err=""):
    r = subprocess.run([BINARY, "sweep", *map(str, args)], capture_output=True, text=True, cwd=FOLDER)
    assert r.returncode == status and out in r.stdout and err in r.stderr, \
        f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


def losses(path):
    """The course of a run without its times."""
    return [row[:6] for row in csv.reader(path.open())]


# Mistakes are told before anything is written.
expect(["small.json", "--grid", "optimizer.lrr=1"], 2, err="did you mean 'lr'?")
expect(["small.json", "--grid", "optimizer.lr=1e-3,fast"], 2, err='expected a number, got "fast"')
expect(["small.json", "--grid", "batch=1", "--grid", "batch=2"], 2, err="in the grid already")
expect(["small.json", "--grid", "model.layers.0.n_rec=3,2"], 2, err="model.layers.0.n_rec=2: config.model: it does not run")
expect(["small.json", "--jobs", "0"], 2, err="expected an integer ≥ 1")
expect(["none.json", "--grid", "batch=1"], 2, err="none.json")
listed = expect(["small.json", "--grid", "batch=1,2", "--seeds", "2", "--dry-run", "-o", "s"], 0).split()
assert listed[3] == "s/runs/3-batch=2-seed=1" and len(listed) == 4, listed
assert sorted(p.name for p in FOLDER.iterdir()) == ["small.json"], list(FOLDER.iterdir())

# Two rates and one that breaks: the others end, the table has the best first, the same command keeps what is there.
grid = ["small.json", "--grid", "optimizer.lr=0.01,1e39", "--seeds", "2", "--jobs", "2", "-o", "s"]
table = json.loads(expect([*grid, "--json"], 1, err="FAILED"))
good, bad = table["points"]
assert good["point"] == {"optimizer.lr": "0.01"} and good["finished"] == 2 and good["loss"]["deviation"] > 0, good
assert bad["failed"] == 2 and "reason" in bad["runs"][0], bad
assert (FOLDER / "s/results.csv").read_text().startswith("rank,optimizer.lr,finished"), "results.csv"
assert json.loads((FOLDER / "s/results.json").read_text()) == table
assert "runs failed" in (FOLDER / "s/report.html").read_text()
used = json.loads((FOLDER / "s/runs/1-optimizer.lr=0.01-seed=1/config.json").read_text())
assert used["seed"] == 1 and used["optimizer"]["lr"] == 0.01, used
before = (FOLDER / "s/runs/0-optimizer.lr=0.01-seed=0/metrics.csv").stat().st_mtime_ns
expect([*grid, "--quiet"], 1)
assert (FOLDER / "s/runs/0-optimizer.lr=0.01-seed=0/metrics.csv").stat().st_mtime_ns == before
expect(["small.json", "--grid", "optimizer.lr=0.01", "-o", "s"], 2, err="a different sweep")

# Ctrl-C ends all runs; the same command goes on and reaches what it would have.
long = ["small.json", "--grid", "batch=1,2", "--jobs", "2", "--set", "steps=40"]
expect([*long, "-o", "whole"], 0, out="validation loss")
runs = ["runs/0-batch=1-seed=0", "runs/1-batch=2-seed=0"]
process = subprocess.Popen([BINARY, "sweep", *long, "-o", "cut"], cwd=FOLDER, stderr=subprocess.PIPE, text=True)
logs = [FOLDER / "cut" / r / "metrics.csv" for r in runs]
while process.poll() is None and not all(p.exists() and len(p.read_text().splitlines()) > 3 for p in logs):
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
err = process.communicate()[1]
if process.returncode != 0:  # it was not quicker than the signal
    assert process.returncode == 130 and "the same command to continue" in err, (process.returncode, err)
    assert not all((FOLDER / "cut" / r / "result.json").exists() for r in runs), "nothing was interrupted"
    expect([*long, "-o", "cut"], 0)
for r in runs:
    assert losses(FOLDER / "cut" / r / "metrics.csv") == losses(FOLDER / "whole" / r / "metrics.csv"), r

# Under mpirun the processes deal the runs out; the table is that of one process.
if shutil.which("mpirun"):
    done = subprocess.run(mpirun(2, BINARY, "sweep", *grid[:-1], "two", "--json"), cwd=FOLDER, capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode == 1 and done.stderr.count("FAILED") == 2, (done.returncode, done.stderr)
    there = json.loads(done.stdout)
    assert [p["loss"] for p in there["points"]] == [p["loss"] for p in table["points"]], (there, table)
    assert [p["failed"] for p in there["points"]] == [0, 2] and "reason" in there["points"][1]["runs"][1], there
print("ok")
