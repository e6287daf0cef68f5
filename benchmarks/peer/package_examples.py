# SPDX-License-Identifier: Apache-2.0
"""The examples of the Python package braintrace as they are, from a checkout of its repository; the losses of one as JSON on stdout.

    package_examples.py FOLDER NAME [--weights FILE] [--perturb] [--gradients FILE] [--hold] [--instead METHOD]
                                     here through `python -m pybraintrace.compat package_examples.py …`
    package_examples.py FOLDER --list

FOLDER is the folder `examples` of the tag v0.2.6. With --weights, what is random but data starts alike in both systems: the weights that an
optimizer is given, and numbers that models draw (time constants; in 002 and 101 also the data). They are read from FILE where it exists, and written to it otherwise;
with --perturb each weight that is read changes by one part in ten million, up or down.
Data come from NumPy, seeded. Where an example downloads a data set, small generated data of the same shape replace it.

With --gradients, the gradients that optimizers get in their first update are written to FILE. Where it exists they are compared: the largest
‖g - g'‖/‖g'‖ of the weights that learn there, and the names of those that never get a gradient there. With --hold these get none here either. With
--instead, examples that call `braintrace.compile` learn by D_RTRL, 'single-step' or 'multi-step', whatever rule they ask for.
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
LEFT_OUT = {f"003-snn-memory-and-speed-evaluation-{how}": "measures memory and time" for how in ("all", "batched", "vmap")}


def listed(folder):
    files = [*sorted((folder / "drtrl").glob("[0-9]*.py")), *sorted((folder / "pp_prop").glob("[0-9]*.py")), *sorted(folder.glob("[0-9]*.py"))]
    return [str(f.relative_to(folder).with_suffix("")) for f in files if f.stem not in LEFT_OUT]


class Alike:
    """Random numbers that both systems start with, in the order in which they are asked for."""

    def __init__(self, path, perturb):
        self.path, self.given, self.noted = path, list(np.load(path).values()) if path and path.exists() else None, []
        self.factor = (lambda shape, rng=np.random.default_rng(1): 1 + 1e-7 * rng.choice([-1.0, 1.0], shape)) if perturb else lambda shape: 1.0

    def value(self, own):
        if self.given is not None:
            given = self.given.pop(0)
            return np.asarray(given * self.factor(given.shape), given.dtype) if given.dtype.kind == "f" else given
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


class Gradients:
    """What every optimizer is given: in its first update, and over all updates by absolute value. Weights that learn nothing there are held."""

    def __init__(self, path, hold):
        there = dict(np.load(path)) if path and path.exists() else {}
        self.path, self.exists, self.noted = path, bool(there), {}
        self.there = {name: first for name, (first, total) in there.items() if np.any(total)}
        self.untrained = sorted(set(there) - set(self.there))
        self.held, self.optimizers = set(self.untrained if hold else ()), []

    def leaves(self, optimizer, values):
        """(name, number without its unit, key and name of the leaf) of weights or gradients by path."""
        import brainunit as u

        for path, value in values.items():
            for key, leaf in value.items() if isinstance(value, dict) else [("", value)]:
                name = f"{self.optimizers.index(optimizer)} {'.'.join(map(str, path))} {key}".strip()
                yield name, leaf.mantissa if isinstance(leaf, u.Quantity) else leaf, path, key

    def register(self, optimizer, weights):
        import brainstate
        import jax.numpy as jnp

        if optimizer not in self.optimizers:
            self.optimizers.append(optimizer)
        for name, leaf, *_ in self.leaves(optimizer, {path: w.value for path, w in weights.items()}):
            self.noted[name] = [brainstate.LongTermState(jnp.zeros_like(leaf)) for _ in range(2)]

    def heard(self, optimizer, grads):
        import jax.numpy as jnp

        grads = {path: dict(g) if isinstance(g, dict) else g for path, g in grads.items()}
        for name, leaf, path, key in list(self.leaves(optimizer, grads)):
            first, total = self.noted[name]
            first.value = jnp.where(jnp.sum(total.value) == 0, leaf, first.value)
            total.value = total.value + jnp.abs(leaf)
            if name in self.held and key:
                grads[path][key] = 0 * grads[path][key]
            elif name in self.held:
                grads[path] = 0 * grads[path]
        return grads

    def worst(self):
        """The largest difference of a first gradient from that of the file, or nothing without a file."""
        if not self.exists:
            return None
        norm = lambda x: float(np.linalg.norm(np.asarray(x, "d")))  # noqa: E731
        pairs = {name: (np.asarray(self.noted[name][0].value), g) for name, g in self.there.items()}
        return max((norm(g - there) / norm(there) if norm(there) else float(norm(g) > 0), name) for name, (g, there) in pairs.items()) if pairs else None

    def save(self):
        if self.path and not self.exists:
            np.savez(self.path, **{name: np.stack([np.asarray(state.value) for state in pair]) for name, pair in self.noted.items()})


def start_alike(alike, gradients):
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
        gradients.register(self, weights)
        return register(self, weights, *args, **kwargs)

    update = optimizer.update
    optimizer.register_trainable_weights = registered
    optimizer.update = lambda self, grads, *args, **kwargs: update(self, gradients.heard(self, grads), *args, **kwargs)
    brainstate.random.seed(0)
    uniform = brainstate.random.uniform
    in_ms = lambda x: float(x.to_decimal(u.ms)) if isinstance(x, u.Quantity) else x  # noqa: E731

    def drawn(low=0.0, high=1.0, size=None, **kwargs):
        if not isinstance(low, u.Quantity):
            return uniform(low, high, size, **kwargs)
        return np.asarray(alike.value(np.random.default_rng(7).uniform(in_ms(low), in_ms(high), size)), "f") * u.ms

    brainstate.random.uniform = drawn
    assert brainpy.state and jax


def learn_by_d_rtrl(method):
    import braintrace

    make = braintrace.compile
    braintrace.compile = lambda model, rule, *inputs, decay_or_rank=None, vjp_method=None, **options: make(model, "D_RTRL", *inputs, vjp_method=method, **options)


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


def losses_of(folder, name, alike):
    if name == "000-lif-snn-for-nmnist":
        return nmnist(folder)
    if name == "004-feedforward-conv-snn":
        return conv_snn(folder, name)
    module = loaded(folder, name)
    if hasattr(module, "_load_mnist"):
        module._load_mnist = lambda batch_size: (digits(batch_size, 6), None)
    for owner, name_of_batches in ((getattr(module, "EvidenceAccumulation", None), "__iter__"), (module, "train_data")):
        if hasattr(owner, name_of_batches):  # it draws its data with the random numbers of its system
            drawn = getattr(owner, name_of_batches)
            setattr(owner, name_of_batches, lambda *args, _drawn=drawn, **kwargs: (tuple(map(alike.value, batch)) for batch in _drawn(*args, **kwargs)))
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


def conv_snn(folder, name):
    """The network and online trainer of this example; its main part downloads its data."""
    stand_in("tonic")
    stand_in("tonic.collation", PadTensors=None)
    stand_in("tonic.datasets", SHD=None, NMNIST=None)
    stand_in("torch.utils.data", DataLoader=None)
    module = loaded(folder, name)
    import brainstate
    import braintools

    with brainstate.environ.context(dt=1.0):
        net = module.ConvSNN((34, 34, 2), 10, n_channel=4)
        batches = [(x, y) for x, y in events(batch_size=4, steps=10)]
        trainer = module.OnlineVmapTrainer(target=net, opt=braintools.optim.Adam(lr=1e-3), train_loader=batches * 3, test_loader=batches[:1],
                                           x_fun=lambda x: np.moveaxis(x, 1, 0), n_epoch=1)
        losses, train = [], trainer.batch_train
        trainer.batch_train = lambda xs, ys: losses.append(train(xs, ys)) or losses[-1]
        trainer.f_train()
        return [float(loss) for loss, _ in losses]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("name", nargs="?")
    p.add_argument("--weights", type=pathlib.Path)
    p.add_argument("--perturb", action="store_true")
    p.add_argument("--gradients", type=pathlib.Path)
    p.add_argument("--hold", action="store_true")
    p.add_argument("--instead", choices=["single-step", "multi-step"])
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    folder = a.folder.resolve()
    names = listed(folder)
    if a.list or a.name not in names:
        return print(json.dumps(names))
    warnings.simplefilter("ignore")
    sys.dont_write_bytecode = True
    alike, gradients = Alike(a.weights, a.perturb), Gradients(a.gradients, a.hold)
    start_alike(alike, gradients)
    if a.instead:
        learn_by_d_rtrl(a.instead)
    stand_in("matplotlib", use=lambda *args: None)
    stand_in("matplotlib.pyplot")
    stand_in("numba", njit=lambda f: f)  # whose random numbers have a seed of their own
    seed_numpy()
    with contextlib.redirect_stdout(io.StringIO()):
        losses = losses_of(folder, a.name, alike)
    alike.save()
    gradients.save()
    print(json.dumps({"losses": losses, "untrained": gradients.untrained, "worst": gradients.worst()}))


if __name__ == "__main__":
    main()
