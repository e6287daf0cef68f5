# SPDX-License-Identifier: Apache-2.0
"""Ranks of `mpirun braintrace train` are killed with SIGKILL at random moments. Each run must end everywhere within
seconds, and go on from its newest checkpoint, on another number of processes, until it has the checkpoint of a run that
nobody disturbed, byte for byte.

Usage: mpi_kills.py BINARY [KILLS [SEED]]     folders are made in $TMPDIR: memory is much faster than a disk"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "project"))
from mpi_ranks import ENVIRONMENT, mpirun, ranks_below

BINARY = sys.argv[1]
KILLS, SEED = [int(a) for a in sys.argv[2:]] + [200, random.randrange(10**6)][len(sys.argv) - 2:]
RULES = ["D_RTRL", {"name": "ES_D_RTRL", "decay_or_rank": 0.8}, {"name": "ThreeFactor", "modulator": "reward"}, "UORO", "DNI", "RTRL"]
STEPS, SHARDS, LONGEST = 12, 4, 30  # LONGEST: seconds until all ranks have ended


def configuration(dice):
    layers = [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3}, {"name": "drop", "type": "dropout", "keep": 0.8},
              {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]
    return {"model": {"type": "chain", "layers": layers}, "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2},
            "rule": dice.choice(RULES), "shards": SHARDS, "batch": 8, "steps": STEPS, "update": dice.choice(["sequence", 3]), "window": 3,
            "reset": dice.random() < 0.5, "seed": dice.randrange(1000), "backend": "reference",
            "validation": {"every": 0, "batches": 1}, "checkpoint": {"every": 1, "keep": 2, "best": False}}


def last_of(folder):
    return (folder / f"checkpoints/step-{STEPS:08}.safetensors").read_bytes()


def start(config, folder, processes, *more):
    words = [BINARY, "train", str(config), "--set", f"output={folder}", "--quiet", *more]
    command = mpirun(processes, *words) if processes > 1 else words
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)


kills, runs, longest, dice = 0, 0, 0.0, random.Random(SEED)
print(f"seed {SEED}", flush=True)
while kills < KILLS:
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        config = root / "config.json"
        config.write_text(json.dumps(configuration(dice)))
        calm = start(config, root / "calm", 1)
        began = time.monotonic()
        said = calm.communicate(timeout=300)[0]
        assert calm.returncode == 0, said
        length = time.monotonic() - began
        while True:
            processes = dice.choice([2, 4])
            run = start(config, root / "torn", processes, "--resume", "auto")
            time.sleep(dice.uniform(0.2, 1) * length * dice.uniform(0.5, 3))
            victim = ranks_below(run.pid).get(dice.randrange(processes))
            if victim:
                os.kill(victim, signal.SIGKILL)
                kills += 1
            killed = time.monotonic()
            said = run.communicate(timeout=LONGEST if victim else 300)[0]  # a run that hangs ends the soak
            longest = max(longest, time.monotonic() - killed if victim else 0)
            if run.returncode == 0:
                break
            assert victim, said
            if dice.random() < 0.3:  # and then to the end, in one process
                run = start(config, root / "torn", 1, "--resume", "auto")
                said = run.communicate(timeout=300)[0]
                assert run.returncode == 0, said
                break
        assert last_of(root / "torn") == last_of(root / "calm"), (SEED, runs, config.read_text())
        runs += 1
        print(f"{kills} kills, {runs} runs", flush=True)
print(f"{kills} kills in {runs} runs: all resumed to the same bits; all ranks had ended after {longest:.1f} s at most")
