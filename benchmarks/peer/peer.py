# SPDX-License-Identifier: Apache-2.0
"""The workload of `braintrace bench` in the Python package braintrace; one JSON object on stdout.

With --data, parameters, inputs and (sequence mode) gradients are written for the other side to check.
"""
import argparse
import json
import resource
import time
import warnings

import brainstate
import braintools
import braintrace
import jax
import jax.numpy as jnp
import numpy as np

N_OUT = 10


class LifLayer(brainstate.nn.Module):
    """V' = d (V - z) + (1 - d) I with d = e^(-dt/tau), soft reset, threshold 1; gives the spikes of V'."""

    def __init__(self, n_in, n):
        super().__init__()
        self.n = n
        self.w = braintrace.nn.Linear(n_in + n, n)
        self.spike = braintools.surrogate.ReluGrad()
        self.d = float(np.exp(-1.0 / 5.0))

    def init_state(self, batch_size=None, **kwargs):
        self.V = brainstate.HiddenState(jnp.zeros((batch_size, self.n) if batch_size else (self.n,)))

    def update(self, x):
        z = self.spike(self.V.value - 1.0)
        current = self.w(jnp.concatenate([x, z], axis=-1))
        self.V.value = self.d * (self.V.value - z) + (1 - self.d) * current
        return self.spike(self.V.value - 1.0)


class Net(brainstate.nn.Module):
    def __init__(self, model, n_in, n):
        super().__init__()
        if model == "rnn":
            self.cell = braintrace.nn.ValinaRNNCell(n_in, n, activation="tanh")
        elif model == "gru":
            self.cell = braintrace.nn.GRUCell(n_in, n)
        else:
            self.cell = LifLayer(n_in, n)
        self.out = braintrace.nn.Linear(n, N_OUT)

    def update(self, x):
        return self.out(self.cell(x))


def flat(states, value):
    """Leaves of parameters under dotted names."""
    out = {}
    for path, leaf in states.items():
        leaves = value(path, leaf)
        name = ".".join(map(str, path))
        if isinstance(leaves, dict):
            out.update({f"{name}.{k}": np.asarray(v) for k, v in leaves.items()})
        else:
            out[name] = np.asarray(leaves)
    return out


def main():
    p = argparse.ArgumentParser()
    for name, kind, default in [("model", str, "gru"), ("rule", str, "D_RTRL"), ("mode", str, "sequence"),
                                ("batch", int, 64), ("n-in", int, 64), ("n", int, 128), ("steps", int, 100),
                                ("seconds", float, 1.0), ("spikes", float, 0.0), ("data", str, "")]:
        p.add_argument("--" + name, type=kind, default=default)
    p.add_argument("--window", action="store_true", help="a sequence as one window, by the driver of pybraintrace")
    a = p.parse_args()
    warnings.simplefilter("ignore")
    brainstate.environ.set(dt=1.0)
    brainstate.random.seed(1)
    net = Net(a.model, a.n_in, a.n)
    brainstate.nn.init_all_states(net, batch_size=a.batch)
    weights = net.states(brainstate.ParamState)
    sequence, bptt = a.mode == "sequence", a.rule == "BPTT"
    rng = np.random.default_rng(2)
    lead = (a.steps, a.batch) if sequence else (a.batch,)
    drawn = rng.random(lead + (a.n_in,)) < a.spikes if a.spikes else rng.standard_normal(lead + (a.n_in,))
    x = jnp.asarray(drawn, jnp.float32)
    y = jnp.asarray(rng.standard_normal(lead + (N_OUT,)), jnp.float32)

    if bptt:
        run = net
    else:
        run = braintrace.D_RTRL(net) if a.rule == "D_RTRL" else braintrace.ES_D_RTRL(net, decay_or_rank=0.9)
        run.compile_graph(jnp.zeros((a.batch, a.n_in)))

    def loss(xi, yi):
        return jnp.mean((run(xi) - yi) ** 2)

    if sequence and bptt:
        def total(xs, ys):
            return jnp.mean(brainstate.transform.for_loop(loss, xs, ys))

        @brainstate.transform.jit
        def call(xs, ys):
            return brainstate.transform.grad(total, weights)(xs, ys)
    elif sequence and a.window:
        @brainstate.transform.jit
        def call(xs, ys):
            return run.etrace_grad(xs, ys, step_fn=loss, chunk_size=a.steps, drop_traces=True, return_value=False)
    elif sequence:
        @brainstate.transform.jit
        def call(xs, ys):
            run.reset_state(a.batch) if hasattr(run, "reset_state") else None

            def step(acc, xy):
                g = brainstate.transform.grad(loss, weights)(*xy)
                return jax.tree.map(jnp.add, acc, g), None
            zero = jax.tree.map(jnp.zeros_like, {k: v.value for k, v in weights.items()})
            grads, _ = brainstate.transform.scan(step, zero, (xs, ys))
            return jax.tree.map(lambda g: g / a.steps, grads)
    else:
        @brainstate.transform.jit
        def call(xi, yi):
            g, value = brainstate.transform.grad(loss, weights, return_value=True)(xi, yi)
            for k, w in weights.items():
                w.value = jax.tree.map(lambda v, d: v - 1e-3 * d, w.value, g[k])
            return value

    params = flat(weights, lambda _, s: s.value)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    first = jax.block_until_ready(call(x, y))
    first_call = time.perf_counter() - start
    if a.data:
        arrays = {f"param.{k}": v for k, v in params.items()}
        arrays.update(x=np.asarray(x), y=np.asarray(y))
        if sequence:
            arrays.update({f"grad.{k}": v for k, v in flat(weights, lambda path, _: first[path]).items()})
        np.savez(a.data, **arrays)

    start = time.perf_counter()
    jax.block_until_ready(call(x, y))  # may compile again, for the types that states have by now
    second = time.perf_counter() - start
    times, busy, begin = [], [], time.perf_counter()
    enough = 1 if second > 5 else 3
    while len(times) < enough or time.perf_counter() - begin < a.seconds:
        start, cpu = time.perf_counter(), time.process_time()
        jax.block_until_ready(call(x, y))
        times.append(1e6 * (time.perf_counter() - start) / (a.steps if sequence else 1))
        busy.append(1e6 * (time.process_time() - cpu) / (a.steps if sequence else 1))
    times.sort()
    print(json.dumps({"median_us": times[len(times) // 2], "p99_us": times[len(times) * 99 // 100], "min_us": times[0],
                      "processor_us": min(busy),
                      "calls": len(times), "first_call_s": first_call,
                      "peak_growth_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024}))


if __name__ == "__main__":
    main()
