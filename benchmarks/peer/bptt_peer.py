# SPDX-License-Identifier: Apache-2.0
"""Backpropagation through time in other systems for the nets of `braintrace bench`; one JSON object on stdout.

    python bptt_peer.py --system torch --model gru --batch 64 --n-in 128 --n 512 --steps 100 --threads 16

The gradient of the mean squared error of a sequence: the cell, a linear readout of ten numbers, and the way back. torch's own
GRU, RNN and convolution layers; LIF neurons are written by hand in torch and JAX, and those of snntorch (RLeaky) and norse
(LIFRecurrentCell) are their own.
"""
import argparse
import json
import os
import time

import numpy as np

N_OUT = 10
DECAY = float(np.exp(-1.0 / 5.0))


def torch_call(a, x, y):
    import torch
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    x, y = torch.from_numpy(x), torch.from_numpy(y)

    class Spike(torch.autograd.Function):
        @staticmethod
        def forward(ctx, v):
            ctx.save_for_backward(v)
            return (v >= 0).to(v.dtype)

        @staticmethod
        def backward(ctx, g):
            (v,) = ctx.saved_tensors
            return g * torch.clamp(1 - v.abs(), min=0) * 0.3

    class Lif(torch.nn.Module):
        """V' = d (V - z) + (1 - d) I, soft reset, threshold 1; inputs of all steps are one product."""

        def __init__(self, n_in, n):
            super().__init__()
            self.w_in, self.w = torch.nn.Linear(n_in, n), torch.nn.Linear(n, n, bias=False)

        def forward(self, x):
            current, v, out = self.w_in(x), torch.zeros(x.shape[1], a.n), []
            z = torch.zeros_like(v)
            for i in current:
                v = DECAY * (v - z) + (1 - DECAY) * (i + self.w(z))
                z = Spike.apply(v - 1)
                out.append(z)
            return torch.stack(out), None

    class ConvLif(torch.nn.Module):
        """Three convolutions of 3 x 3 pixels with LIF neurons: strides 1, 2, 2, twice the channels each; channels last."""

        def __init__(self, pixels, n):
            super().__init__()
            self.side = round(pixels ** 0.5)
            sizes = [(1, n, 1), (n, 2 * n, 2), (2 * n, 4 * n, 2)]
            self.convs = torch.nn.ModuleList(
                torch.nn.Conv2d(i, o, 3, stride=s, padding=1, bias=False).to(memory_format=torch.channels_last)
                for i, o, s in sizes)

        def forward(self, x):
            v, z, out = [0.0] * 3, [0.0] * 3, []
            for h in x.view(*x.shape[:2], 1, self.side, self.side):
                for i, conv in enumerate(self.convs):
                    v[i] = DECAY * (v[i] - z[i]) + (1 - DECAY) * 12 * conv(h)
                    h = z[i] = Spike.apply(v[i] - 1)
                out.append(h.flatten(1))
            return torch.stack(out), None

    class SnnTorch(torch.nn.Module):
        def __init__(self, n_in, n):
            super().__init__()
            import snntorch
            self.w_in = torch.nn.Linear(n_in, n)
            self.neuron = snntorch.RLeaky(beta=DECAY, linear_features=n)

        def forward(self, x):
            (z, v), out = self.neuron.init_rleaky(), []
            for i in self.w_in(x):
                z, v = self.neuron(i, z, v)
                out.append(z)
            return torch.stack(out), None

    class Norse(torch.nn.Module):
        def __init__(self, n_in, n):
            super().__init__()
            import norse.torch
            self.cell = norse.torch.LIFRecurrentCell(n_in, n)

        def forward(self, x):
            state, out = None, []
            for i in x:
                z, state = self.cell(i, state)
                out.append(z)
            return torch.stack(out), None

    kinds = {"gru": torch.nn.GRU, "rnn": torch.nn.RNN, "conv": ConvLif,
             "lif": {"torch": Lif, "snntorch": SnnTorch, "norse": Norse}[a.system]}
    cell = kinds[a.model](a.n_in, a.n)
    out = torch.nn.Linear(cell(x[:1])[0].shape[-1], N_OUT)
    weights = [*cell.parameters(), *out.parameters()]

    def call():
        loss = ((out(cell(x)[0]) - y) ** 2).mean()
        return torch.autograd.grad(loss, weights, allow_unused=True)
    return call


def jax_call(a, x, y):
    import jax
    import jax.numpy as jnp
    rng = np.random.default_rng(1)
    draw = lambda *shape: jnp.asarray(rng.standard_normal(shape) / np.sqrt(shape[0]), jnp.float32)
    gates = {"gru": 3, "rnn": 1, "lif": 1}[a.model]
    weights = {"w": draw(a.n_in, gates * a.n), "u": draw(a.n, gates * a.n), "b": jnp.zeros(gates * a.n), "o": draw(a.n, N_OUT)}

    @jax.custom_vjp
    def spike(v):
        return (v >= 0).astype(v.dtype)
    spike.defvjp(lambda v: (spike(v), v), lambda v, g: (g * jnp.maximum(1 - jnp.abs(v), 0) * 0.3,))

    def step(p, h, i):
        if a.model == "rnn":
            h = jnp.tanh(i + h @ p["u"])
            return h, h
        if a.model == "lif":
            z = spike(h - 1)
            h = DECAY * (h - z) + (1 - DECAY) * (i + z @ p["u"])
            return h, spike(h - 1)
        r, z, c = jnp.split(i, 3, -1)
        ur, uz, uc = jnp.split(h @ p["u"], 3, -1)
        r, z = jax.nn.sigmoid(r + ur), jax.nn.sigmoid(z + uz)
        h = (1 - z) * h + z * jnp.tanh(c + r * uc)
        return h, h

    def loss(p):
        i = jnp.asarray(x) @ p["w"] + p["b"]
        _, hs = jax.lax.scan(lambda h, i: step(p, h, i), jnp.zeros((a.batch, a.n)), i)
        return jnp.mean((hs @ p["o"] - jnp.asarray(y)) ** 2)
    grad = jax.jit(jax.grad(loss))
    return lambda: jax.block_until_ready(grad(weights))


def main():
    p = argparse.ArgumentParser()
    for name, kind, default in [("system", str, "torch"), ("model", str, "gru"), ("batch", int, 64), ("n-in", int, 64),
                                ("n", int, 128), ("steps", int, 100), ("seconds", float, 1.0), ("spikes", float, 0.0),
                                ("threads", int, os.cpu_count())]:
        p.add_argument("--" + name, type=kind, default=default)
    a = p.parse_args()
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity") and a.system == "jax":  # JAX takes all processors that it may run on
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:a.threads])
    rng = np.random.default_rng(2)
    shape = (a.steps, a.batch, a.n_in)
    x = (rng.random(shape) < a.spikes if a.spikes else rng.standard_normal(shape)).astype(np.float32)
    y = rng.standard_normal((a.steps, a.batch, N_OUT)).astype(np.float32)
    call = (jax_call if a.system == "jax" else torch_call)(a, x, y)
    for _ in range(2):
        call()
    times, busy, begin = [], [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < a.seconds:
        start, processor = time.perf_counter(), time.process_time()
        call()
        times.append(1e6 * (time.perf_counter() - start) / a.steps)
        busy.append(1e6 * (time.process_time() - processor) / a.steps)
    times.sort()
    print(json.dumps({"system": a.system, "median_us": times[len(times) // 2], "min_us": times[0],
                      "processor_us": min(busy), "calls": len(times)}))


if __name__ == "__main__":
    main()
