# SPDX-License-Identifier: Apache-2.0
"""`mpirun -n N braintrace train`: the same files for 1, 2 and 4 processes; what is said when processes differ or one is
killed.  Usage: mpi_test.py BINARY     77: there is no mpirun"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mpi_ranks import ENVIRONMENT, mpirun, ranks_below

BINARY = sys.argv[1]
if not shutil.which("mpirun"):
    print("mpirun is missing: apt-get install openmpi-bin")
    sys.exit(77)

CONFIG = {
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                          {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
    "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2}, "shards": 4, "batch": 8, "steps": 6, "backend": "reference",
    "validation": {"every": 3, "batches": 1}, "checkpoint": {"every": 1, "keep": 6}}


def train(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT, **options)


def files(folder):
    return {p.name: p.read_bytes() for p in (folder / "checkpoints").glob("*.safetensors")}


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    config = root / "config.json"
    config.write_text(json.dumps(CONFIG))

    def command(folder, *more):
        return [BINARY, "train", str(config), "--set", f"output={root / folder}", "--quiet", *more]

    plain = train(command("one"))
    assert plain.returncode == 0, plain.stderr
    for processes in (1, 2, 4):
        done = train(mpirun(processes, *command(f"mpi{processes}")))
        assert done.returncode == 0, done.stderr
        assert files(root / f"mpi{processes}") == files(root / "one") != {}, processes
        assert (root / f"mpi{processes}/report.html").exists()

    # Two programs of one run with different settings: mpirun starts both with ":".
    other = mpirun(1, *command("differ")) + [":", "-n", "1", *command("differ", "--set", "optimizer.lr=0.5")]
    done = train(other)
    assert done.returncode == 2 and done.stderr.count("error:") == 1, (done.returncode, done.stderr)
    assert "config.optimizer.lr is 0.001 on rank 0 and 0.5 on rank 1" in done.stderr, done.stderr

    # An error of all is said once.
    done = train(mpirun(2, *command("bad", "--set", "rule=D_RTL")))
    assert done.returncode == 2 and done.stderr.count("error:") == 1 and "D_RTRL" in done.stderr, done.stderr

    # A rank that is killed ends the run everywhere; it goes on in one process to the file of a run that nobody disturbed.
    for victim in (0, 1):
        folder = root / f"killed{victim}"
        endless = mpirun(2, *command(folder.name, "--set", "steps=1000000"))
        run = subprocess.Popen(endless, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        while not files(folder) and run.poll() is None:
            time.sleep(0.01)
        os.kill(ranks_below(run.pid)[victim], signal.SIGKILL)
        said = run.communicate(timeout=60)[1]
        assert run.returncode != 0 and f"rank {victim} " in said, said
        last = int(re.search(r"\d+", max(n for n in files(folder) if n.startswith("step")))[0]) + 2
        for name, more in ((folder.name, ["--resume", "auto"]), (f"calm{victim}", [])):
            done = train(command(name, "--set", f"steps={last}", *more))
            assert done.returncode == 0, done.stderr
        step = f"step-{last:08}.safetensors"
        assert files(folder)[step] == files(root / f"calm{victim}")[step], victim
print("1, 2 and 4 processes write the same files; faults are told and cost nothing")
