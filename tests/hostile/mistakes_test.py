# SPDX-License-Identifier: Apache-2.0
"""Mistakes that anybody makes: each ends with status 2 and words that say what is wrong, never with a bug or a signal.

Guards: numbers as options; settings other than eps=-1; a folder in place of a file and a file in place of a folder; a case
without a field or the values of a model."""
import resource
import zipfile

from support import *

GOOD = write_config("good")
HUGE = FOLDER / "huge.json"
HUGE.write_text(json.dumps({"type": "gru", "n_in": 100000, "n_rec": 30000000}))

for command in (["graph"], ["explain"], ["fidelity"], ["export", "-o", "exported"], ["stream"]):
    with check(f"{command[0]} of a model without an axis of features"):
        for model in ("conv_rnn", MODEL):
            expect([*command, model, "--input", "f32[]"], 2, text='{"x":1}\n')

for number in ("1e999", "nan", "-1"):
    with check(f"numbers that are none, or too large: {number}"):
        expect(["export", MODEL, "--lr", number, "-o", "exported"], 2)
        expect(["stream", MODEL, "--lr", number], 2)
        expect(["train", GOOD, "--set", f"optimizer.lr={number}"], 2)
        expect(["advise", MODEL, "--memory", number], 2)
for seed in ("-1", "18446744073709551616", "1e30"):
    with check(f"the seed {seed}"):
        for command in (["export", MODEL, "-o", "exported"], ["fidelity", MODEL], ["stream", MODEL], ["tasks", "copy"]):
            expect([*command, "--seed", seed], 2, err="expected an integer ≥ 0")
        expect(["train", GOOD, "--set", f"seed={seed}"], 2, err="seed")
for setting in ("optimizer.eps=-1", "optimizer.eps=1e999", "optimizer.beta1=2", "optimizer.weight_decay=-1", "batch=0"):
    with check(f"--set {setting}"):
        expect(["train", GOOD, "--set", setting], 2)

with check("an empty value, as of a shell variable that is not set"):
    for command in (["explain", MODEL, "--hidden", ""], ["schedule", MODEL, "--dump", ""], ["graph", MODEL, "-o", ""], ["tasks", ""], ["help", ""],
                    ["export", MODEL, "-o", ""], ["train", GOOD, "--set", ""], ["train", ""], ["fidelity", MODEL, "--input", ""]):
        expect(command, 2, err="needs a value that is not empty")

with check("not enough memory; `advise` judges such a model without making it"):
    for command in (["graph"], ["export", "-o", "exported"], ["stream"]):
        expect([*command, HUGE], 2, err="memory")
    expect(["advise", HUGE, "--rules", "D_RTRL"], 0, out="nothing fits")

with check("the weights of this one are 2 GB; looking at it takes a part of that"):
    large = FOLDER / "large.json"
    large.write_text(json.dumps({"type": "gru", "n_in": 10, "n_rec": 13000}))
    limit = 1500 << 20
    expect(["advise", large, "--rules", "ES_D_RTRL", "--length", "2", "--batch", "1"], 0, out="ES_D_RTRL",
           before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

circle, pipe, closed = FOLDER / "circle", FOLDER / "pipe.csv", FOLDER / "closed"
circle.symlink_to("circle")
os.mkfifo(pipe)
closed.mkdir()
for what, path in {"a circle of links": circle, "a folder in place of a file": FOLDER, "a pipe nobody writes to": pipe,
                   "inside a circle of links": circle / "inside.json"}.items():
    with check(f"input from {what}"):
        for command in (["graph"], ["train"], ["eval"], ["verify"], ["stream", MODEL, "--load"]):
            expect([*command, path], 2)
        expect(["tasks", json.dumps({"type": "csv", "file": str(path), "inputs": "a", "targets": "b"})], 2)
for what, output in {"a circle of links": circle, "inside a circle of links": circle / "inside", "a file": MODEL}.items():
    with check(f"output into {what} in place of a folder"):
        expect(["train", GOOD, "--set", f"output={output}"], 2)
        expect(["export", MODEL, "-o", output], 2)
if os.geteuid() != 0:
    with check("a folder that cannot be read"):
        closed.chmod(0)
        expect(["verify", closed], 2)
        expect(["export", MODEL, "-o", closed / "inside"], 2)
        closed.chmod(0o700)

with check("a table with the mark that spreadsheets put in front has all its columns"):
    table = FOLDER / "marked.csv"
    table.write_bytes(b"\xef\xbb\xbfa,b\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(40)))
    expect(["tasks", json.dumps({"type": "csv", "file": str(table), "inputs": "a", "targets": "b", "length": 4})], 0)
    expect(["stream", MODEL, "--format", "csv"], 0, text=b"\xef\xbb\xbf1,2,0.5\n", out="prediction")

shutil.copytree(SOURCE / "tests/data/golden/corrected", FOLDER / "cases")
case = min((FOLDER / "cases").rglob("case.json"))
whole = json.loads(case.read_text())
assert len(whole) > 5
with check("a case from elsewhere without one of its fields"):
    for field in whole:
        case.write_text(json.dumps({k: v for k, v in whole.items() if k != field}))
        o = run("verify", case)
        assert o.status in (0, 1, 2), o  # some fields only say where the case comes from
recorded = case.parent / "arrays.npz"
members = {name: zipfile.ZipFile(recorded).read(name) for name in zipfile.ZipFile(recorded).namelist()}
for array in ("x", "target", "h0.cell.h1", "param.out.weight.bias"):
    with check(f"a case from elsewhere without its array {array}"):
        arrays = {k: v for k, v in whole["arrays"].items() if k != array}
        assert len(arrays) == len(whole["arrays"]) - 1
        case.write_text(json.dumps({**whole, "arrays": arrays}))
        with zipfile.ZipFile(recorded, "w") as file:
            for name in arrays:
                file.writestr(f"{name}.npy", members[f"{name}.npy"])
        expect(["verify", case], 2, err=array)

with check("standard output that is full"):
    expect(["tasks"], 2, err="No space left", stdout=full())
    expect(["info", "--ops"], 2, err="No space left", stdout=full())
