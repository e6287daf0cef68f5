# SPDX-License-Identifier: Apache-2.0
"""Streams that are stopped, blocked, cut off and fed with poison. Nothing learned is lost: what is saved is, bit by bit,
what a quiet stream of the accepted records saves. No record spoils what was learned.

Guards: INT and TERM while records are awaited; a reader that has gone; records that cannot be read; nan in a table; forged
files of another model and with bytes too many."""
import functools
import random
import resource

from support import *

INTERPRETED = {"BRAINTRACE_BACKEND": "reference"}
STOPS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGXCPU, signal.SIGALRM, signal.SIGUSR1)


def records(n, seed=1):
    dice = random.Random(seed)
    return [json.dumps({"x": [dice.uniform(-1, 1), dice.uniform(-1, 1)], "y": [dice.uniform(-1, 1)]}) for _ in range(n)]


def text(lines):
    return ("\n".join(lines) + "\n").encode()


@functools.cache
def quiet(lines, *args):
    """The file that a stream without trouble saves."""
    path = FOLDER / "quiet.safetensors"
    expect(["stream", MODEL, "--every", 0, "--save", path, *args], 0, text=text(lines), env=INTERPRETED)
    return path.read_bytes()


def saved(name, lines, *args):
    assert (FOLDER / name).read_bytes() == quiet(tuple(lines), *args), f"{name}: not what {len(lines)} records make"


def begin(*args, **options):
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": INTERPRETED, **options}
    return start("stream", MODEL, *args, **options)


def give(p, lines):
    p.stdin.write(text(lines))
    p.stdin.flush()


LINES = records(6)

# Every signal that asks to stop, while records are awaited and while nobody reads the answers; also twice.
for s in STOPS:
    with check(f"{s.name} while records are awaited"):
        p = begin("--save", s.name)
        give(p, LINES)
        for _ in LINES:
            p.stdout.readline()
        p.send_signal(s)
        p.send_signal(s)
        o = outcome_of(p, s.name)
        assert o.status == 0 and f"learned from {len(LINES)} records" in o.err, o
        saved(s.name, LINES)

with check("two streams that save into one file would undo each other's work: the second does not begin"):
    p = begin("--save", "shared")
    give(p, LINES)
    p.stdout.readline()
    expect(["stream", MODEL, "--save", "shared"], 2, text=text(LINES), env=INTERPRETED, err=f"writes this file: process {p.pid} on ")
    p.stdin.close()
    assert p.wait() == 0
    saved("shared", LINES)
    expect(["stream", MODEL, "--load", "shared", "--save", "shared"], 0, text=text(LINES), env=INTERPRETED)

for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    with check(f"{s.name} while nobody reads the answers"):
        pipe = BlockedPipe()
        p = begin("--save", "blocked", stdout=pipe.writer)
        within(60, lambda: waits_in_a_system_call(p), "it waits for records")
        give(p, LINES[:1])
        within(60, lambda: waits_for_a_reader(p), "it is learned, and its answer waits")
        p.send_signal(s)
        o = outcome_of(p, f"blocked, {s.name}")
        assert o.status == 0 and "learned from 1 record," in o.err, o
        saved("blocked", LINES[:1])
        pipe.close()

# Nobody reads the output: full, closed, over the limit of a file, gone. The first three are errors.
with full() as place:
    for name, status, options in (("full", 2, {"stdout": place}), ("closed", 2, {"closed": [1]}), ("both", 2, {"closed": [1, 2]})):
        with check(f"nobody reads the output: {name}"):
            expect(["stream", MODEL, "--save", name], status, text=text(LINES), env=INTERPRETED, **options)
            saved(name, LINES[:1])
with check("answers into a file that has reached its limit"):
    small = FOLDER / "small"
    with open(small, "wb") as place:
        # The file of answers may not grow beyond what is there; what is saved is smaller than that.
        place.write(b"x" * 100000)
        place.flush()
        expect(["stream", MODEL, "--save", "limit"], 2, text=text(LINES), env=INTERPRETED, stdout=place,
               before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
    saved("limit", LINES[:1])
with check("a reader that has gone"):
    reader, writer = os.pipe()
    os.close(reader)
    expect(["stream", MODEL, "--save", "gone"], 0, text=text(LINES), env=INTERPRETED, stdout=writer)
    os.close(writer)
    saved("gone", LINES[:1])
with check("records that cannot be read"):
    expect(["stream", MODEL], 2, err="cannot read the records", closed=[0], stdin=subprocess.DEVNULL)

# Poison: numbers that are not numbers to this model, or that break its arithmetic. It is as if they had never come.
POISON = ['{"x": [1e39, 0], "y": [0]}', '{"x": [0, 0], "y": [1e39]}', '{"x": [0, 0], "y": [1e38]}', '{"x": [0, 0], "y": [-3e38]}',
          '{"x": [0, 0], "y": [2e19]}', '{"x": [3e38, 3e38], "y": [0]}', '{"x": [3e38, -3e38]}', "1e39,0,0", "0,0,1e38", "nan,0,0"]
for poison in POISON:
    if "3e38, " not in poison:  # huge inputs that the gates swallow are records like others
        with check(f"a stream that ends with {poison} saves what came before"):
            expect(["stream", MODEL, "--every", 0, "--save", "poisoned"], 0, text=text(LINES[:3] + [poison]), env=INTERPRETED)
            saved("poisoned", LINES[:3])
            (FOLDER / "poisoned").unlink()
mixed = []
for i, line in enumerate(records(400, seed=2)):
    mixed.append(line)
    if i % 7 == 3:
        mixed.append(POISON[i % len(POISON)])
with check("among 400 records it is as if they had never come"):
    o = expect(["stream", MODEL, "--save", "mixed", "--json"], 0, err="undone: ", text=text(mixed), env=INTERPRETED)
    summary = json.loads(o.out.splitlines()[-1])["summary"]
    assert summary["undone"] > 0 and summary["refused"] > 0, summary
    assert summary["learned"] + summary["predicted"] + summary["undone"] + summary["refused"] == len(mixed), summary
    taken = {json.loads(line)["record"] for line in o.out.splitlines()[:-1]}
    saved("mixed", [line for i, line in enumerate(mixed, 1) if i in taken])
    assert len(taken) < len(mixed) - 20 and all(i + 1 in taken for i, line in enumerate(mixed) if line not in POISON)
for rule in ("pp_prop", "uoro"):
    with check(f"poison under {rule}"):
        options = ["--rule", rule, *(["--rule-options", '{"decay_or_rank": 0.9}'] if rule == "pp_prop" else [])]
        expect(["stream", MODEL, "--every", 0, "--save", rule, *options], 0, env=INTERPRETED,
               text=text(LINES[:3] + ['{"x": [0, 0], "y": [1e38]}'] + LINES[3:]))
        saved(rule, LINES, *options)
with check("an index outside its table"):
    words = FOLDER / "words.json"
    words.write_text(json.dumps({"type": "chain", "layers": [{"name": "e", "type": "embedding", "vocab": 5, "n_out": 2}, *LAYERS]}))
    o = expect(["stream", words, "--json"], 0, err="record 2 undone: take: index 99", env=INTERPRETED,
               text='{"x": 1, "y": 1}\n{"x": 99, "y": 1}\n{"x": 1.5, "y": 1}\n{"x": -1e30, "y": 1}\n{"x": 4, "y": 1}\n')
    assert [json.loads(line).get("record") for line in o.out.splitlines()[:-1]] == [1, 5], o

with check("--strict ends at the poison, with what came before"):
    expect(["stream", MODEL, "--strict", "--save", "strict"], 2, err="record 7: the loss is inf", env=INTERPRETED,
           text=text(LINES + ['{"x": [0, 0], "y": [1e38]}'] + LINES))
    saved("strict", LINES)
with check("a rate with which nothing can be learned is an error, and what an earlier stream saved stays as good as it was"):
    expect(["stream", MODEL, "--optimizer", "sgd", "--lr", "1e30", "--save", "spoiled"], 2, err="nothing was learned: all",
           text=text(LINES), env=INTERPRETED)
    o = expect(["stream", MODEL, "--optimizer", "sgd", "--lr", "1e30", "--load", "spoiled"], 0, text='{"x": [0, 0]}\n', env=INTERPRETED)
    first = expect(["stream", MODEL], 0, text='{"x": [0, 0]}\n', env=INTERPRETED)
    assert json.loads(o.out)["prediction"] == json.loads(first.out)["prediction"], (o, first)


def learned_in(name):
    return int(read_tensors(FOLDER / name)[0]["__metadata__"]["records"]) if (FOLDER / name).exists() else 0


with check("kill -9 costs at most what came since the last save, and leaves no half of a file for long"):
    p = begin("--save", "killed", "--save-every", 50)
    give(p, records(175, seed=3))
    for _ in range(175):
        p.stdout.readline()
    # After a slow save the next one comes later than at 50 more, and the one after it counts from there.
    within(60, lambda: learned_in("killed") > 175 - 50, "fewer than 50 records are unsaved")
    p.kill()
    p.wait()
    kept = learned_in("killed")
    saved("killed", records(kept, seed=3))
    (FOLDER / f"killed.{p.pid}.0.tmp").write_bytes(b"half")
    expect(["stream", MODEL, "--load", "killed", "--save", "killed"], 0, text=text(records(200, seed=3)[kept:]), env=INTERPRETED)
    saved("killed", records(200, seed=3))
    assert not list(FOLDER.glob("*.tmp"))

expect(["stream", MODEL, "--save", "good"], 0, text=text(LINES), env=INTERPRETED)
with check("a file of another way to learn"):
    for args, said in ((["--rule", "snap"], 'rule is "D_RTRL" there'), (["--lr", "0.01"], "optimizer.lr is 0.001 there and 0.01 here"),
                       (["--optimizer", "sgd"], 'optimizer.type is "adam" there and "sgd" here')):
        expect(["stream", MODEL, "--load", "good", *args], 2, err=said, env=INTERPRETED)
    expect(["stream", MODEL, "--load", "good", "--loss", "cross_entropy"], 2, err='loss is "mse" there', env=INTERPRETED)


def meta(key, value):
    return lambda header, _: header["__metadata__"].__setitem__(key, value)


def other_shape(header, _):
    entry = next(v for k, v in header.items() if k.startswith("model.") and len(v["shape"]) == 2)
    entry["shape"] = entry["shape"][::-1]


weight = next(k for k in read_tensors(FOLDER / "good")[0] if k.startswith("model.rnn") and "weight" in k)
FORGERIES = [(meta("records", "-5"), "damaged"), (meta("records", "9" * 30), "damaged"), (meta("records", "ten"), "damaged"),
             (meta("learning", "[" * 5000), "damaged"), (meta("learning", "7"), "damaged"),
             (meta("format", "braintrace-stream/1"), "another version"), (other_shape, "a different model"),
             (lambda h, d: d.extend(b"1234"), "belong to no array"), (set_elements(weight, "f", float("nan")), "not finite")]
for i, (change, said) in enumerate(FORGERIES):
    with check(f"a forged file: {said}, number {i}"):
        forge(FOLDER / "good", FOLDER / "forged", change)
        before = (FOLDER / "forged").read_bytes()
        expect(["stream", MODEL, "--load", "forged", "--save", "forged"], 2, err=said, text=text(LINES), env=INTERPRETED)
        assert (FOLDER / "forged").read_bytes() == before
with check("weights that are not numbers"):
    expect(["stream", MODEL, "--weights", "forged"], 2, err="not finite", env=INTERPRETED)
