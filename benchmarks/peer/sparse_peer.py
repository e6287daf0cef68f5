# SPDX-License-Identifier: Apache-2.0
"""The step of benchmarks/sparse_bench.cpp in scipy or torch; one JSON object on stdout.

    python sparse_peer.py --system scipy --neurons 10000 --synapses 100 --steps 40

A recurrent LIF network under the factorized traces of ES-D-RTRL: product with the sparse matrix, neurons, traces, error, and an
update of every synapse. Written as one would with the arrays of either system; letters as in sparse_bench.cpp.
"""
import argparse
import json
import time

import numpy as np

LR, DECAY, LEAK, STEEPNESS, WIDTH = 1e-4, 0.9, 0.9048374180359595, 0.3, 0.5
TARGET = (0.5, -0.5)


class Scipy:
    def __init__(self, weights, source, n, readout):
        import scipy.sparse
        degree = len(weights) // n
        self.w = scipy.sparse.csr_matrix((weights, source, np.arange(n + 1) * degree), shape=(n, n))
        self.source, self.target, self.readout = source, np.repeat(np.arange(n), degree), readout

    def product(self, z):
        return self.w @ z

    def update(self, trace, signal):
        self.w.data -= LR * trace[self.source] * signal[self.target]

    array, zeros, where, maximum, absolute = staticmethod(np.asarray), np.zeros, np.where, np.maximum, np.abs


class Torch:
    def __init__(self, weights, source, n, readout):
        import torch
        self.torch, degree = torch, len(weights) // n
        self.source, self.target = torch.from_numpy(source).long(), torch.arange(n).repeat_interleave(degree)
        self.w = torch.sparse_csr_tensor(torch.arange(n + 1) * degree, self.source, torch.from_numpy(weights), (n, n))
        self.readout = torch.from_numpy(readout)

    def product(self, z):
        return self.w @ z

    def update(self, trace, signal):
        self.w.values().sub_(LR * trace[self.source] * signal[self.target])

    def array(self, x):
        return self.torch.from_numpy(x)

    def zeros(self, *args, **kwargs):
        return self.torch.zeros(*args)

    def where(self, c, a, b):
        return self.torch.where(c, a, b)

    def maximum(self, a, b):
        return self.torch.clamp(a, min=b)

    def absolute(self, a):
        return a.abs()


def main():
    p = argparse.ArgumentParser()
    for name, kind, default in [("system", str, "scipy"), ("neurons", int, 10000), ("synapses", int, 100), ("steps", int, 40),
                                ("threads", int, 1)]:
        p.add_argument("--" + name, type=kind, default=default)
    a = p.parse_args()
    rng, n = np.random.default_rng(1), a.neurons
    source = np.sort(rng.integers(n, size=(n, a.synapses)), axis=1).ravel().astype(np.int32)
    weights = (0.02 * rng.standard_normal(n * a.synapses)).astype(np.float32)
    s = {"scipy": Scipy, "torch": Torch}[a.system](weights, source, n, (0.05 * rng.standard_normal((n, 2))).astype(np.float32))
    if a.system == "torch":
        s.torch.set_num_threads(a.threads)
    drives = [s.array(np.where(rng.random(n) < 0.01, 14.0, 0.0).astype(np.float32)) for _ in range(16)]
    target = s.array(np.array(TARGET, np.float32))
    v, r, x_trace, f_trace = (s.zeros(k, dtype=np.float32) for k in (n, 2, n, n))
    times, busy = [], []
    for step in range(a.steps):
        start, processor = time.perf_counter(), time.process_time()
        z = (v >= 1) * np.float32(1) if a.system == "scipy" else (v >= 1).float()
        current = drives[step // 8 % 16] + s.product(z)
        v = current + LEAK * ((1 - z) * v - current)
        spikes = (v >= 1) * np.float32(1) if a.system == "scipy" else (v >= 1).float()
        r = LEAK * r + spikes @ s.readout
        error = s.readout @ (r - target)
        surrogate = s.maximum(STEEPNESS - STEEPNESS / WIDTH * s.absolute(v - 1), 0)
        x_trace = DECAY * x_trace + z
        f_trace = DECAY * LEAK * f_trace + (1 - LEAK)
        s.update(x_trace, error * surrogate * f_trace)
        times.append(1e6 * (time.perf_counter() - start))
        busy.append(1e6 * (time.process_time() - processor))
    times.sort()
    print(json.dumps({"system": a.system, "median_us": times[len(times) // 2], "min_us": times[0], "processor_us": min(busy),
                      "calls": len(times)}))


if __name__ == "__main__":
    main()
