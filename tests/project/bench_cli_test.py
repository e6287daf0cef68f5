# SPDX-License-Identifier: Apache-2.0
"""The command bench: what it says, not how fast it was.  Usage: bench_cli_test.py BINARY"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
SMALL = ["--size", "3,2,4", "--steps", "5", "--seconds", "0.01"]


def bench(*args, status=0, err="", **environment):
    r = subprocess.run([BINARY, "bench", *map(str, args)], capture_output=True, text=True,
                       env={**os.environ, "BRAINTRACE_CFLAGS": "-O0", **environment})
    assert r.returncode == status and err in r.stderr and bool(err) == bool(r.stderr), \
        f"{args}: exit {r.returncode}\n{r.stdout[-2000:]}\n{r.stderr[-2000:]}"
    return json.loads(r.stdout) if "--json" in args and not status else r.stdout


# Both modes: the keys that benchmarks/peer/run reads, with numbers that make sense.
rows = bench("--model", "gru", "--rule", "d_rtrl", *SMALL, "--json")
assert [(r["model"], r["rule"], r["mode"], r["B"], r["n_in"], r["n"], r["T"]) for r in rows] == \
    [("gru", "D_RTRL", "sequence", 3, 2, 4, 5), ("gru", "D_RTRL", "stream", 3, 2, 4, 1)], rows
for r in rows:
    assert 0 < r["ours_min_us"] <= r["ours_us"] <= r["ours_p99_us"] and r["calls"] >= 5, r
    assert r["first_call_cold_s"] > 0 and r["first_call_cached_s"] > 0 and r["processor_us"] > 0, r
    assert r["peak_growth_mb"] > 0 and r["copy_traces_us"] > 0, r
    # Update gate and candidate: for each of three samples, a matrix [2 + 4, 4] and a bias.
    assert round(r["traces_mb"] * 2**20) == 4 * 3 * 2 * (6 * 4 + 4), r
    # Three gates and a readout of ten numbers, forward at least, and weights that are read at least once.
    assert r["flops"] > 3 * 2 * (3 * 6 * 4 + 4 * 10) and r["bytes"] > 4 * (3 * 6 * 4 + 4 * 10), r
larger = bench("--model", "gru", "--rule", "d_rtrl", "--size", "6,2,4", *SMALL[2:], "--json")
for r, twice in zip(rows, larger):  # of a batch of twice the size, per step
    assert 1.5 * r["flops"] < twice["flops"] < 2.5 * r["flops"], (r, twice)

# The table has a row for each, and nothing else goes to stderr where that is not a terminal.
table = bench("--model", "rnn,lif", "--rule", "BPTT", *SMALL)
assert [line.split()[2] for line in table.splitlines()[1:3]] == ["rnn", "lif"] and "median us" in table, table


# Gradients are compared with those in a file: what it holds is what they are relative to.
def npy(shape, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)


def compared(**arrays):
    with zipfile.ZipFile(FOLDER / "data.npz", "w") as z:
        for name, (shape, values) in arrays.items():
            z.writestr(name + ".npy", npy(shape, values))
    return bench("--model", "rnn", "--rule", "BPTT", "--mode", "sequence", *SMALL, "--data", FOLDER / "data.npz",
                 "--json")[0]["gradient_errors"]


# With all targets one and a readout of zeros, ∂L/∂(bias of the readout) = -2/10 of each of ten outputs.
readout = {"param.out.weight.weight": ((4, 10), [0] * 40), "param.out.weight.bias": ((10,), [0] * 10),
           "y": ((5, 3, 10), [1] * 150)}
right = compared(**readout, **{"grad.out.weight.bias": ((10,), [-0.2] * 10)})
wrong = compared(**readout, **{"grad.out.weight.bias": ((10,), [-0.2] * 9 + [-0.4])})
assert list(right) == ["out.weight.bias"] and right["out.weight.bias"] < 1e-6, right
assert math.isclose(wrong["out.weight.bias"], 0.5, rel_tol=1e-5), wrong

# First calls: stages of a learner on any model.
call, = bench("--first-call", "--model", "simple_rnn", "--rule", "D_RTRL", "--mode", "stream", "--json")
assert list(call["stages_ms"]) == ["graph", "trace", "simplify", "schedule", "print"], call
assert call["cold_ms"] > call["cached_ms"] > 0 and all(ms > 0 for ms in call["stages_ms"].values()), call

# The usual workloads, and a part of them.
full, quick = (bench("--list", "--json", *more) for more in ([], ["--quick"]))
assert len(full) == 45 and len(quick) == 27 and all(w in full for w in quick)
assert {w["model"] for w in full} == {"rnn", "gru", "lif"}

# A convolutional network is measured where it is named.
conv, = bench("--model", "conv", "--rule", "BPTT", "--size", "2,16,2", "--steps", "2", "--seconds", "0.01", "--json")
assert conv["ours_us"] > 0 and conv["n"] == 2 and conv["spikes"] == 0.2, conv
assert [w["T"] for w in bench("--list", "--json", "--model", "conv", "--rule", "BPTT,D_RTRL")] == [20, 20]

# The same by kernel: what a step of a tanh network calls, as often as it has steps, with one thread and with two.
KERNELS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "kernels"
table = subprocess.run([sys.executable, KERNELS, "--build", pathlib.Path(BINARY).resolve().parents[1], "--threads", "1,2", "--model",
                        "rnn", "--rule", "BPTT", "--mode", "sequence", "--size", "2,3,4", "--steps", "6", "--seconds", "0.01"],
                       check=True, capture_output=True, text=True).stdout
rows = {line.split("|")[0].strip(): [float(cell.split()[0]) for cell in line.split("|")[1:] if cell.split()]
        for line in table.splitlines()[3:]}
assert [calls for name, calls in rows.items() if "tanh" in name] == [[6, 6]], table
assert rows["[scan]"] == [2, 2] and min(rows["all but [loops]"]) > 0, table

# What is missing or wrong is said, without a traceback.
def refused(script, *args, err, **env):
    done = subprocess.run([sys.executable, KERNELS.parent / script, *args], capture_output=True, text=True,
                          env={**os.environ, **env})
    assert done.returncode and err in done.stderr and "Traceback" not in done.stderr, (script, args, done.stderr)

for script in "growth", "measure", "kernels", "sizes", "peer/run":
    refused(script, "--build", "/nowhere", err="/nowhere/bin/braintrace is missing; build it first")
refused("kernels", "--threads", "1,x", "--command", "true", err="--threads 1,x: expected numbers from 1 to 256")
refused("kernels", "--steps", "0", "--command", "true", err="--steps 0: expected a positive number")
refused("kernels", "--command", "/nowhere/program", err="there is no program '/nowhere/program'")
refused("peak", "--threads", "two", err="--threads two: expected numbers from 1 to 256")
refused("peak", err="There is no C compiler '/nowhere/cc'", BRAINTRACE_CC="/nowhere/cc")

# A fleet beside single learners, with one thread and with all.
rows = bench("--fleet", "5", "--singles", "2", "--model", "gru", "--size", "1,2,3", "--seconds", "0.001", "--json")
assert {r["threads"] for r in rows} >= {1} and all((r["members"], r["singles"]) == (5, 2) for r in rows), rows
assert all(r[rate] > 0 for r in rows for rate in ("fleet", "fleet_window", "single", "single_window", "memory_gb_per_s", "bound")), rows
bench("--fleet", "0", status=2, err="expected an integer ≥ 1")

# Bad input.
bench("--model", "conv", "--size", "2,15,2", status=2, err="square")
bench("--model", "grv", status=2, err="did you mean 'gru'")
bench("--rule", "d_rtlr", status=2, err="did you mean 'D_RTRL'")
bench("--mode", "batch", status=2, err="sequence, stream")
bench("--size", "64,128", status=2, err="such as 64,128,256")
bench("--size", "0,1,1", status=2, err="positive")
bench("--seconds", "0", status=2, err="positive")
bench("--steps", "0", status=2, err="at least one step")
bench("--spikes", "2", status=2, err="within 0")
for rule in "BPTT", "DNI":
    bench("--rule", rule, "--mode", "stream", status=2, err="nothing is left")
for mode in ["--list"], ["--first-call"]:
    bench("--rule", "ThreeFactor", *mode, status=2, err="ThreeFactor needs a modulator in addition to a loss")
assert "D_RTRL" not in bench("--first-call", "--model", "gru,grv", "--rule", "D_RTRL", status=2, err="'grv'")
bench("--model", "rnn", "--rule", "BPTT", *SMALL, "--data", FOLDER / "none.npz", status=2, err="none.npz")
bench(*SMALL, status=2, err="no C compiler was found (BRAINTRACE_CC is '/nowhere/cc')", BRAINTRACE_CC="/nowhere/cc")
