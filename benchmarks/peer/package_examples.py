# SPDX-License-Identifier: Apache-2.0
"""The examples of the Python package braintrace as they are, from a checkout of its repository; the losses of one as JSON on stdout.

    package_examples.py FOLDER NAME [--weights FILE]      here through `python -m pybraintrace.compat package_examples.py …`
    package_examples.py FOLDER --list

FOLDER is the folder `examples` of the tag v0.2.6. With --weights, what is random but data starts alike in both systems: the weights that an
optimizer is given, and numbers that models draw (time constants). They are read from FILE where it exists, and written to it otherwise.
Data come from NumPy, seeded. Where an example downloads a data set, small generated data of the same shape stand in for it.
"""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import pathlib
import sys
import types
import warnings

import numpy as np

SMALL = {  # examples at the root are sized for hours; this one of pp_prop wants to be better than chance after three epochs
    "pp_prop/12-classification-neuromorphic": dict(n_epochs=2),
    "001-gif-snn-for-dms": dict(batch_size=8, num_batch=1, n_rec=16, t_fixation=10.0, t_sample=10.0, t_delay=10.0, t_test=10.0),
    "002-coba-ei-rsnn": dict(batch_size=2, n_rec=10, n_epochs=3, net="cuba"),
    "100-gru-on-copying-task": dict(n_epochs=6, n_seq=8, batch_size=8, n_rec=16, run_bptt=False),
    "101-integrator-rnn": dict(n_epochs=3, num_batch=8, num_hidden=16, n_batches_per_epoch=2, run_bptt=False),
}
LEFT_OUT = {
    "003-snn-memory-and-speed-evaluation-all": "measures memory and time",
    "003-snn-memory-and-speed-evaluation-batched": "measures memory and time",
    "003-snn-memory-and-speed-evaluation-vmap": "measures memory and time",
    "004-feedforward-conv-snn": "layers that learn their input size from the layer before (`desc`)",
}


def listed(folder):
    files = [*sorted((folder / "drtrl").glob("[0-9]*.py")), *sorted((folder / "pp_prop").glob("[0-9]*.py")), *sorted(folder.glob("[0-9]*.py"))]
    return [str(f.relative_to(folder).with_suffix("")) for f in files if f.stem not in LEFT_OUT]


class Alike:
    """Random numbers that both systems start with, in the order in which they are asked for."""

    def __init__(self, path):
        self.path, self.given, self.noted = path, list(np.load(path).values()) if path and path.exists() else None, []

    def value(self, own):
        if self.given is not None:
            return self.given.pop(0)
        self.noted.append(np.asarray(own))
        return self.noted[-1]

    def leaf(self, leaf):
        import brainunit as u

        if isinstance(leaf, u.Quantity):
            return u.Quantity(self.value(leaf.mantissa), unit=leaf.unit)
        return self.value(leaf)

    def save(self):
        if self.path and self.given is None:
            np.savez(self.path, *self.noted)


def start_alike(alike):
    import brainpy.state  # before numba is stood in for
    import brainstate
    import braintools
    import brainunit as u
    import jax
    import jax.numpy as jnp

    optimizer = next(c for c in braintools.optim.Adam.__mro__ if "register_trainable_weights" in vars(c))
    register = optimizer.register_trainable_weights

    def registered(self, weights, *args, **kwargs):
        for _, w in sorted(weights.items(), key=lambda item: ".".join(map(str, item[0]))):
            leaves = {"": w.value} if not isinstance(w.value, dict) else w.value
            new = {k: alike.leaf(leaves[k]) for k in sorted(leaves)}
            new = {k: v if isinstance(v, u.Quantity) else jnp.asarray(v) for k, v in new.items()}
            w.value = new if isinstance(w.value, dict) else new[""]
        return register(self, weights, *args, **kwargs)

    optimizer.register_trainable_weights = registered
    uniform = brainstate.random.uniform
    in_ms = lambda x: float(x.to_decimal(u.ms)) if isinstance(x, u.Quantity) else x  # noqa: E731

    def drawn(low=0.0, high=1.0, size=None, **kwargs):
        if not isinstance(low, u.Quantity):
            return uniform(low, high, size, **kwargs)
        return np.asarray(alike.value(np.random.default_rng(7).uniform(in_ms(low), in_ms(high), size)), "f") * u.ms

    brainstate.random.uniform = drawn
    assert brainpy.state and jax


def seed_numpy():
    """What is drawn without a seed differs from run to run: here it does not."""
    fresh, count = np.random.default_rng, iter(range(10**6))
    np.random.default_rng = lambda seed=None: fresh(next(count) if seed is None else seed)
    np.random.seed(0)


def digits(batch_size, batches=100):
    """Rows of images with a bright band that moves with the digit: batches of MNIST's shape."""
    rng = np.random.default_rng(0)
    for _ in range(batches):
        labels = rng.integers(10, size=batch_size)
        images = rng.random((batch_size, 28, 28)).astype("f") * 0.2
        for image, label in zip(images, labels):
            image[2 * label + 4: 2 * label + 8] += 0.8
        yield list(images), labels


def events(batch_size=8, steps=30, shape=(34, 34, 2), classes=10):
    """Frames of events [batch, time, *sensor], busy in a stripe that belongs to the class: two batches of N-MNIST's shape."""
    rng = np.random.default_rng(0)
    for _ in range(2):
        labels = rng.integers(classes, size=batch_size)
        p = np.full((batch_size, 1, *shape), 0.01)
        for i, label in enumerate(labels):
            p[i, :, 3 * label: 3 * label + 4] = 0.2
        yield (rng.random((batch_size, steps, *shape)) < p).astype("f"), labels


def stand_in(name, **parts):
    """A module in place of one that the numbers do not depend on, or parts of it where it is installed."""
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
    if name not in sys.modules:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
    for key, value in parts.items():
        setattr(sys.modules[name], key, value)


def loaded(folder, name):
    path = folder / f"{name}.py"
    sys.path[:0] = [str(path.parent), str(folder)]
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def losses_of(folder, name):
    if name == "000-lif-snn-for-nmnist":
        return nmnist(folder)
    module = loaded(folder, name)
    if hasattr(module, "_load_mnist"):
        module._load_mnist = lambda batch_size: (digits(batch_size, 6), None)
    if hasattr(module, "Trainer") or hasattr(module, "OnlineTrainer"):
        one_round(module)
    takes = inspect.signature(module.main).parameters
    wanted = {"plot": False, "n_epochs": 6, **SMALL.get(name, {})}
    result = module.main(**{k: v for k, v in wanted.items() if k in takes})
    if "max_grad_diff" in result:
        return [result["max_grad_diff"]]
    return [float(x) for x in result["losses"]]


def one_round(module):
    """A trainer that goes on until it is good enough stops after the first round of its data."""
    for kind in {getattr(module, n) for n in ("Trainer", "OnlineTrainer") if hasattr(module, n)}:
        if "acc_th" in inspect.signature(kind.__mro__[-2].__init__).parameters:
            made = kind.__init__
            kind.__init__ = lambda self, *args, _made=made, **kwargs: _made(self, *args, **{**kwargs, "acc_th": 0.0001})


def nmnist(folder):
    """The network and trainer of this example; the script itself downloads its data when it is imported."""
    sys.path.insert(0, str(folder))
    import brainstate
    import braintools
    import brainunit as u
    import snn_models

    with brainstate.environ.context(dt=1.0 * u.ms):
        net = snn_models.LIF_Delta_Net(n_in=34 * 34 * 2, n_rec=20, n_out=10, tau_mem=20.0 * u.ms, tau_o=20.0 * u.ms, V_th=1.0 * u.mV, rec_scale=2.0, ff_scale=6.0)
        trainer = snn_models.OnlineTrainer(target=net, opt=braintools.optim.Adam(lr=1e-3), dataset=list(events()) * 3,
                                           x_fun=lambda x: np.transpose(x.reshape(*x.shape[:2], -1), (1, 0, 2)), acc_th=0.0001)
        return [float(x) for x in trainer.f_train()[0]]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("name", nargs="?")
    p.add_argument("--weights", type=pathlib.Path)
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    folder = a.folder.resolve()
    names = listed(folder)
    if a.list or a.name not in names:
        return print(json.dumps(names))
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    alike = Alike(a.weights)
    start_alike(alike)
    stand_in("matplotlib", use=lambda *args: None)
    stand_in("matplotlib.pyplot")
    stand_in("numba", njit=lambda f: f)  # whose random numbers have a seed of their own
    seed_numpy()
    with contextlib.redirect_stdout(io.StringIO()):
        losses = losses_of(folder, a.name)
    alike.save()
    print(json.dumps(losses))


if __name__ == "__main__":
    main()
