# SPDX-License-Identifier: Apache-2.0
"""Copies: of settings, of optimizers, and of a whole learner in the middle of a stream."""
import copy
import pickle

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

COPIES = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


@pytest.mark.parametrize("twin", COPIES)
def test_settings(twin):
    init = bt.init
    for made in (init.KaimingNormal(2.0), init.Uniform(-1, 1) * 3, 2 * init.Normal(0, 1) + init.Constant(1.0), init.initializer("orthogonal")):
        bt.random.seed(5)
        expected = made((3, 4)).tolist()
        bt.random.seed(5)
        assert twin(made)((3, 4)).tolist() == expected
    rate = bt.optim.StepLR(0.1, 2)
    rate.step_epoch(), rate.step_epoch()
    assert twin(rate)() == rate() == pytest.approx(0.01) and twin(bt.optim.Schedule(0.5))() == 0.5
    assert repr(twin(bt.surrogate.ReluGrad(alpha=0.2))) == "relu_grad(alpha=0.2, width=1)"
    config = bt.ETraceConfig(recurrence_scope="coupled")
    assert twin(config) == config


@pytest.mark.parametrize("twin", COPIES)
def test_random_streams_and_windows(twin):
    stream = bt.RandomState(3)
    stream.next_key()
    assert twin(stream).next_key().tolist() == stream.next_key().tolist()
    window = twin(bt.MultiStepData({"x": np.ones((2, 3), "f")}))
    assert window.is_multi and window.data["x"].shape == (2, 3) and not twin(bt.SingleStepData(1.0)).is_multi


@pytest.mark.parametrize("twin", COPIES)
def test_a_rate_that_waits_for_a_plateau(twin):
    plateau = bt.optim.ReduceLROnPlateau(0.1, factor=0.5, patience=2)
    optimizer = bt.optim.SGD(plateau)
    for value in (1.0, 0.5, 0.5, 0.5):
        plateau.step(value)
    its_optimizer, other = twin((optimizer, plateau))
    other.step(0.5)
    assert other() == its_optimizer.current_lr == 0.05 and plateau() == optimizer.current_lr == 0.1


@pytest.mark.parametrize("twin", COPIES)
def test_a_model_with_settings_as_attributes(twin):
    class_ = Spiking
    model = nn.init_all_states(class_())
    x = np.ones(3, "f")
    assert twin(model)(x).tolist() == model(x).tolist()


class Spiking(nn.Module):
    def __init__(self):
        super().__init__()
        self.spike = bt.surrogate.ReluGrad()
        self.first = bt.init.KaimingNormal()
        self.w = nn.Linear(3, 2, w_init=self.first)
        self.lif = nn.LIF(2, spk_fun=self.spike, dt=1.0)

    def update(self, x):
        return self.spike(self.lif(self.w(x)) - 0.5)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(3, 4), nn.Linear(4, 2)
        self.gain = bt.ParamState(np.ones(2, "f"))

    def update(self, x):
        return self.gain.value * self.out(self.cell(x))


def stepping(learner, optimizer):
    weights = learner.model.states(bt.ParamState)

    @bt.jit
    def step(x):
        grads, loss = bt.grad(lambda: (learner(x) ** 2).sum(), weights, return_value=True)()
        optimizer.update(grads)
        return loss

    return step


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("register", [lambda m: m, lambda m: m.states(bt.ParamState)], ids=["model", "states"])
@pytest.mark.parametrize("twin", COPIES)
def test_a_copy_in_the_middle_of_a_stream_learns_on_alike(twin, register):
    xs = np.random.default_rng(0).normal(size=(8, 3)).astype("f")
    learner = bt.compile(Net(), "D_RTRL", jnp.zeros(3))
    optimizer = bt.optim.Adam(bt.optim.ExponentialLR(0.05, 0.5), beta1=0.8, weight_decay=0.1)
    optimizer.register_trainable_weights(register(learner.model))
    optimizer.group(("out",), lr_factor=0.5)
    step = stepping(learner, optimizer)
    for x in xs[:4]:
        step(x)
    optimizer.step_epoch()
    other, its_optimizer = twin((learner, optimizer))
    assert its_optimizer.step_count == 4 and its_optimizer.current_lr == optimizer.current_lr == 0.025
    other_step = stepping(other, its_optimizer)
    assert [float(other_step(x)) for x in xs[4:]] == [float(step(x)) for x in xs[4:]]
    assert all(np.array_equal(a, b) for a, b in zip(bt.tree.leaves(learner.model.states().to_dict_values()), bt.tree.leaves(other.model.states().to_dict_values())))


def test_an_optimizer_that_knows_no_model_says_so():
    optimizer = bt.optim.SGD(0.1, momentum=0.9)
    assert copy.deepcopy(optimizer).current_lr == 0.1
    optimizer.register_trainable_weights(dict(Net().states(bt.ParamState)))
    with pytest.raises(TypeError, match=r"model.states\(ParamState\)"):
        copy.deepcopy(optimizer)


def test_rates_and_sums_of_gradients():
    rate = bt.optim.SequentialLR([0.1, bt.optim.StepLR(0.2, 1, gamma=0.5)], [2])
    assert [rate(e) for e in range(4)] == pytest.approx([0.1, 0.1, 0.2, 0.1]) and copy.deepcopy(rate)(2) == rate(2)
    plateau = bt.optim.ReduceLROnPlateau(0.1, factor=0.5, patience=1)
    optimizer = bt.optim.SGD(plateau)
    for value in (1.0, 1.0, 1.0, 1.0):
        plateau.step(value)
    assert plateau() < 0.1 and optimizer.current_lr == plateau() == plateau.schedule()
    mean = bt.optim.Accumulator(2)
    assert mean.add({("w",): np.ones(2, "f")}) is None and mean.add({("w",): np.zeros(2, "f")})["w",].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("twin", COPIES)
@pytest.mark.parametrize("rule, options", [("D_RTRL", {}), ("pp_prop", {"decay_or_rank": 0.9}), ("esd_rtrl", {"decay_or_rank": 3}), ("EProp", {}), ("OSTLRecurrent", {}), ("OSTLFeedforward", {}),
                                           ("SnAp", {"n": 2}), ("UORO", {}), ("RTRL", {}), ("ThreeFactor", {"modulator": 1.0})])
def test_the_memory_of_every_rule(rule, options, twin):
    learner = bt.compile(Net(), rule, jnp.zeros(3), **options)
    learner(np.ones(3, "f"))
    other = twin(learner)
    for _ in range(2):
        assert [(str(a.dtype), a.tolist()) for a in other.memory()] == [(str(a.dtype), a.tolist()) for a in learner.memory()]
        assert other(np.ones(3, "f")).tolist() == learner(np.ones(3, "f")).tolist()


@pytest.mark.parametrize("twin", COPIES)
def test_tensors_of_double_precision(twin):
    with bt.environ.context(precision=64):
        x = jnp.asarray(np.array([1 + 2.0**-40]))
        n = jnp.asarray(np.array([2**40]))
    assert [(str(t.dtype), t.tolist()) for t in (twin(x), twin(n))] == [("float64", [1 + 2.0**-40]), ("int64", [2**40])]
