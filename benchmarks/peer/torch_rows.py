# SPDX-License-Identifier: Apache-2.0
"""Rows of `run` beside torch, snnTorch, norse and scipy, in an environment of their own."""
import json
import os
import subprocess
import sys

PACKAGES = {"torch": "torch", "snntorch": "snntorch", "norse": "norse", "scipy": "scipy"}
GRU, LIF, CONV = (64, 128, 256, 100), (64, 128, 256, 100), (16, 784, 16, 20)  # B, n_in, n, T
# system, net, sizes, our rule: the same gradient by BPTT, and D-RTRL beside it
ROWS = [("torch", "gru", GRU, "BPTT"), ("torch", "gru", GRU, "D_RTRL"),
        ("torch", "lif", LIF, "BPTT"), ("snntorch", "lif", LIF, "BPTT"), ("norse", "lif", LIF, "BPTT"),
        ("torch", "conv", CONV, "BPTT"), ("torch", "conv", CONV, "D_RTRL")]
SPARSE = [("scipy", 10000), ("torch", 10000)]
SPIKES = {"lif": 0.05, "conv": 0.2}


def environment(folder):
    """Its interpreter, and why packages are missing, by name. Those that failed are tried again the next time."""
    python, missing = folder / "bin" / "python", {}
    if not python.exists():
        print("making an environment with torch, snntorch, norse and scipy ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    for name, package in PACKAGES.items():
        if (folder / f"{name}.ready").exists():
            continue
        done = subprocess.run([python, "-m", "pip", "install", "-q", package], capture_output=True, text=True)
        if done.returncode == 0:
            done = subprocess.run([python, "-c", f"import {name}"], capture_output=True, text=True)
        if done.returncode == 0:
            (folder / f"{name}.ready").touch()
        else:
            missing[name] = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
    return python, missing


def output_of(command, threads):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                          env={**os.environ, "BRAINTRACE_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)})
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return done.stdout


def bptt_row(row, here, ours, python, seconds, threads):
    system, model, (B, n_in, n, T), rule = row
    flags = ["--model", model, "--steps", T, "--seconds", seconds, "--spikes", SPIKES.get(model, 0)]
    peer = json.loads(output_of([python, here / "bptt_peer.py", "--system", system, "--batch", B, "--n-in", n_in, "--n", n,
                                 "--threads", threads, *flags], threads).splitlines()[-1])
    mine, = json.loads(output_of([ours, "bench", "--json", "--rule", rule, "--mode", "sequence", "--size", f"{B},{n_in},{n}",
                                  *flags], threads))
    return {"ours_us": mine["ours_us"], "peer_us": peer["median_us"], "ours_processor_us": mine["processor_us"],
            "peer_processor_us": peer["processor_us"]}


def sparse_row(row, here, bench, python, threads):
    system, neurons = row
    peer = json.loads(output_of([python, here / "sparse_peer.py", "--system", system, "--neurons", neurons, "--threads", threads],
                                threads).splitlines()[-1])
    # "1 % 1.1 % 0.13 0.12 …": spikes, neurons with a signal, milliseconds with one thread and with two
    lines = [line.split() for line in output_of([bench, neurons, 100, 40], threads).splitlines()]
    line = next(line for line in lines if line[:2] == ["1", "%"] and len(line) > 8)
    ours = 1000 * float(line[5 if threads > 1 else 4])
    return {"ours_us": ours, "peer_us": peer["median_us"]}


def rows(here, ours, build, only, seconds, threads):
    """One row after the other, as they are measured; a row that cannot be has the reason as `missing`."""
    wanted = [({"system": s, "model": m, "rule": r, "mode": "sequence", "B": z[0], "n_in": z[1], "n": z[2], "T": z[3]}, (s, m, z, r))
              for s, m, z, r in ROWS]
    wanted += [({"system": s, "model": "sparse", "rule": "ES_D_RTRL", "mode": "stream", "B": 1, "n_in": n, "n": n, "T": 1}, (s, n))
               for s, n in SPARSE]
    wanted = [w for w in wanted if only in f" {w[0]['rule']} {w[0]['model']} {w[0]['mode']} {w[0]['system']}"]
    if not wanted:
        return
    python, missing = environment(build / "torch_peer")
    bench = build / "bin" / "sparse_bench"
    for head, row in wanted:
        try:
            if head["system"] in missing:
                raise RuntimeError(f"{head['system']} could not be installed: {missing[head['system']]}")
            if len(row) == 4:
                found = bptt_row(row, here, ours, python, seconds, threads)
            elif bench.exists():
                found = sparse_row(row, here, bench, python, threads)
            else:
                raise RuntimeError(f"{bench} is not built (-DBRAINTRACE_BENCHMARKS=ON, target sparse_bench)")
            yield {**head, **found, "ratio": found["peer_us"] / found["ours_us"]}
        except RuntimeError as e:
            yield {**head, "missing": str(e)}
