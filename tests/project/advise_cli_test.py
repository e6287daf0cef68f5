# SPDX-License-Identifier: Apache-2.0
"""The command advise: estimates beside measured runs.  Usage: advise_cli_test.py BINARY"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())


def chain(*layers):
    path = FOLDER / f"{layers[0]['type']}.json"
    path.write_text(json.dumps({"type": "chain", "layers": [{"name": f"l{i}", **l} for i, l in enumerate(layers)]}))
    return path


def advise(*args, status=0, err=""):
    r = subprocess.run([BINARY, "advise", *map(str, args)], capture_output=True, text=True)
    assert r.returncode == status and err in r.stderr, f"{args}: exit {r.returncode}\n{r.stdout[-2000:]}\n{r.stderr[-2000:]}"
    return json.loads(r.stdout) if "--json" in args else r.stdout


def costs(advice):
    return {(c["rule"], c["form"]): c for c in advice["rules"]}


gru = chain({"type": "gru", "n_in": 64, "n_rec": 320}, {"type": "linear", "n_in": 320, "n_out": 10})
lstm = chain({"type": "lstm", "n_in": 32, "n_rec": 192}, {"type": "linear", "n_in": 192, "n_out": 4})
spiking = chain({"type": "snn_expcu", "n_in": 64, "n_rec": 256}, {"type": "linear", "n_in": 256, "n_out": 10})

mini = chain({"type": "mini_gru", "n_in": 16, "n_rec": 80}, {"type": "linear", "n_in": 80, "n_out": 4})

# The peak is within 5% of what a run takes, for rules and forms alike. OSTLRecurrent takes most while it is traced.
for model, batch, length, rules in ((gru, 32, 150, "d_rtrl,bptt"), (lstm, 32, 150, "pp_prop,bptt"),
                                    (spiking, 24, 400, "e_prop,bptt"), (mini, 16, 20, "ostl_recurrent,bptt")):
    advice = advise(model, "--batch", batch, "--length", length, "--rules", rules, "--measure", "--json")
    for c in advice["rules"]:
        estimate, measured = c["memory_bytes"], c["measured_memory_bytes"]
        print(f"{model.stem:12} {c['rule']:10} {c['form']:10} {estimate / 1e6:8.1f} MB, measured {measured / 1e6:8.1f} MB, "
              f"{1e6 * c['seconds_per_step']:8.0f} µs, measured {1e6 * c['measured_seconds_per_step']:8.0f} µs")
        assert abs(estimate - measured) < 0.05 * measured, (model, c)
        assert sum(c["memory"].values()) == estimate and c["flops_per_step"] > 0 and c["seconds_per_step"] > 0, c
    assert len(advice["rules"]) in (3, 4), advice

# Windows grow with the length, steps do not.
short, long = (costs(advise(gru, "--batch", 8, "--length", n, "--rules", "d_rtrl,bptt", "--json")) for n in (50, 200))
without_program = lambda c: {part: bytes for part, bytes in c["memory"].items() if part != "program"}
assert without_program(short["D_RTRL", "step"]) == without_program(long["D_RTRL", "step"])
for key in (("BPTT", "window"), ("D_RTRL", "window")):
    assert long[key]["memory"]["work"] > 2 * short[key]["memory"]["work"], key
assert short["BPTT", "truncated"]["steps_per_update"] == 20

# The limit decides: one between what steps take and what any form that keeps the sequence takes.
def best(*args):
    advice = advise(gru, "--batch", 8, "--length", 400, "--rules", "d_rtrl,pp_prop,bptt", "--json", *args)
    chosen = advice["recommended"]
    return None if chosen is None else (advice["rules"][chosen]["rule"], advice["rules"][chosen]["form"])


unlimited = costs(advise(gru, "--batch", 8, "--length", 400, "--rules", "d_rtrl,pp_prop,bptt", "--json"))
steps, sequences = unlimited["D_RTRL", "step"]["memory_bytes"], [c["memory_bytes"] for (_, form), c in unlimited.items() if form == "window"]
assert min(sequences) > 1.2 * steps, unlimited
assert best() == ("BPTT", "window")
assert best("--memory", f"{(steps + min(sequences)) // 2}B") == ("D_RTRL", "step")
assert best("--memory", "1MB") is None

# Every rule says something, in words too.
table = advise("gru", "--batch", 4, "--length", 10)
for rule in ("D_RTRL", "ES_D_RTRL", "EProp", "SnAp", "UORO", "RTRL", "BPTT", "Use BPTT window 10"):
    assert rule in table, table
assert "its traces alone take" in advise(gru, "--batch", 16384, "--length", 10, "--rules", "rtrl")

# Not a lack of memory: the model does not run on this input.
assert "none; nothing fits: Linear: the last axis of x must have size 42, got f32[1,32].\n" in advise("gru", "--input", "f32[0]", "--rules", "d_rtrl,bptt")

advise(gru, "--memory", "lots", status=2, err="such as 4GiB")
advise(gru, "--memory", "4x", status=2, err="--memory: '4x' is not an amount of memory")
advise(gru, "--length", "0", status=2, err="--length: expected an integer ≥ 1, got '0'")
advise(gru, "--rules", "dni", status=2, err="needs a synthesizer")
endless = advise("gru", "--batch", 10**6, "--length", 10**6, "--rules", "bptt", "--json")
least, machine = min(c["memory_bytes"] for c in endless["rules"]), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
assert ("nothing fits" in endless["reason"]) == (endless["recommended"] is None) == (least > machine), endless
advise(gru, "--rules", "d_rtlr", status=2, err="did you mean")

# On a device: memory of the device alone, which the emulation counts.
for c in advise("gru", "--batch", 4, "--length", 10, "--rules", "es_d_rtrl", "--backend", "cuda-emulation", "--measure", "--json")["rules"]:
    assert c["memory"]["program"] == 0, c
    assert 0.8 < c["memory_bytes"] / c["measured_memory_bytes"] < 1.25, c
