# SPDX-License-Identifier: Apache-2.0
"""The commands train and eval: good and bad input, signals, kills, full disks.  Usage: train_cli_test.py BINARY ROOT"""
import html
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BINARY, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
FOLDER = pathlib.Path(tempfile.mkdtemp())
SMALL = {
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                          {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
    "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2},
    "optimizer": {"lr": 0.01}, "batch": 2, "steps": 30, "update": "step", "backend": "reference",
    "validation": {"every": 10, "batches": 1}, "checkpoint": {"every": 1, "keep": 2},
}
CONFIG = FOLDER / "small.json"
CONFIG.write_text(json.dumps(SMALL))


def run(*args, **kwargs):
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, cwd=FOLDER, **kwargs)


def expect(args, status, out="", err="", **kwargs):
    r = run(*args, **kwargs)
    assert r.returncode == status and out in r.stdout and err in r.stderr, \
        f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


def config(name, **changes):
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps({**SMALL, **changes}))
    return path


def train(output, *args, source=CONFIG):
    return ["train", source, "--set", f"output={output}", *args]


def checkpoints(output):
    return sorted((FOLDER / output / "checkpoints").glob("step-*.safetensors"))


# A whole run: outcome, files, the configuration as used; a checkpoint that any reader of the format understands.
outcome = json.loads(expect(train("whole", "--json"), 0))
assert outcome["ending"] == "finished" and outcome["updates"] == 30 and 0 <= outcome["accuracy"] <= 1, outcome
assert [p.name for p in checkpoints("whole")] == ["step-00000029.safetensors", "step-00000030.safetensors"]
FINAL = checkpoints("whole")[-1].read_bytes()
length = struct.unpack("<Q", FINAL[:8])[0]
header = json.loads(FINAL[8:8 + length])
assert header["model.rnn.Wh.weight.weight"]["dtype"] == "F32" and header["model.rnn.Wh.weight.weight"]["shape"] == [7, 3], header
used = json.loads((FOLDER / "whole/config.json").read_text())
assert used["optimizer"]["beta1"] == 0.9 and used["rule"] == {"name": "D_RTRL"}, used

# The command in the report repeats the run, also when folders have names that a shell would split.
for output, more in (("whole", {}), ("it's [a] $run", {"checkpoint": {**SMALL["checkpoint"], "dir": "[kept]"}})):
    if more:
        expect(["train", config("odd", **more, output=output)], 0)
    shown = re.search("<code>(braintrace train .*?)</code>", (FOLDER / output / "report.html").read_text())[1]
    path = f"{pathlib.Path(BINARY).resolve().parent}:{os.environ['PATH']}"
    r = subprocess.run(html.unescape(shown), shell=True, cwd=FOLDER, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert r.returncode == 0, (shown, r)
    assert (FOLDER / f"{output}-again/metrics.jsonl").exists(), shown
assert checkpoints("whole-again")[-1].read_bytes() == FINAL and (FOLDER / "[kept]-again/best.safetensors").exists()

# eval says what the last validation said, and the same each time.
measured = json.loads(expect(["eval", checkpoints("whole")[-1], "--json"], 0))
assert measured["loss"] == outcome["loss"] and measured["accuracy"] == outcome["accuracy"], (measured, outcome)
assert sum(map(sum, measured["confusion"])) == 4, measured
expect(["eval", checkpoints("whole")[-1], "--batches", "3"], 0, out="accuracy")
expect(["predict", checkpoints("whole")[-1], "-o", "p.csv"], 2, err="Train on a file: csv, npz, ts or wav.")

# An earlier run is not overwritten by accident, its best checkpoint alone neither; a longer one goes on.
expect(train("whole"), 2, err="--resume auto")
(FOLDER / "kept/checkpoints").mkdir(parents=True)
shutil.copy(FOLDER / "whole/checkpoints/best.safetensors", FOLDER / "kept/checkpoints")
expect(train("kept"), 2, err="such as kept/checkpoints/best.safetensors")
assert (FOLDER / "kept/checkpoints/best.safetensors").exists()
expect(train("whole", "--overwrite", "--set", "seed=2"), 0)
assert checkpoints("whole")[-1].read_bytes() != FINAL
expect(train("whole", "--resume", "auto"), 2, err="seed is 2 there and 0 here")
expect(train("whole", "--resume", "auto", "--set", "seed=2", "--set", "steps=33"), 0, err="continuing from")
assert checkpoints("whole")[-1].name == "step-00000033.safetensors"

# Checkpoints may lie elsewhere.
expect(train("apart", "--set", "checkpoint.dir=elsewhere/kept", "--set", "steps=2"), 0)
assert (FOLDER / "elsewhere/kept/step-00000002.safetensors").exists() and (FOLDER / "apart/report.html").exists()

# A goal that is missed is a check that failed; so is a run that blows up, whose last good checkpoint stays.
expect(train("goal", "--set", "goal.accuracy=1.1"), 1, out="NOT reached")
expect(train("spoiled", "--set", "optimizer={\"type\":\"sgd\",\"lr\":1e38}"), 1, err="not finite")

# Ctrl-C: finishes the step, saves, says how to go on; what follows is as if nothing had happened.
process = subprocess.Popen([BINARY, *map(str, train("signal", "--set", "steps=1000000"))], cwd=FOLDER,
                           stderr=subprocess.PIPE, text=True)
while not checkpoints("signal"):
    time.sleep(0.01)
process.send_signal(signal.SIGINT)
said = process.communicate()[1]
assert process.returncode == 130 and "--resume auto" in said and "saved" in said, (process.returncode, said)
stopped = checkpoints("signal")[-1]
at = int(stopped.name[5:13])
expect(train("unstopped", "--set", f"steps={at + 5}"), 0)
expect(train("signal", "--resume", stopped, "--set", f"steps={at + 5}"), 0)
assert json.loads(expect(["eval", checkpoints("signal")[-1], "--json"], 0))["updates"] == at + 5
assert checkpoints("signal")[-1].read_bytes() == checkpoints("unstopped")[-1].read_bytes()

# kill -9 at random moments of the real command.
random.seed(1)
kills = 0
for _ in range(200):
    process = subprocess.Popen([BINARY, *map(str, train("killed", "--quiet", "--resume", "auto"))], cwd=FOLDER,
                               stderr=subprocess.DEVNULL)
    try:
        process.wait(random.uniform(0, 0.6))
        break
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        kills += 1
    if kills == 15:  # then it may go on to the end
        expect(train("killed", "--resume", "auto"), 0)
        break
assert checkpoints("killed")[-1].read_bytes() == FINAL, f"after {kills} kills"

# Damaged, newer and foreign checkpoints.
good = checkpoints("killed")[-1]
bad = FOLDER / "bad.safetensors"
for content, said in [(FINAL[:-9], "cut short"), (FINAL[:100], "cut short"), (b"", "0 bytes"),
                      (FINAL[:-1] + bytes([FINAL[-1] ^ 1]), "damaged"),
                      (FINAL.replace(b'"version":"1"', b'"version":"2"'), "damaged"), (b"x" * 400, "not a safetensors")]:
    bad.write_bytes(content)
    expect(["eval", bad], 2, err=said)
    expect(train("killed", "--resume", bad), 2, err=said)
expect(train("killed", "--resume", FOLDER / "none"), 2, err="No such file")
expect(train("other", "--resume", good, source=config("other", batch=3)), 2, err="batch is 2 there and 3 here")
assert not (FOLDER / "other/metrics.jsonl").exists()
good.write_bytes(FINAL[:-9])  # the newest is damaged: auto takes the one before, and says so
expect(train("killed", "--resume", "auto"), 0, err="step-00000029")
assert good.read_bytes() == FINAL

# Folders that cannot be written, and a disk that ends: the earlier checkpoint stays.
expect(train("/proc/none"), 2, err="/proc/none")
expect(train(CONFIG), 2, err="cannot create this folder")


def small_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


before = {p: p.read_bytes() for p in checkpoints("killed")}
assert all(len(b) > 4000 for b in before.values())
expect(train("killed", "--resume", "auto", "--set", "steps=99"), 2, err="The last good checkpoint is killed/checkpoints/step-00000030",
       preexec_fn=small_disk)
assert {p: p.read_bytes() for p in checkpoints("killed")} == before
assert not list((FOLDER / "killed/checkpoints").glob("*.tmp"))

# Configurations.
expect(["train", FOLDER / "none.json"], 2, err="No such file")
(FOLDER / "text.json").write_text("{\"model\": ")
expect(["train", FOLDER / "text.json"], 2, err="not JSON")
expect(["train", config("a", optimiser={})], 2, err="did you mean 'optimizer'")
expect(["train", config("b", batch="many")], 2, err="config.batch: expected a positive whole number")
expect(["train", config("huge", batch=999999999)], 2, err="config.batch: 999999999 sequences of 7 steps need at least")
expect(["train", config("c", task={"type": "copi"})], 2, err="did you mean 'copy'")
expect(["train", config("d", model="grv")], 2, err="did you mean 'gru'")
expect(["train", config("e", model={"type": "gru", "n_in": 4, "n_rec": 5})], 2, err="the task expects")
expect(["train", CONFIG, "--set", "optimizer.learning_rate=1"], 2, err="config.optimizer.learning_rate")
expect(train(""), 2, err="config.output: the name of the folder is empty")
(FOLDER / "twice.json").write_text(CONFIG.read_text()[:-1] + ', "steps": 3}')
expect(["train", FOLDER / "twice.json"], 2, err="twice.json: at steps: the field 'steps' is given twice")
assert not (FOLDER / "runs").exists()  # nothing starts before all is right

shutil.rmtree(FOLDER)
