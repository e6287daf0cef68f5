# SPDX-License-Identifier: Apache-2.0
"""The configurations among the examples reach what they promise, with compiled code; and compiled code too goes on from
a checkpoint as if it had never stopped.  Usage: train_goals_test.py BINARY ROOT"""
import json
import pathlib
import subprocess
import sys
import tempfile

BINARY, CONFIGS = sys.argv[1], sorted((pathlib.Path(sys.argv[2]) / "examples/configs").glob("*.json"))


def train(*args):
    r = subprocess.run([BINARY, "train", *map(str, args), "--json"], capture_output=True, text=True)
    assert r.returncode == 0, (args, r.returncode, r.stdout, r.stderr)
    return json.loads(r.stdout)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for config in CONFIGS:
        outcome = train(config, "--set", f"output={folder / config.stem}")
        assert outcome["goal_reached"] and not outcome["alarms"], (config, outcome)
        assert (folder / config.stem / "report.html").stat().st_size > 10000
        print(f"{config.stem}: accuracy {outcome['accuracy']:.3f} after {outcome['updates']} updates")
        free = ["--set", "goal={}", "--set", "early_stop={}", "--set", "validation.every=2"]
        whole, parts = folder / f"{config.stem}_whole", folder / f"{config.stem}_parts"
        train(config, *free, "--set", f"output={whole}", "--set", "steps=5")
        train(config, *free, "--set", f"output={parts}", "--set", "steps=2")
        train(config, *free, "--set", f"output={parts}", "--set", "steps=5", "--resume", "auto")
        last = [(f / "checkpoints/step-00000005.safetensors").read_bytes() for f in (whole, parts)]
        assert last[0] == last[1], config
assert len(CONFIGS) >= 4
