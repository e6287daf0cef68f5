# SPDX-License-Identifier: Apache-2.0
"""Networks in the style of the examples of the Python package braintrace; the losses of one, or of all, as JSON on stdout.

    examples.py [NAME] [--updates N] [--weights FILE] [--lr R] [--hold-untraced]    here through `python -m pybraintrace.compat examples.py …`
    examples.py --list

With --weights, initial weights are read from FILE where it exists, and written to it otherwise: both systems then start alike. With
--hold-untraced weights without an eligibility trace, such as a readout, keep their initial values: outside of windows the package gives
them no gradient.
"""
import argparse
import json
import pathlib
import warnings

import brainstate
import braintools
import braintrace
import jax
import jax.numpy as jnp
import numpy as np


class Recurrent(brainstate.nn.Module):
    def __init__(self, cell, n_in, n_rec, n_out):
        super().__init__()
        self.rnn = cell(n_in, n_rec)
        self.out = braintrace.nn.Linear(n_rec, n_out)

    def update(self, x):
        return self.out(self.rnn(x))


class LowRank(brainstate.nn.Module):
    """A recurrent network whose weights are a product of two thin matrices."""

    def __init__(self, n_in, n_rec, n_out):
        super().__init__()
        self.n = n_rec
        self.w = braintrace.nn.LoRA(n_in + n_rec, 2, n_rec)
        self.base = braintrace.nn.Linear(n_in, n_rec)
        self.out = braintrace.nn.Linear(n_rec, n_out)

    def init_state(self, batch_size=None, **kwargs):
        self.h = brainstate.HiddenState(jnp.zeros((batch_size, self.n) if batch_size else (self.n,)))

    def update(self, x):
        self.h.value = jnp.tanh(0.9 * self.h.value + self.w(jnp.concatenate([x, self.h.value], axis=-1)) + self.base(x))
        return self.out(self.h.value)


class Spiking(brainstate.nn.Module):
    """Leaky integrate-and-fire neurons with exponential synapses and a soft reset."""

    def __init__(self, n_in, n_rec, n_out):
        super().__init__()
        self.n = n_rec
        self.w = braintrace.nn.Linear(n_in + n_rec, n_rec, w_init=braintools.init.KaimingNormal(scale=20.0), b_init=None)
        self.spike = braintools.surrogate.ReluGrad()
        self.out = braintrace.nn.LeakyRateReadout(in_size=n_rec, out_size=n_out, tau=10.0)

    def init_state(self, batch_size=None, **kwargs):
        zeros = jnp.zeros((batch_size, self.n) if batch_size else (self.n,))
        self.V, self.g = brainstate.HiddenState(zeros), brainstate.HiddenState(zeros)

    def update(self, spikes):
        z = self.spike(self.V.value - 1.0)
        self.g.value = 0.8 * self.g.value + self.w(jnp.concatenate([spikes, z], axis=-1))
        self.V.value = 0.9 * (self.V.value - z) + 0.1 * self.g.value
        return self.out(self.spike(self.V.value - 1.0))


def integrator(rng):
    """A running sum."""
    xs = rng.normal(size=(10, 8, 1)).astype("f") * 0.3
    return Recurrent(lambda i, n: braintrace.nn.ValinaRNNCell(i, n, activation="tanh"), 1, 16, 1), xs, np.cumsum(xs, 0)


def low_rank(rng):
    """A running sum through weights of rank two."""
    xs = rng.normal(size=(10, 8, 1)).astype("f") * 0.3
    return LowRank(1, 16, 1), xs, np.cumsum(xs, 0)


def mini(rng):
    """A running sum in a minimal GRU."""
    xs = rng.normal(size=(10, 8, 1)).astype("f") * 0.3
    return Recurrent(braintrace.nn.MiniGRU, 1, 16, 1), xs, np.cumsum(xs, 0)


def copying(rng):
    """Symbols, a pause, and the symbols again."""
    symbols = rng.integers(4, size=(3, 8))
    xs = np.concatenate([symbols, np.full((7, 8), 4)])
    ys = np.concatenate([np.zeros((7, 8), int), symbols])
    return Recurrent(braintrace.nn.GRUCell, 5, 16, 4), np.eye(5, dtype="f")[xs], ys.astype("i4")


def delayed(rng):
    """The input of three steps ago."""
    xs = rng.choice([-1.0, 1.0], (20, 8, 1)).astype("f")
    return Recurrent(braintrace.nn.GRUCell, 1, 16, 1), xs, np.concatenate([np.zeros((3, 8, 1), "f"), xs[:-3]])


def rates(rng):
    """Which of two groups of inputs spikes more."""
    labels = rng.integers(2, size=16)
    p = np.where((np.arange(20) < 10)[None] == (labels == 0)[:, None], 0.3, 0.05)
    return Spiking(20, 32, 2), (rng.random((25, 16, 20)) < p).astype("f"), np.repeat(labels[None], 25, 0).astype("i4")


def squared(y, t):
    return braintools.metric.squared_error(y, t).mean()


def cross_entropy(y, t):
    return braintools.metric.softmax_cross_entropy_with_integer_labels(y, t).mean()


EXAMPLES = {  # task, loss, rule and its options
    "integrator, RNN, D_RTRL": (integrator, squared, "D_RTRL", {}),
    "integrator, RNN, pp_prop 0.9": (integrator, squared, "pp_prop", {"decay_or_rank": 0.9}),
    "integrator, RNN, ES_D_RTRL rank 10": (integrator, squared, "ES_D_RTRL", {"decay_or_rank": 10}),
    "delay, GRU, D_RTRL": (delayed, squared, "D_RTRL", {}),
    "delay, GRU, D_RTRL, one sample per lane": (delayed, squared, "lanes", {}),
    "copying, GRU, D_RTRL": (copying, cross_entropy, "D_RTRL", {}),
    "copying, GRU, D_RTRL, windows": (copying, cross_entropy, "D_RTRL windows", {}),
    "low rank, D_RTRL": (low_rank, squared, "D_RTRL", {}),
    "integrator, MiniGRU, D_RTRL": (mini, squared, "D_RTRL", {}),
    "rates, LIF, pp_prop 0.9": (rates, cross_entropy, "pp_prop", {"decay_or_rank": 0.9}),
    "rates, LIF, pp_prop 0.9, windows": (rates, cross_entropy, "windows", {"decay_or_rank": 0.9}),
}


def flat(weights):
    return {".".join(map(str, path)) + "/" + k: np.asarray(v) for path, w in weights.items() for k, v in (w.value if isinstance(w.value, dict) else {"": w.value}).items()}


def start_alike(weights, path):
    if not path.exists():
        return np.savez(path, **flat(weights))
    given = np.load(path)
    for key, w in weights.items():
        name = ".".join(map(str, key)) + "/"
        w.value = {k: jnp.asarray(given[name + k]) for k in w.value} if isinstance(w.value, dict) else jnp.asarray(given[name])


def train(name, updates, weights_file, lr, hold_untraced):
    task, loss_of, rule, options = EXAMPLES[name]
    brainstate.random.seed(42)
    model, xs, ys = task(np.random.default_rng(0))
    batch, weights = xs.shape[1], model.states(brainstate.ParamState)
    xs, ys = jnp.asarray(xs), jnp.asarray(ys)
    if weights_file:
        start_alike(weights, weights_file)
    optimizer = braintools.optim.Adam(lr=lr)
    optimizer.register_trainable_weights(weights)
    if rule == "lanes":
        learner = braintrace.D_RTRL(model)

        @brainstate.transform.vmap_new_states(state_tag="new", axis_size=batch)
        def init():
            brainstate.nn.init_all_states(model)
            learner.compile_graph(xs[0, 0])

        init()
        run = brainstate.nn.Vmap(learner, vmap_states="new")
    else:
        make = braintrace.D_RTRL if rule.startswith("D_RTRL") else braintrace.ES_D_RTRL
        extra = {"vjp_method": "multi-step"} if rule.endswith("windows") else {}
        brainstate.nn.init_all_states(model, batch_size=batch)
        run = learner = make(model, **options, **extra)
        learner.compile_graph(xs[0])
    first = {k: v.value for k, v in model.states(brainstate.HiddenState).items()}
    if hasattr(learner, "reset_state") and rule != "lanes":
        learner.reset_state(batch)

    graph = learner.graph
    if hold_untraced and not rule.endswith("windows"):
        traced = {r.weight_path for r in graph.hidden_param_op_relations} - {r.weight_path for r in graph.explain(kind="relation_windowed")}
    else:
        traced = set(weights)

    def gradient(i):
        return brainstate.transform.grad(lambda: loss_of(run(xs[i]), ys[i]), weights, return_value=True)()

    @brainstate.transform.jit
    def update():
        if rule.endswith("windows"):
            grads, value = brainstate.transform.grad(lambda: loss_of(run(braintrace.MultiStepData(xs)), ys), weights, return_value=True)()
        else:
            def step(total, i):
                grads, value = gradient(i)
                return jax.tree.map(lambda a, b: a + b, total, grads), value

            zeros = jax.tree.map(jnp.zeros_like, {k: w.value for k, w in weights.items()})
            grads, values = brainstate.transform.scan(step, zeros, jnp.arange(xs.shape[0]))
            value = values.mean()
        if len(traced) < len(weights):
            grads = {path: g if path in traced else jax.tree.map(jnp.zeros_like, g) for path, g in grads.items()}
        optimizer.update(brainstate.nn.clip_grad_norm(grads, 1.0))
        return value

    losses = []
    for _ in range(updates):
        for k, state in model.states(brainstate.HiddenState).items():
            state.value = first[k]
        learner.reset_state(None if rule == "lanes" else batch)
        losses.append(float(update()))
    return losses


def main():
    p = argparse.ArgumentParser()
    p.add_argument("name", nargs="?", choices=EXAMPLES)
    p.add_argument("--updates", type=int, default=100)
    p.add_argument("--weights", type=pathlib.Path)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--hold-untraced", action="store_true")
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    if a.list:
        return print(json.dumps(list(EXAMPLES)))
    warnings.simplefilter("ignore")
    brainstate.environ.set(dt=1.0)
    print(json.dumps({name: train(name, a.updates, a.weights, a.lr, a.hold_untraced) for name in ([a.name] if a.name else EXAMPLES)}))


if __name__ == "__main__":
    main()
