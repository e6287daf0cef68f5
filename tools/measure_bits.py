#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which settings change the bits of what a network answers while it learns, and by how much.

    python3 tools/measure_bits.py build/bin/braintrace [RECORDS]

Networks learn online from the same records (`braintrace stream`, D_RTRL, SGD) under one setting after the other. Each row
compares the answers with those of the usual setting, machine code by `cc`: the first record whose answer has other bits, and
the largest difference so far, relative to the largest answer, after 1, 10, 100 and all records. The table of
docs/hard_use.md is made by this."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

BINARY = os.path.abspath(sys.argv[1])
RECORDS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
N_IN, N = 8, 32
NETWORKS = {"rnn": {"type": "vanilla_rnn", "n_in": N_IN, "n_rec": N}, "gru": {"type": "gru", "n_in": N_IN, "n_rec": N},
            "spiking": {"type": "snn_expcu", "n_in": N_IN, "n_rec": N}}
SETTINGS = {"again": {}, "2 threads": {"BRAINTRACE_NUM_THREADS": "2"}, "-O1": {"BRAINTRACE_CFLAGS": "-O1"},
            "-march=x86-64": {"BRAINTRACE_CFLAGS": "-march=x86-64"},
            "-march=x86-64-v3": {"BRAINTRACE_CFLAGS": "-march=x86-64-v3"},
            "-ffp-contract=fast": {"BRAINTRACE_CFLAGS": "-ffp-contract=fast"},
            "-ffast-math": {"BRAINTRACE_CFLAGS": "-ffast-math"}, "clang": {"BRAINTRACE_CC": "clang-14"},
            "interpreter": {"BRAINTRACE_BACKEND": "reference"}}


def records():
    draw = random.Random(1)
    lines = []
    for _ in range(RECORDS):
        x = [draw.gauss(0, 1) for _ in range(N_IN)]
        lines.append(json.dumps({"x": x, "y": [sum(x[:4]) / 4, x[0] * x[1]]}))
    return "\n".join(lines) + "\n"


def answers(model, text, env):
    base = {k: v for k, v in os.environ.items() if k not in ("BRAINTRACE_BACKEND", "BRAINTRACE_CFLAGS", "BRAINTRACE_CC")}
    done = subprocess.run([BINARY, "stream", model, "--lr", "0.01"], input=text, capture_output=True, text=True,
                          env={**base, "BRAINTRACE_NUM_THREADS": "1", **env})
    if done.returncode != 0 or "interpreter" in done.stderr:
        return None
    return [json.loads(line)["prediction"] for line in done.stdout.splitlines()]


def compared(usual, other):
    first, worst, shown = None, 0.0, []
    largest = max(abs(v) for y in usual for v in y)
    for i, (a, b) in enumerate(zip(usual, other), 1):
        if a != b and first is None:
            first = i
        worst = max(worst, *(abs(p - q) / largest for p, q in zip(a, b)))
        if i in (1, 10, 100) or i == len(usual):
            shown.append(f"{worst:.0e}" if worst else "0")
    return f"{first or 'none'} | " + " | ".join(shown)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="braintrace-bits-"))
    os.environ["BRAINTRACE_CACHE_DIR"] = str(folder / "cache")
    text = records()
    print(f"| network | setting | first other bits at record | after 1 | 10 | 100 | {RECORDS} |\n|---|---|---|---|---|---|---|")
    for name, layer in NETWORKS.items():
        description = {"type": "chain", "layers": [{"name": "rnn", **layer}, {"name": "out", "type": "linear", "n_in": N, "n_out": 2}]}
        model = folder / "model.json"
        model.write_text(json.dumps(description))
        usual = answers(model, text, {})
        assert usual and len(usual) == RECORDS, "the usual setting gave no answers"
        for setting, env in SETTINGS.items():
            other = answers(model, text, env)
            print(f"| {name} | {setting} | {compared(usual, other) if other else 'not here | – | – | – | –'} |", flush=True)
    shutil.rmtree(folder)


main()
