# SPDX-License-Identifier: Apache-2.0
"""Thousands of kills: runs of `braintrace train` are killed with SIGKILL at random moments and resumed until they
finish; each must leave the bytes of a run that was never stopped.  Usage: kill_resume.py BINARY [KILLS [SEED]]"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else None)
FOLDER = pathlib.Path(tempfile.mkdtemp())
RULES = ["D_RTRL", {"name": "ES_D_RTRL", "decay_or_rank": 0.8}, {"name": "EProp", "kappa_filter_decay": 0.5},
         "OSTLRecurrent", "OSTLFeedforward", {"name": "SnAp", "n": 2}, "UORO", {"name": "ThreeFactor", "modulator": 0.5},
         "DNI", "RTRL", "BPTT"]


def command(name):
    return [BINARY, "train", FOLDER / "config.json", "--quiet", "--resume", "auto", "--set", f"output={FOLDER / name}"]


def result(name):
    return {p.name: p.read_bytes() for p in (FOLDER / name / "checkpoints").glob("*.safetensors")}


kills = runs = 0
while kills < KILLS:
    rule, update = random.choice(RULES), random.choice(["step", 3, "sequence"])
    (FOLDER / "config.json").write_text(json.dumps({
        "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                              {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
        "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2}, "rule": rule, "update": update, "window": 3,
        "reset": random.random() < 0.5, "batch": 2, "steps": 60, "seed": random.randrange(1000),
        "backend": "reference", "validation": {"every": 7, "batches": 1}, "checkpoint": {"every": 1, "keep": 2}}))
    subprocess.run(command("whole"), check=True, stderr=subprocess.DEVNULL)
    while True:
        process = subprocess.Popen(command("killed"), stderr=subprocess.DEVNULL)
        try:
            status = process.wait(random.expovariate(2))
            assert status == 0, f"{rule} {update}: exit {status}"
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    assert result("killed") == result("whole"), f"{rule} {update}: other bytes; see {FOLDER}"
    runs += 1
    for name in ("killed", "whole"):
        shutil.rmtree(FOLDER / name)
    print(f"\r{kills} kills, {runs} runs with the same bytes", end="", flush=True)
print()
shutil.rmtree(FOLDER)
