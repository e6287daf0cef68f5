# SPDX-License-Identifier: Apache-2.0
"""Thousands of kills: runs of `braintrace train` are killed with SIGKILL at random moments, also while machine code is
being compiled, and resumed until they finish. No kill may cost a checkpoint that was there; in the end checkpoints and
metrics must be those of a run that was never stopped, byte for byte (times of the clock aside).

Usage: kill_resume.py BINARY [KILLS [SEED [WORKERS]]]     folders are made in $TMPDIR: memory is much faster than a disk"""
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

BINARY = sys.argv[1]
KILLS, SEED, WORKERS = [int(a) for a in sys.argv[2:]] + [2000, random.randrange(10**6), 2][len(sys.argv) - 2:]
KEEP = 2
RULES = ["D_RTRL", {"name": "ES_D_RTRL", "decay_or_rank": 0.8}, {"name": "EProp", "kappa_filter_decay": 0.5},
         "OSTLRecurrent", "OSTLFeedforward", {"name": "SnAp", "n": 2}, "UORO", {"name": "ThreeFactor", "modulator": 0.5},
         "DNI", "RTRL", "BPTT"]
NETWORKS = [([{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3}, {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}],
             {"type": "copy", "lag": 3, "count": 2, "symbols": 2}),
            ([{"name": "snn", "type": "snn_delta", "n_in": 4, "n_rec": 4, "neuron": "alif", "ff_scale": 8.0},
              {"name": "out", "type": "leaky_rate_readout", "n_in": 4, "n_out": 2}],
             {"type": "dms", "length": 8, "channels": 4, "rate_hz": 500})]


def configuration(dice):
    layers, task = dice.choice(NETWORKS)
    return {"model": {"type": "chain", "layers": layers}, "task": task, "rule": dice.choice(RULES),
            "optimizer": {"type": dice.choice(["sgd", "adam", "lion"])}, "precision": dice.choice(["f32", "f64"]),
            "update": dice.choice(["step", 3, "sequence"]), "window": 3, "reset": dice.random() < 0.5, "batch": 2,
            "steps": dice.choice([20, 60]), "seed": dice.randrange(1000), "backend": dice.choices(["reference", "cpu"], [49, 1])[0],
            "validation": {"every": 7, "batches": 1}, "checkpoint": {"every": dice.choice([1, 3]), "keep": KEEP}}


def newest(folder):
    steps = [int(m[1]) for p in folder.glob("checkpoints/*") if (m := re.fullmatch(r"step-(\d+)\.safetensors", p.name))]
    return max(steps, default=0)


def result(folder):
    # A process killed between writing its last checkpoint and removing the oldest leaves one more than `keep`.
    kept = sorted((folder / "checkpoints").glob("step-*.safetensors"))[-KEEP:] + [folder / "checkpoints/best.safetensors"]
    files = {p.name: p.read_bytes() for p in kept}
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return files, [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def one_run(folder, dice, cache, kills):
    config = configuration(dice)
    (folder / "config.json").write_text(json.dumps(config))
    errors = folder / "errors"

    def start(name):
        with open(errors, "w") as out:
            return subprocess.Popen([BINARY, "train", folder / "config.json", "--quiet", "--resume", "auto", "--set",
                                     f"output={folder / name}"], stderr=out, env={**os.environ, "BRAINTRACE_CACHE_DIR": cache})

    begin = time.monotonic()
    whole = start("whole").wait()
    assert whole == 0, f"exit {whole}: {errors.read_text()} {config}"
    mean = (time.monotonic() - begin) / 3
    if config["backend"] == "cpu":
        shutil.rmtree(cache)  # so that compiling, most of the time, is killed as well
        mean *= 2
    while True:
        before, process = newest(folder / "killed"), start("killed")
        try:
            status = process.wait(dice.expovariate(1 / mean))
            assert status == 0, f"exit {status}: {errors.read_text()} {config}"
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            with kills.get_lock():
                kills.value += 1
            now = newest(folder / "killed")
            assert now >= before, f"checkpoint {before} is lost {config}"
            if now == before:
                mean *= 1.1  # on a busy machine a start may take longer than the whole run did
    assert result(folder / "killed") == result(folder / "whole"), f"not the bytes of a run that never stopped: {config}"


def work(number, kills, runs):
    root, dice = pathlib.Path(tempfile.mkdtemp()), random.Random(SEED * 1000 + number)
    while kills.value < KILLS:
        folder = root / "run"
        folder.mkdir()
        one_run(folder, dice, str(root / "cache"), kills)
        shutil.rmtree(folder)  # what an error leaves stays
        with runs.get_lock():
            runs.value += 1
            print(f"\r{kills.value} kills, {runs.value} runs with the same bytes (seed {SEED})", end="", flush=True)
    shutil.rmtree(root)


if __name__ == "__main__":
    kills, runs = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    workers = [multiprocessing.Process(target=work, args=(i, kills, runs)) for i in range(WORKERS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print()
    sys.exit(any(w.exitcode for w in workers))
