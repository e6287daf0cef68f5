# SPDX-License-Identifier: Apache-2.0
"""Runs that share a folder, checkpoints that are forged, and batches that no machine holds.

Guards: a killed run, one folder for a run and its checkpoints, damaged checkpoints, those of another model, and the
forger's own copy."""
import math
import resource

from support import *

ENDLESS = write_config("endless", steps=1000000)


def train(output, *args, source=ENDLESS, **options):
    return expect(["train", source, "--quiet", "--set", f"output={output}", *args], **options)


# One run at a time works in a folder, whatever the second one wants there; the first goes on as if nothing had come.
p = start("train", ENDLESS, "--quiet", "--set", "output=shared", stdin=subprocess.DEVNULL)
metrics = FOLDER / "shared/metrics.jsonl"
within(60, lambda: metrics.exists() and metrics.read_text().count("\n") > 3, "updates")
os.symlink("shared", FOLDER / "alias")
for args in ([], ["--overwrite"], ["--resume", "auto"]):
    with check(f"a second run in a folder {args}"):
        train("shared", *args, status=2, err=f"another run uses this folder: process {p.pid} on ")
with check("a second run with checkpoints there"):
    train("apart", "--set", "checkpoint.dir=shared/checkpoints", "--overwrite", status=2, err=f"process {p.pid} on ")
with check("a second run there by a link"):
    train("alias", "--overwrite", status=2, err=f"process {p.pid} on ")
with check("the first run goes on, and logs each step once"):
    before = metrics.read_text().count("\n")
    within(60, lambda: metrics.read_text().count("\n") > before + 3, "the first run goes on")
    steps = [json.loads(line)["step"] for line in metrics.read_text().splitlines() if '"kind":"step"' in line]
    assert steps == list(range(1, len(steps) + 1)), "each step is logged once"
with check("a killed run holds nothing: the next one goes on from its checkpoint"):
    p.kill()
    p.wait()
    done = metrics.read_text().count('"kind":"step"')
    train("shared", "--resume", "auto", source=write_config("endless", steps=done + 5), status=0)
with check("one folder for a run and its checkpoints"):
    train("shared", "--overwrite", "--set", "checkpoint.dir=shared", source=write_config("endless"), status=0)

# Forged checkpoints.
train("good", source=write_config("good"), status=0)
GOOD = sorted((FOLDER / "good/checkpoints").glob("step-*"))[-1]
BAD = FOLDER / "bad.safetensors"


def progress(**changes):
    def change(header, _):
        header["__metadata__"]["progress"] = json.dumps({**json.loads(header["__metadata__"]["progress"]), **changes})
    return change


def shape(name, new):
    return lambda header, _: header[name].__setitem__("shape", new)


def rename(name, new):
    return lambda header, _: header.__setitem__(new, header.pop(name))


def element(name, index, value):
    def change(header, data):
        struct.pack_into("<d", data, header[name]["data_offsets"][0] + 8 * index, value)
    return change


WEIGHT = "model.rnn.Wh.weight.weight"
steps = read_tensors(GOOD)[0]["run.steps"]["shape"]
CHANGES = {"updates": [progress(updates=n) for n in (-1, -2**63, 2**62, 1.5, "many", None, 10**40)],
           "batch": [progress(batch=n) for n in (-1, 11, 2**62)], "time": [progress(time=n) for n in (-1, 7, 10**12, -2**63)],
           "bad": [progress(bad=n) for n in (-1, 10**9)], "schedule": [progress(schedule=n) for n in (-1, 10**15)],
           "step": [progress(alarms=[{"step": 10**9, "kind": "a", "where": "b", "message": "c"}]),
                    element("run.steps", 0, float("nan")), element("run.steps", 0, -1e300), element("run.stretch", 0, 1e300),
                    element("run.validations", 0, float("nan")), element("run.validations", 0, 1e18)],
           "damaged": [progress(alarms=7), progress(alarms=[{}]), rename("run.best", "run.worst"),
                       lambda header, _: header["__metadata__"].__setitem__("progress", "[]")],
           "run.steps": [shape("run.steps", steps[::-1]), shape("run.steps", [steps[0] * steps[1]])],
           "run.validations": [shape("run.validations", [6]), shape("run.validations", [3, 2])],
           "run.best": [shape("run.best", [1]), element("run.best", 0, float("nan"))],
           "random.key": [shape("random.key", [1, 2]), rename("random.key", "k")],
           "run.stretch is": [shape("run.stretch", [7, 1])],
           "a stretch has": [element("run.stretch", 5, n) for n in (-1, 1e300, float("nan"))] +
                            [element("run.stretch", 6, n) for n in (0, -4, float("inf"), float("nan"))],
           "a different model": [shape(WEIGHT, [3, 7]), rename(WEIGHT, "model.x"), rename(WEIGHT, "run.x")],
           "not finite": [set_elements(WEIGHT, "f", v) for v in (float("nan"), float("inf"))]}
for said, changes in CHANGES.items():
    for i, change in enumerate(changes):
        with check(f"a forged checkpoint: {said}, number {i}"):
            forge(GOOD, BAD, change)
            expect(["eval", BAD], 2, err=said)
            if i == 0:
                train("resumed", "--resume", BAD, source=write_config("good"), status=2, err=said)
with check("the forger's own copy, unchanged, is fine"):
    forge(GOOD, BAD, lambda header, data: None)
    expect(["eval", BAD], 0, out="10 updates")

with check("a run whose weights are not numbers anymore leaves no checkpoint of them, neither numbered nor best"):
    train("spoiled", source=write_config("spoiled", optimizer={"type": "sgd", "lr": 1e38}), status=1, err="not finite")
    for path in (FOLDER / "spoiled/checkpoints").glob("*.safetensors"):
        header, data = read_tensors(path)
        for name, entry in header.items():
            if name.startswith("model."):
                numbers = struct.unpack(f"<{math.prod(entry['shape'])}f", data[slice(*entry["data_offsets"])])
                assert all(map(math.isfinite, numbers)), f"{path}: {name}"
        expect(["eval", path], 0)

# A batch whose parts would each fit into this machine, but not all of them together: said before anything is filled.
# (The limit of the process makes sure that a mistake here harms nobody.)
memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
LONG = {"type": "copy", "lag": 100000, "count": 2, "symbols": 2}  # 1.6 MB of inputs for each sequence
for share in (0.5, 0.9, 100):
    with check(f"a batch whose inputs take {share} of the memory"):
        train("huge", source=write_config("huge", batch=int(share * memory / 1.6e6), task=LONG), status=2,
              err="GB of memory, this machine has", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)))
