# SPDX-License-Identifier: Apache-2.0
"""Mistakes that anybody makes: each ends with status 2 and words that say what is wrong, never with a bug or a signal."""
import resource

from support import *

GOOD = write_config("good")
HUGE = FOLDER / "huge.json"
HUGE.write_text(json.dumps({"type": "gru", "n_in": 100000, "n_rec": 30000000}))

# A model without an axis of features.
for command in (["graph"], ["explain"], ["fidelity"], ["export", "-o", "exported"], ["stream"]):
    for model in ("conv_rnn", MODEL):
        expect([*command, model, "--input", "f32[]"], 2, text='{"x":1}\n')

# Numbers that are none, or too large.
for number in ("1e999", "nan", "-1"):
    expect(["export", MODEL, "--lr", number, "-o", "exported"], 2)
    expect(["stream", MODEL, "--lr", number], 2)
    expect(["train", GOOD, "--set", f"optimizer.lr={number}"], 2)
    expect(["advise", MODEL, "--memory", number], 2)
for seed in ("-1", "18446744073709551616", "1e30"):
    for command in (["export", MODEL, "-o", "exported"], ["fidelity", MODEL], ["stream", MODEL], ["tasks", "copy"]):
        expect([*command, "--seed", seed], 2, err="whole number of at least 0")
    expect(["train", GOOD, "--set", f"seed={seed}"], 2, err="seed")
for setting in ("optimizer.eps=-1", "optimizer.eps=1e999", "optimizer.beta1=2", "optimizer.weight_decay=-1", "batch=0"):
    expect(["train", GOOD, "--set", setting], 2)

# More memory than there is. `advise` judges such a model without making it.
for command in (["graph"], ["export", "-o", "exported"], ["stream"]):
    expect([*command, HUGE], 2, err="memory")
expect(["advise", HUGE, "--rules", "D_RTRL"], 0, out="nothing fits")

# The weights of this one are 2 GB; looking at it takes a part of that.
large = FOLDER / "large.json"
large.write_text(json.dumps({"type": "gru", "n_in": 10, "n_rec": 13000}))
limit = 1500 << 20
expect(["advise", large, "--rules", "ES_D_RTRL", "--length", "2", "--batch", "1"], 0, out="ES_D_RTRL",
       before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

# Paths: a circle of links, a folder that cannot be read, a folder in place of a file, a pipe nobody writes to.
circle, pipe, closed = FOLDER / "circle", FOLDER / "pipe.csv", FOLDER / "closed"
circle.symlink_to("circle")
os.mkfifo(pipe)
closed.mkdir()
for path in (circle, FOLDER, pipe, circle / "inside.json"):
    for command in (["graph"], ["train"], ["eval"], ["verify"], ["stream", MODEL, "--load"]):
        expect([*command, path], 2)
    expect(["tasks", json.dumps({"type": "csv", "file": str(path), "inputs": "a", "targets": "b"})], 2)
for output in (circle, circle / "inside", MODEL):
    expect(["train", GOOD, "--set", f"output={output}"], 2)
    expect(["export", MODEL, "-o", output], 2)
if os.geteuid() != 0:
    closed.chmod(0)
    expect(["verify", closed], 2)
    expect(["export", MODEL, "-o", closed / "inside"], 2)
    closed.chmod(0o700)

# A table with the mark that spreadsheets put in front has all its columns.
table = FOLDER / "marked.csv"
table.write_bytes(b"\xef\xbb\xbfa,b\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(40)))
expect(["tasks", json.dumps({"type": "csv", "file": str(table), "inputs": "a", "targets": "b", "length": 4})], 0)
expect(["stream", MODEL, "--format", "csv"], 0, text=b"\xef\xbb\xbf1,2,0.5\n", out="prediction")

# A case from elsewhere: whatever is missing in it is named.
shutil.copytree(SOURCE / "tests/data/golden/corrected", FOLDER / "cases")
tried = 0
for case in sorted((FOLDER / "cases").rglob("case.json"))[:1]:
    whole = json.loads(case.read_text())
    for field in whole:
        case.write_text(json.dumps({k: v for k, v in whole.items() if k != field}))
        run("verify", case)
        tried += 1
assert tried > 5

# Standard output that is full.
expect(["tasks"], 2, err="No space left", stdout=full())
expect(["info", "--ops"], 2, err="No space left", stdout=full())
