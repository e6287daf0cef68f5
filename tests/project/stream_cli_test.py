# SPDX-License-Identifier: Apache-2.0
"""The command stream, over pipes and UDP.  Usage: stream_cli_test.py BINARY"""
import json
import math
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
MODEL = FOLDER / "small.json"
MODEL.write_text('{"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 12}, '
                 '{"name": "out", "type": "linear", "n_in": 12, "n_out": 1}]}')
CLASSES = FOLDER / "classes.json"
CLASSES.write_text(MODEL.read_text().replace('"n_out": 1', '"n_out": 3'))


def stream(args, text="", status=0, err=""):
    r = subprocess.run([BINARY, "stream", *map(str, args)], input=text, capture_output=True, text=True)
    assert r.returncode == status and err in r.stderr, f"{args}: exit {r.returncode}\n{r.stdout[-1000:]}\n{r.stderr[-2000:]}"
    return [json.loads(line) for line in r.stdout.splitlines()]


def records(n, seed=1):
    """The target is the first input of the step before."""
    draw, before = random.Random(seed), 0
    for _ in range(n):
        x = [draw.choice((-1, 1)), draw.uniform(-1, 1)]
        yield {"x": x, "y": [before]}
        before = x[0]


def lines(items):
    return "".join(json.dumps(r) + "\n" for r in items)


# It learns; predictions come in order; the summary counts.
out = stream([MODEL, "--lr", "0.01", "--json"], lines(records(1500)))
losses = [r["loss"] for r in out[:-1]]
assert len(losses) == 1500 and [r["record"] for r in out[:-1]] == list(range(1, 1501))
assert sum(losses[:200]) > 5 * sum(losses[-200:]) > 0, (sum(losses[:200]), sum(losses[-200:]))
summary = out[-1]["summary"]
latency = summary["latency_seconds"]
assert summary["learned"] == 1500 and summary["refused"] == 0, summary
assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"], latency

# CSV is the same stream; --every thins out; records without a target are only answered.
csv = "a,b,target\n" + "".join(f"{r['x'][0]},{r['x'][1]},{r['y'][0]}\n" for r in records(50))
again = stream([MODEL, "--lr", "0.01"], csv)
assert [r["prediction"] for r in again] == [r["prediction"] for r in out[:50]], (again[:2], out[:2])
quoted = '"a, ""first""","b","target"\r\n' + "".join(f'"{r["x"][0]}", "{r["x"][1]}" ,"{r["y"][0]}"\r\n' for r in records(50))
assert stream([MODEL, "--lr", "0.01"], quoted) == again
assert [r["record"] for r in stream([MODEL, "--every", "20"], csv)] == [21, 41]
only = stream([MODEL, "--json"], '{"x": [1, 0]}\n\n0.5,1,\n{"reset": true}\n{"x": [1, 0]}\n')
assert only[-1]["summary"]["predicted"] == 3 and "loss" not in only[0] and only[0]["prediction"] == only[2]["prediction"] != only[1]["prediction"]

# Stopping and going on is the same as never having stopped.
whole = stream([MODEL], lines(records(60)))
text = lines(records(60)).splitlines(keepends=True)
stream([MODEL, "--save", FOLDER / "s.safetensors"], "".join(text[:30]))
rest = stream([MODEL, "--seed", "9", "--load", FOLDER / "s.safetensors"], "".join(text[30:]))
assert [r["prediction"] for r in rest] == [r["prediction"] for r in whole[30:]]
stream([CLASSES, "--load", FOLDER / "s.safetensors"], status=2, err="a different model")
stream([MODEL, "--load", FOLDER / "s.safetensors", "--optimizer", "sgd"], status=2, err='optimizer.type is "adam" there and "sgd" here')
fresh = [stream([MODEL, "--weights", FOLDER / "s.safetensors", "--seed", n], '{"x": [1, 0]}') for n in (3, 4)]
assert fresh[0] == fresh[1] != stream([MODEL, "--seed", 3], '{"x": [1, 0]}')
stream([CLASSES, "--weights", FOLDER / "s.safetensors"], status=2, err="s.safetensors")
stream([MODEL, "--load", FOLDER / "nothing"], status=2, err="nothing")

# Classes.
out = stream([CLASSES, "--loss", "cross_entropy"], '{"x": [1, 2], "y": 2}\n')
assert abs(out[0]["loss"] - math.log(sum(math.exp(z - out[0]["prediction"][2]) for z in out[0]["prediction"]))) < 1e-5
assert out[0]["class"] == max(range(3), key=lambda c: out[0]["prediction"][c])

# Bad records are skipped and reported with their number, the others go on; --strict ends.
BAD = {'{"x": [1]}': "1 input value, but the model takes 2", '{"x": [1, 2], "y": [1, 2]}': "2 target values",
       '{"x": [1, 2': "at x[2]: this is not JSON", '{"x": [1, "a"]}': "expected numbers", '{"z": 1}': 'no field "z"',
       '"1",2,"3"4': "cell 3 has '4' after its closing quote", '1,"2': "the quote that opens cell 2 is not closed", '"1,2",3': "field 1 is '1,2'",
       "1,2,x": "field 3 is 'x'", "1,nan,0": "field 2 is 'nan'", "1,2,3,4": "4 fields", "1": "1 field;", '{"y": [1]}': '"x" is missing',
       '{"x": [1, 2], "y": [' + "0," * 50 + "0]}": "longer than 100 bytes"}
for bad, message in BAD.items():
    text = f'{{"x": [1, 2], "y": [0]}}\n{bad}\n{{"x": [1, 2], "y": [0]}}\n'
    out = stream([MODEL, "--json", "--max-bytes", "100"], text, err="record 2 skipped: ")
    assert out[-1]["summary"] == {**out[-1]["summary"], "refused": 1, "learned": 2}, out
    stream([MODEL, "--strict", "--max-bytes", "100"], text, status=2, err=message)
assert stream([MODEL, "--quiet"], "1\n", err="record 1 skipped: 1 field;") == []  # an error, which --quiet does not hide
stream([MODEL], "nan,1,0\n", err="record 1 skipped: field 1 is 'nan'")  # names of columns are skipped silently, numbers are not
stream([MODEL, "--strict"], "1e999,1,0\n", status=2, err="record 1: field 1 is '1e999'")
stream([MODEL, "--strict"], "a,b,c\n1,2,3\n")
stream([MODEL, "--strict"], "not a header\n1,2,3\n", status=2, err="record 1: 1 field; expected 2 inputs and 1 target,")
saved = FOLDER / "strict.safetensors"
stream([MODEL, "--strict", "--save", saved], lines(records(3)) + "{}\n", status=2, err="record 4")
assert stream([MODEL, "--load", saved], '{"x": [1, 0]}') != stream([MODEL], '{"x": [1, 0]}')  # what was learned before is kept
for place, message in ((FOLDER, "this is a folder"), (FOLDER / "none/s", "none/s: cannot create"), ("/proc/s", "/proc/s: cannot")):
    assert stream([MODEL, "--save", place], lines(records(3)), status=2, err=message) == []  # before anything is learned
stream([MODEL, "--count", "0"], status=2, err="--count: expected an integer ≥ 1, got '0'")
for option in "--clip-norm", "--weight-decay":
    stream([MODEL, option, "nan"], status=2, err=f"{option} nan: expected a finite number.")
stream([MODEL, "--lr", "abc"], status=2, err="--lr: expected a number, got 'abc'")
stream([MODEL, "--udp", "70000"], status=2, err="--udp: expected an integer from 0 to 65535, got '70000'")
stream([MODEL, "--average", "0"], status=2, err="--average: expected an integer ≥ 1, got '0'")

# Averages of the weights answer, and are saved.
plain = stream([MODEL, "--lr", "0.01"], lines(records(100)))
averaged = stream([MODEL, "--lr", "0.01", "--average", "20", "--save", FOLDER / "averaged"], lines(records(100)))
assert averaged[:2] == plain[:2] and averaged[50]["prediction"] != plain[50]["prediction"], (averaged[:2], plain[:2])
once = stream([MODEL, "--lr", "0.01", "--average", "20", "--load", FOLDER / "averaged"], lines(records(120))[len(lines(records(100))):])
assert [r["prediction"] for r in once] == [r["prediction"] for r in stream([MODEL, "--lr", "0.01", "--average", "20"], lines(records(120)))[100:]]
asked = [{"x": r["x"]} if i % 3 == 2 else r for i, r in enumerate(records(30))]  # some without a target
single = stream([MODEL, "--lr", "0.01", "--average", "5"], lines(asked))
fleet = stream([MODEL, "--lr", "0.01", "--average", "5", "--fleet"], lines({"id": "a", **r} for r in asked))
assert len(single) == 30 and [r["prediction"] for r in single] == [r["prediction"] for r in fleet], (single[:6], fleet[:6])
stream([MODEL, "--lr", "0.01", "--load", FOLDER / "averaged"], status=2, err="optimizer.average is 20 there and not given here")
stream([CLASSES, "--loss", "cross_entropy", "--strict"], '{"x": [1, 2], "y": 3}\n', status=2, err="0 … 2")
stream([MODEL, "--optimizer", "sgd", "--lr", "1e30"], lines(records(50)), status=2, err="Lower --lr")
stream([MODEL, "--rule", "three_factor"], status=2, err="modulator")
stream([MODEL, "--rule", "d_rtlr"], status=2, err="did you mean")
stream([MODEL, "--rule", "pp_prop", "--rule-options", '{"decay_or_rank": 0.9}'], lines(records(3)))
assert stream([MODEL]) == []


def start(*args):
    return subprocess.Popen([BINARY, "stream", MODEL, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, bufsize=1)


# An answer comes before the next question; Ctrl-C saves and summarizes.
p = start("--save", FOLDER / "stopped.safetensors")
for r in records(5):
    p.stdin.write(json.dumps(r) + "\n")
    assert "prediction" in json.loads(p.stdout.readline())
p.send_signal(signal.SIGINT)
assert p.wait(60) == 0 and "learned from 5 records" in p.stderr.read() and (FOLDER / "stopped.safetensors").exists()

# A fleet: every id has a learner of its own, which answers as a single stream of its records would.
def without(records, *keys):
    return [{k: v for k, v in r.items() if k not in keys} for r in records]


mixed = [{"id": "ab7"[i % 3], **r} for i, r in enumerate(records(30))]
fleet = stream([MODEL, "--fleet", "--save", FOLDER / "fleet", "--save-member", f"b={FOLDER / 'b'}"], lines(mixed))
for k, name in enumerate("ab7"):
    single = stream([MODEL], lines(without(mixed[k::3], "id")))
    assert without(single, "record") == without([r for r in fleet if r["id"] == name], "record", "id"), name
csv_fleet = "id,x0,x1,y\n" + "".join(f"{r['id']},{r['x'][0]},{r['x'][1]},{r['y'][0]}\n" for r in mixed)
assert without(stream([MODEL, "--fleet"], csv_fleet), "record") == without(fleet, "record")
named = stream([MODEL, "--fleet"], 'id,x0,x1,y\n"pump ""7"", north",1,2,3\npump,1,2,3\n')
assert [r["id"] for r in named] == ['pump "7", north', "pump"], named
stream([MODEL, "--fleet", "--strict"], "a,1,z\n", status=2, err="field 3 is 'z'")
stream([MODEL, "--fleet", "--strict"], "a\n", status=2, err="0 fields after the id; expected 2 inputs")
more = lines(without(mixed[1:13:3], "id"))
assert stream([MODEL, "--load", FOLDER / "b"], more) == without(
    stream([MODEL, "--fleet", "--load", FOLDER / "fleet"], lines(mixed[1:13:3])), "id")
moved = stream([MODEL, "--fleet", "--load-member", f"c={FOLDER / 'b'}"], lines([{**mixed[1], "id": "c"}]))
assert without(moved, "id") == stream([MODEL, "--load", FOLDER / "b"], lines(without(mixed[1:2], "id")))
newcomer = stream([MODEL, "--fleet"], '{"id": 1, "x": [1, 0]}')
again = stream([MODEL, "--fleet", "--load", FOLDER / "fleet"], '{"id": "b", "remove": true}\n{"id": "b", "x": [1, 0]}')
assert again[0]["prediction"] == newcomer[0]["prediction"]  # a member that was removed starts from scratch
for bad, message in (('{"x": [1, 0]}', '"id" is missing'), ('{"id": 1.5, "x": [1, 0]}', "whole number"), (",1,0", "1 to 200 bytes"),
                     ('{"id": "none", "remove": true}', "there is no member 'none'")):
    assert stream([MODEL, "--fleet"], bad, err=message, status=2 if "remove" in bad else 0) == []
stream([MODEL, "--fleet", "--members", "2"], lines(mixed[:3]), err="at most 2 are allowed")
stream([MODEL], '{"id": 1, "x": [1, 0]}', err="ids are for --fleet")
stream([MODEL, "--members", "2"], status=2, err="--fleet")
stream([MODEL, "--fleet", "--load", FOLDER / "b"], status=2, err="not a fleet's file")
poison = [{"id": "a", "x": [1, 0], "y": [1e38]}, {"id": "b", "x": [1, 0], "y": [0]}]
hurt = stream([MODEL, "--fleet", "--optimizer", "sgd"], lines(poison * 3), err="record 1 undone")
assert [r["id"] for r in hurt] == ["b"] * 3, hurt

# A reader that goes away ends the stream quietly.
p = start()
p.stdout.close()
for r in records(3):
    try:
        p.stdin.write(json.dumps(r) + "\n")
    except BrokenPipeError:
        break
assert p.wait(60) == 0

# UDP.
p = start("--udp", 0, "--json", "--max-bytes", "200")
port = int(re.search(r"port (\d+)", p.stderr.readline())[1])
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for r in records(20):
    udp.sendto(json.dumps(r).encode(), ("127.0.0.1", port))
    assert "prediction" in json.loads(p.stdout.readline())
udp.sendto(b"x" * 500, ("127.0.0.1", port))
assert "longer than 200 bytes" in p.stderr.readline()
taken = subprocess.run([BINARY, "stream", MODEL, "--udp", str(port)], capture_output=True, text=True)
assert taken.returncode == 2 and "cannot listen" in taken.stderr, taken
p.send_signal(signal.SIGTERM)
assert p.wait(60) == 0
assert json.loads(p.stdout.read())["summary"]["learned"] == 20

# Memory stays flat.
p = start("--every", "10000")


def resident():
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{p.pid}/status").read_text())[1])


block, sizes = lines(records(10000)), []
for _ in range(3):
    p.stdin.write(block)
    p.stdin.flush()
    assert p.stdout.readline()
    sizes.append(resident())
p.stdin.close()
assert p.wait(60) == 0 and sizes[2] - sizes[0] < 1024, sizes
