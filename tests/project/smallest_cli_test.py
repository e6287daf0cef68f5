# SPDX-License-Identifier: Apache-2.0
"""Every layer type with every size 1, through the command line: shown, measured, advised on, exported, streamed and trained.
A command either does it or says in words why the layer alone has nothing to learn.

Usage: smallest_cli_test.py BINARY SOURCES"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BINARY, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
FOLDER = pathlib.Path(tempfile.mkdtemp())
ENVIRONMENT = {**os.environ, "BRAINTRACE_BACKEND": "reference"}
NOTHING_TO_LEARN = ("there is no weight to train", "has nothing to trace")
NEEDS_BATCH = ("needs a batch axis", "'bi,io->bo' names 2 axes of x")


def run(what, *args, records="", allowed=()):
    """What the command said, or nothing where it was right to decline."""
    r = subprocess.run([BINARY, *map(str, args)], input=records, capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    declined = r.returncode == 2 and any(words in r.stderr for words in allowed)
    assert declined or r.returncode == 0, f"{what}: {args}: exit {r.returncode}\n{r.stdout[-1000:]}\n{r.stderr[-2000:]}"
    return "" if declined else r.stdout + r.stderr


def nested(sizes, value):
    for n in reversed(sizes):
        value = [value] * n
    return value


def trained(layer, sizes):
    """A chain from one number to one number with the layer in it."""
    before = [{"type": "linear", "n_in": 1, "n_out": 2}] if sizes == [2] else [{"type": "unflatten", "sizes": sizes}] if sizes[1:] else []
    doubled = layer["type"] in ("fanout_cascade", "feedback_pair", "mixed_pair", "shared_drive")
    keeps = (sizes[1:] and layer["type"] not in ("flatten", "mean_pool_hw")) or layer["type"] == "unflatten"  # several axes
    after = [{"type": "flatten", "n_trailing_axes": max(2, len(sizes))}] if keeps else []
    layers = [*before, layer, *after, {"type": "gru", "n_in": 2 if doubled else 1, "n_rec": 1}, {"type": "linear", "n_in": 1, "n_out": 1}]
    return {"type": "chain", "layers": [{"name": f"l{i}", **l} for i, l in enumerate(layers)]}


# The layers of users; recorded cases have some more, which tests/zoo takes from the same file.
page = (SOURCES / "docs/models.md").read_text().split("## Layer types")[1].split("\n## ")[0]
known = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
entries = [e for e in json.loads((SOURCES / "tests/data/smallest.json").read_text()) if e["model"]["type"] in known]
assert len(entries) >= len(known) - 1 > 50, (len(entries), len(known))  # a chain has no size
learned = 0
for number, entry in enumerate(entries):
    layer, sizes = entry["model"], json.loads(entry["input"][3:])
    name, ids = layer["type"], entry["input"].startswith("i32")
    model = FOLDER / f"{name}.json"
    model.write_text(json.dumps(layer))
    start = [model, "--input", entry["input"]]

    shown = run(name, "graph", *start, allowed=NEEDS_BATCH)
    batch = [] if shown else ["--batch", 1]
    run(name, "explain", *start, *batch)
    run(name, "fidelity", *start, *batch, "--steps", 1, "--rules", "d_rtrl,bptt")
    if number % 15 == 0:  # estimates of one layer are as good as of another, and measure the machine each time
        run(name, "advise", *start, *batch, "--length", 1, "--rules", "d_rtrl,bptt")
    if shown:
        run(name, "export", *start, "-o", FOLDER / f"{name}_c", allowed=NOTHING_TO_LEARN)
        x = json.dumps(nested(sizes, 0 if ids else 0.5))
        said = run(name, "stream", *start, records=f'{{"x": {x}}}\n', allowed=NOTHING_TO_LEARN)
        if said:
            assert "predicted 1 more, skipped 0" in said, (name, said)
            y = json.loads(said.splitlines()[0])["prediction"]
            said = run(name, "stream", *start, records=f'{{"x": {x}, "y": {json.dumps(y)}}}\n')
            assert "learned from 1 record," in said, (name, said)
            learned += 1
    if not ids:
        config = {"model": trained(layer, sizes), "task": {"type": "sine", "length": 1}, "batch": 1, "steps": 1, "backend": "reference",
                  "output": str(FOLDER / f"{name}_run")}
        (FOLDER / "config.json").write_text(json.dumps(config))
        run(name, "train", FOLDER / "config.json", "--quiet")
assert learned > 20, learned
