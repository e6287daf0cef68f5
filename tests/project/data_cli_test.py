# SPDX-License-Identifier: Apache-2.0
"""Your own data: parts, missing cells, scales, judged and answered by a checkpoint.  Usage: data_cli_test.py BINARY"""
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

BINARY = sys.argv[1]
SOURCES = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(tempfile.mkdtemp())


def run(*args, status=0, err=""):
    r = subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, cwd=FOLDER)
    assert r.returncode == status and err in r.stderr, \
        f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


def rows(first, last, change=lambda i, x: x):
    lines = ["time,x,next"]
    for i in range(first, last):
        lines.append(f"day {i},{change(i, 100 + 10 * math.sin(i / 3))},{math.sin((i + 1) / 3)}")
    return "\n".join(lines) + "\n"


def write(name, text):
    (FOLDER / name).write_text(text)


CONFIG = {
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 1, "n_rec": 3},
                                          {"name": "out", "type": "linear", "n_in": 3, "n_out": 1}]},
    "task": {"type": "csv", "file": "all.csv", "inputs": "x", "targets": "next", "length": 5, "test": 0.2,
             "normalize": "standard"},
    "batch": 4, "steps": 6, "backend": "reference", "validation": {"every": 3}, "checkpoint": {"every": 0},
}
write("all.csv", rows(0, 150))  # 30 pieces: 18 train, 6 validate, 6 test
write("config.json", json.dumps(CONFIG))
outcome = json.loads(run("train", "config.json", "--json"))
best = "runs/config/checkpoints/best.safetensors"
last = outcome["checkpoint"]

# The whole validation part is judged, though a batch is smaller, and the last batch smaller still.
judged = json.loads(run("eval", last, "--json"))
assert judged["loss"] == outcome["loss"] and judged["batches"] == "all", judged
assert json.loads(run("eval", last, "--json", "--batches", "2"))["loss"] == judged["loss"]
assert json.loads(run("eval", last, "--json", "--batches", "1"))["loss"] != judged["loss"]

# The test part, and the same rows as a file of their own, scaled as the training part; no other file is needed.
tested = json.loads(run("eval", best, "--part", "test", "--json"))
assert tested["set"] == "test" and tested["loss"] != judged["loss"], tested
write("later.csv", rows(120, 150))
(FOLDER / "all.csv").rename(FOLDER / "away.csv")
alone = json.loads(run("eval", best, "--data", "later.csv", "--json"))
assert alone["loss"] == tested["loss"] and alone["set"] == "later.csv", (alone, tested)
# Answers to the same rows, with targets and without: the loss follows from them.
write("unlabeled.csv", "\n".join(line.rsplit(",", 1)[0] for line in rows(120, 150).splitlines()) + "\n")
for name in ("later.csv", "unlabeled.csv"):
    run("predict", best, "--data", name, "-o", "answers.csv")
    answers = list(csv.DictReader((FOLDER / "answers.csv").open()))
    assert len(answers) == 30 and answers[7]["sample"] == "1" and answers[7]["step"] == "2", answers[7]
    errors = [(float(a["output 0"]) - math.sin((121 + i) / 3)) ** 2 for i, a in enumerate(answers)]
    assert abs(sum(errors) / 30 - alone["loss"]) < 1e-5, (name, errors, alone)
assert abs(alone["rmse"] ** 2 - alone["loss"]) < 1e-5 and "baselines" not in alone, alone
assert [b["name"] for b in tested["baselines"]] == ["mean", "linear, last 5 inputs"], tested
run("predict", best, "--data", "later.csv", "-o", "answers.txt", status=2, err=".npz or .csv")
run("eval", best, "--data", "missing.csv", status=2, err="missing.csv")
run("eval", best, "--data", "later.csv", "--part", "test", status=2, err="exclude each other")
(FOLDER / "away.csv").rename(FOLDER / "all.csv")

# The same of a run that counts passes.
write("passes.json", json.dumps({k: v for k, v in CONFIG.items() if k != "steps"} | {"epochs": 1}))
run("train", "passes.json")
run("eval", "runs/passes/checkpoints/best.safetensors", "--data", "later.csv")
run("predict", "runs/passes/checkpoints/best.safetensors", "--data", "later.csv", "-o", "answers.csv")

# A checkpoint fits the data it was made with.
run("train", "config.json", "--resume", "auto", "--set", "steps=7")
write("all.csv", rows(0, 150, lambda i, x: 2 * x))
run("train", "config.json", "--resume", "auto", "--set", "steps=8", status=2, err="task.fitted")

# A run that cannot learn fails before it removes an earlier one.
run("train", "config.json", "--overwrite", "--set", "task.validation=0", "--set", "task.test=1", status=2,
    err="nothing to learn from")
assert (FOLDER / best).exists()

# Missing cells.
write("all.csv", rows(0, 150, lambda i, x: "" if i == 7 else x))
run("train", "config.json", "--overwrite", status=2, err="all.csv: row 8, column 'x'")
run("train", "config.json", "--overwrite", "--set", "task.missing=mean")

# A loss that overflows on validation data does not pass as a finished run.
write("all.csv", rows(0, 150))
write("huge.csv", "time,x,next\n" + "now,1,1e30\n" * 10)
run("train", "config.json", "--overwrite", "--set", "task.validation_file=huge.csv", status=1, err="validation loss is inf")

# A class that the validation part lacks is named.
write("classes.csv", "x,next\n" + "1,1\n" * 5 + "2,0\n" * 45)
said = run("train", "config.json", "--overwrite", "--set", "task.file=classes.csv", "--set", "task.classes=2", "--set",
           "task.test=0", "--set", "model.layers.1.n_out=2")
assert "has no target of class 1" in said + (FOLDER / "runs/config/metrics.jsonl").read_text(), said
classes = json.loads(run("eval", "runs/config/checkpoints/best.safetensors", "--json"))
assert classes["majority_accuracy"] == 1 and abs(classes["perplexity"] - 2 ** classes["bits"]) < 1e-9, classes
assert classes["balanced_accuracy"] == classes["accuracy"] == classes["recall"][0], classes
told = run("eval", "runs/config/checkpoints/best.safetensors")
assert told.count("most common class") == 1 and "perplexity" in told, told
rows_of = dict(re.findall(r"^ +(\d) .* (\S+)$", told, re.M))  # recall by class; class 1 has no samples
assert rows_of["1"] == "–" and rows_of["0"].endswith("%"), told
told = run("eval", "runs/config/checkpoints/best.safetensors", "--data", "classes.csv")
assert told.count("most common class") == 1 and "most common class of these samples: 90.0%" in told, told
# A real series, learned online year by year: yearly sunspot numbers from 1700 to 2008, in hundreds (National Geophysical Data
# Center, public domain). On the years from 1948 the network must be better than answering with the last number.
write("sunspots.json", json.dumps({
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 1, "n_rec": 16},
                                          {"name": "out", "type": "linear", "n_in": 16, "n_out": 1}]},
    "task": {"type": "csv", "file": str(SOURCES / "tests/data/sunspots.csv"), "inputs": "activity", "targets": "activity",
             "length": 11, "ahead": 1, "contiguous": True, "validation": 0.2, "test": 0.2, "normalize": "standard"},
    "update": "step", "reset": False, "batch": 1, "epochs": 60, "optimizer": {"lr": 0.003, "clip_norm": 1.0},
    "validation": {"every": 0}, "checkpoint": {"every": 0}}))
assert json.loads(run("train", "sunspots.json", "--json"))["pace"].startswith("online"), "not online"
years = json.loads(run("eval", "runs/sunspots/checkpoints/best.safetensors", "--part", "test", "--json"))
last_number = next(b["r2"] for b in years["baselines"] if b["name"] == "last target")
assert last_number > 0.5 and years["r2"] > last_number + 0.1, years

# The picture of learning curves: a line for each rule of a panel, all inside of it.
sys.path.insert(0, str(SOURCES / "benchmarks/real_data"))
import curves  # noqa: E402
losses = {"BPTT": [[1 / (t + 1) for t in range(500)]] * 2, "D_RTRL": [[2.0, 0.5]]}
picture = ElementTree.fromstring(curves.picture([("One", "loss", 5, losses, ("chance", 0.7))] * 4, list(losses)))
lines = [e.get("points") for e in picture.iter() if e.tag.endswith("polyline")]
places = [tuple(map(float, place.split(","))) for line in lines for place in line.split()]
assert len(lines) == 8 and len(lines[0].split()) == curves.POINTS and len(lines[1].split()) == 2, lines
assert all(0 < x < float(picture.get("width")) and 0 < y < float(picture.get("height")) for x, y in places), places
print("ok")
