# SPDX-License-Identifier: Apache-2.0
"""Modules, states, layers and neurons."""
import copy
import dataclasses
import pickle

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp


class Net(nn.Module):
    def __init__(self, n_in=3, n_rec=4, n_out=2):
        super().__init__()
        self.rnn = nn.GRUCell(n_in, n_rec)
        self.out = nn.Linear(n_rec, n_out)

    def update(self, x):
        return self.out(self.rnn(x))


def test_states_are_found_in_attributes_lists_and_dicts():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2)]
            self.layers.append(nn.Linear(2, 2))
            self.parts = {"a": nn.Linear(2, 2), "b": [bt.ParamState(jnp.zeros(1)), None]}
            self.w = bt.ParamState({"weight": jnp.zeros((2, 2)), "bias": jnp.zeros(2)})
            self.owner = self  # a cycle is not a child

        def update(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.parts["a"](x) + self.parts["b"][0].value

    model = Deep()
    assert list(model.states()) == [("layers", 0, "weight"), ("layers", 1, "weight"), ("parts", "a", "weight"), ("parts", "b", 0), ("w",)]
    assert model.states()["w",] is model.w and model(np.ones(2, "f")).shape == (2,)
    model.layers.pop()
    assert ("layers", 1, "weight") not in model.states()
    model.w = bt.HiddenState(jnp.zeros(3))
    assert isinstance(model.states()["w",], bt.HiddenState)
    del model.w
    assert ("w",) not in model.states() and len(model.nodes(nn.Linear)) == 2


@dataclasses.dataclass
class Pair:
    first: nn.Module
    gain: bt.ParamState


class Contained(nn.Module):
    def __init__(self):
        super().__init__()
        self.at = {0: nn.Linear(3, 2), 10: [nn.Linear(2, 2)]}
        self.pair = Pair(nn.GRUCell(2, 2), bt.ParamState(np.ones(2, "f")))

    def update(self, x):
        return self.pair.gain.value * self.pair.first(self.at[10][0](self.at[0](x)))


def test_states_are_found_under_integers_and_in_dataclasses():
    model = nn.init_all_states(Contained())
    paths = set(model.states(bt.ParamState))
    assert {("at", 0, "weight"), ("at", 10, 0, "weight"), ("pair", "first", "Wz", "weight"), ("pair", "gain")} <= paths
    assert set(model.nodes(nn.Linear)) == {("at", 0), ("at", 10, 0)} and ("pair", "first") in model.nodes(nn.GRUCell)
    learner = bt.compile(model, "D_RTRL", np.ones(3, "f"))
    assert ("pair", "first", "Wz", "weight") in [r.weight_path for r in learner.graph.hidden_param_op_relations]
    assert pickle.loads(pickle.dumps(model))(np.ones(3, "f")).tolist() == copy.deepcopy(model)(np.ones(3, "f")).tolist()
    model.at = {0: nn.Linear(3, 2), "0": nn.Linear(3, 2)}
    with pytest.raises(ValueError, match="at: two keys of a dict are written '0'"):
        model.states()


def test_a_part_that_is_not_found_says_where_to_put_it():
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = {nn.Linear(3, 2)}

        def update(self, x):
            return next(iter(self.parts))(x)

    with pytest.raises(bt.StateError, match="Linear: the update of Hidden calls it, .*\n.* in Python, assign it to an attribute"):
        Hidden()(np.ones(3, "f"))


def test_mapping_of_states():
    states = Net().states()
    assert list(states.subset(bt.HiddenState)) == [("rnn", "h")]
    params, rest = states.split(bt.ParamState)
    assert len(params) == 4 and len(rest) == 1
    assert set(bt.nn.init_all_states(Net()).states().to_dict_values()) == set(states)
    params, hidden = Net().states(bt.ParamState, bt.HiddenState)
    assert len(params) == 4 and list(hidden) == [("rnn", "h")]
    assert [list(part) for part in states.subset(bt.HiddenState, bt.ParamState, bt.State)] == [list(hidden), list(params), []]


def test_first_values_and_batches():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(2, 3)

        def init_state(self, batch_size=None, **kwargs):
            self.v = bt.HiddenState(jnp.zeros((3,) if batch_size is None else (batch_size, 3)))

        def update(self, x):
            self.v.value = self.v.value + self.cell(x)
            return self.v.value

    model = nn.init_all_states(Own(), batch_size=5)
    assert model.v.value.shape == (5, 3) and model.cell.h.value.shape == (5, 3)
    model(np.ones((5, 2), "f"))
    nn.reset_all_states(model)
    assert float(jnp.abs(model.v.value).sum()) == 0 and float(jnp.abs(model.cell.h.value).sum()) == 0


def test_states_replaced_by_init_state_are_seen_by_programs_and_learners():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = bt.ParamState(jnp.ones((1, 1)))

        def init_state(self, batch_size=None, **kwargs):
            self.h = bt.HiddenState(jnp.zeros((1,) if batch_size is None else (batch_size, 1)))

        def update(self, x):
            self.h.value = self.h.value + bt.matmul(x, self.w.value)
            return self.h.value

    model = nn.init_all_states(Own())
    step = bt.jit(model)
    learner = bt.compile(model, "D_RTRL", jnp.ones(1))
    for run in (step, learner):
        for _ in range(3):
            nn.init_all_states(model)
            assert run(jnp.ones(1)).tolist() == [1.0] and run(jnp.ones(1)).tolist() == [2.0]
            assert model.h.value.tolist() == [2.0]
    nn.reset_all_states(model)
    assert step(jnp.ones(1)).tolist() == [1.0]
    nn.init_all_states(model, batch_size=4)
    assert step(jnp.ones((4, 1))).shape == (4, 1) and model.h.value.shape == (4, 1)

    class Shares(Own):  # a state of another module stays shared
        def init_state(self, batch_size=None, **kwargs):
            self.h = model.h

    shares = nn.init_all_states(nn.init_all_states(Shares()))
    assert shares.h is model.h


def test_values_of_states():
    s = bt.ParamState({"weight": np.ones((2, 3), "f"), "bias": np.zeros(3, "f")})
    assert s.value["weight"].shape == (2, 3)
    s.value = {"weight": jnp.zeros((2, 3)), "bias": jnp.ones(3)}
    assert s.value["bias"].tolist() == [1, 1, 1]
    for bad in ({"other": 1.0}, jnp.ones(2)):
        with pytest.raises(ValueError):
            s.value = bad
    with pytest.raises((TypeError, ValueError)):
        bt.ParamState("text")
    lazy = bt.HiddenState(lambda batch: jnp.zeros((2,) if batch is None else (batch, 2)))
    assert not lazy.initialized
    with pytest.raises(ValueError, match="init_all_states"):
        lazy.value
    lazy.init(4)
    assert lazy.value.shape == (4, 2)


def test_printing():
    class Named(Net):
        pass

    text = repr(Named())
    assert text.startswith("Named(") and "rnn=GRUCell(" in text
    assert "<pre>" in Net()._repr_html_()


def test_arguments_and_results_are_trees():
    class Many(nn.Module):
        def update(self, x, *, scale, extra=None):
            return {"y": x["a"] * scale, "none": extra}

    out = Many()({"a": np.ones(2, "f")}, scale=3.0)
    assert out["y"].tolist() == [3, 3] and out["none"] is None


def test_errors_say_where():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def update(self, x):
            return self.inner(x)

    class Inner(nn.Module):
        def update(self, x):
            return x.nothing

    with pytest.raises(AttributeError) as caught:
        Broken()(np.ones(2, "f"))
    if hasattr(caught.value, "__notes__"):
        assert any("inner (Inner)" in note for note in caught.value.__notes__)
    with pytest.raises(bt.UserError, match="rnn"):
        nn.init_all_states(Net())(np.ones(7, "f"))

    class Forgot(nn.Module):
        pass

    with pytest.raises(ValueError, match="update"):
        Forgot()(1.0)

    class NoInit(nn.Module):
        def __init__(self):
            self.w = 1

    with pytest.raises((TypeError, RuntimeError, AttributeError)):
        NoInit()(1.0)


def test_copies_and_pickles_keep_values_and_first_values():
    model = nn.init_all_states(Net(), batch_size=2)
    x = np.ones((2, 3), "f")
    model(x)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert list(twin.states()) == list(model.states())
        np.testing.assert_array_equal(np.asarray(twin.rnn.h.value), np.asarray(model.rnn.h.value))
        before = np.asarray(model.rnn.h.value).copy()
        twin(x)
        np.testing.assert_array_equal(np.asarray(model.rnn.h.value), before)
        nn.reset_all_states(twin)
        assert float(jnp.abs(twin.rnn.h.value).sum()) == 0 and twin.rnn.h.value.shape == (2, 4)


def _arguments(name):
    if name in ("LRUCell",):
        return (3, 4), (3,)
    if name.endswith("Cell") or name in ("MiniGRU", "MiniLSTM"):
        return (3, 4), (3,)
    if "Pool" in name or name.startswith("Conv"):
        n = int(name[-2])
        if name.startswith("Conv"):
            return ((4,) * n + (2,), 3, 3), (4,) * n + (2,)
        return (2,), (4,) * n + (2,)
    special = {"LearnableDelay": ((3, 4.0), (3,)), "Linear": ((3, 4), (3,)), "PlainLinear": ((3, 4), (3,)), "SignedWLinear": ((3, 4), (3,)), "ScaledWSLinear": ((3, 4), (3,)),
               "LoRA": ((3, 2, 4), (3,)), "GroupedLinear": ((2, 3, 4), (2, 3)), "Embedding": ((5, 3), None), "Unflatten": (((2, 2),), (4,)),
               "SpikeBitwise": None, "SparseLinear": None, "SparsePattern": None, "KappaFilter": ((jnp.zeros(3), 0.5), (3,)), "Activation": (("tanh",), (3,)),
               "LeakyRateReadout": ((3, 2), (3,)), "LeakySpikeReadout": ((3, 2), (3,)), "Delay": ((3, 2), (3,)), "LearnableDelay": ((3, 2.0), (3,)), "Softmax2d": ((), (2, 3, 3)), "GLU": ((), (4,)),
               "GroupNorm": ((4, 2), (3, 4)), "Dropout": ((), (3,)), "Flatten": ((), (2, 3)), "LayerNorm": ((3,), (3,)), "RMSNorm": ((3,), (3,))}
    if name in special:
        return special[name]
    if name.startswith("BatchNorm"):
        n = int(name[-2])
        return (2,), (3,) + (4,) * n + (2,)
    if name.startswith("Dropout"):
        return (), (4, 4, 4, 2)
    if hasattr(bt._core.spiking, name):
        return (3,), (3,)
    return (), (3,)


SKIP = {"Module", "Neuron", "Synapse", "Surrogate", "SynapseOutput", "CUBA", "COBA", "MgBlock", "DeltaProj", "AlignPostProj", "AlignPreProj", "CurrentProj",
        "Sequential", "SpikeBitwise", "SparseLinear", "SparsePattern"}


@pytest.mark.parametrize("name", sorted(n for n in nn.__all__ if n[0].isupper() and n not in SKIP))
def test_every_layer_runs_is_copied_and_has_words(name):
    arguments, shape = _arguments(name)
    with bt.environ.context(dt=1.0):
        layer = nn.init_all_states(getattr(nn, name)(*arguments))
        x = jnp.asarray(2) if shape is None else jnp.ones(shape) * 0.5
        out = layer(x)
        assert bool(jnp.isfinite(out).all())
        twin = copy.deepcopy(layer)
        assert twin(x).shape == out.shape
    assert getattr(nn, name).__doc__ and repr(layer)


def test_sparse_layers():
    pattern = nn.SparsePattern(np.array([0, 1]), np.array([1, 0]), (2, 2))
    layer = nn.SparseLinear(pattern, np.array([2., 3.], "f"))
    assert layer(np.array([1., 10.], "f")).tolist() == [30, 2]

    class Csr:  # as SciPy has it
        shape, indptr, indices, data = (2, 2), np.array([0, 1, 2]), np.array([1, 0]), np.array([2., 3.], "f")

    assert nn.SparseLinear(Csr())(np.array([1., 10.], "f")).tolist() == [30, 2]
    assert bt.sparse_matmul(np.array([1., 10.], "f"), np.array([2., 3.], "f"), sparse_mat=Csr()).tolist() == [30, 2]


def test_spiking_network():
    with bt.environ.context(dt=1.0):
        neuron = nn.LIF(4, tau=10.0, V_th=0.5, spk_fun=bt.surrogate.ReluGrad())
        proj = nn.AlignPostProj(nn.Linear(3, 4), nn.Expon(4, tau=5.0), nn.CUBA(), neuron)

        class Snn(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj, self.neuron, self.out = proj, neuron, nn.LeakyRateReadout(4, 2)

            def update(self, x):
                self.proj(x)
                return self.out(self.neuron())

        model = nn.init_all_states(Snn())
        for _ in range(5):
            out = model(np.ones(3, "f") * 3)
        assert out.shape == (2,) and neuron.get_spike().shape == (4,)
        learner = bt.compile(model, "pp_prop", jnp.zeros(3), decay_or_rank=0.9)
        assert learner.graph.hidden_groups


def test_neurons_written_in_python():
    class Leaky(nn.Neuron):
        def __init__(self, n):
            super().__init__(n)
            self.V = bt.HiddenState(jnp.zeros(n))

        def get_spike(self):
            return bt.surrogate.ReluGrad()(self.V.value - 1)

        def reset(self):
            self.V.value = self.V.value * (1 - self.get_spike())

        def integrate(self):
            self.V.value = self.sum_delta_inputs(nn.exp_euler_step(lambda v: -v + self.current(v), self.V.value, dt=0.1))

    neuron = nn.init_all_states(Leaky(2))
    spikes = [neuron(np.array([20., 0.], "f")).tolist() for _ in range(3)]
    assert spikes[0] == [1, 0] and float(neuron.V.value[1]) == 0


def test_a_neuron_in_python_reads_conductances_at_its_potential():
    class Membrane(nn.Neuron):
        def __init__(self):
            super().__init__(1)
            self.V = bt.HiddenState(jnp.full((1,), 0.5))

        def get_spike(self):
            return self.V.value * 0

        def update(self, x=0.0):
            self.V.value = self.sum_current_inputs(x, self.V.value)
            return self.V.value

    neuron = Membrane()
    project = nn.CurrentProj(nn.Linear(1, 1, w_init=1.0, b_init=None), nn.COBA(E=2.0), neuron)
    project(np.ones(1, "f"))
    assert neuron(np.float32(10)).tolist() == [10 + 1 * (2 - 0.5)]  # x + g (E - V)


@pytest.mark.parametrize("own", ["update", "update and the step of its base class", "integrate"])
def test_a_neuron_in_python_steps_its_synapses_and_consumes_its_inputs(own):
    class Summing(nn.Neuron):
        def __init__(self):
            super().__init__(1)
            self.V = bt.HiddenState(jnp.zeros(1))

        def get_spike(self):
            return self.V.value

        def reset(self):
            pass

        def integrate(self):
            self.V.value = self.sum_delta_inputs(self.current(self.V.value))

    class WithUpdate(Summing):
        def update(self, x=0.0):
            self.integrate()
            return self.V.value

    class WithSuper(Summing):
        def update(self, x=None):
            return super().update(x)

    neuron = {"update": WithUpdate, "integrate": Summing}.get(own, WithSuper)()
    one = {"w_init": 1.0, "b_init": None}
    synapse = nn.AlignPostProj(nn.Linear(1, 1, **one), nn.Expon(1, tau=5.0), nn.CUBA(), neuron)
    delta = nn.DeltaProj(nn.Linear(1, 1, **one), neuron)
    model = nn.Sequential(synapse, delta, neuron)
    nn.init_all_states(model)
    decay, seen = np.exp(-1 / 5), []
    with bt.environ.context(dt=1.0):
        for t in range(3):
            synapse(np.full(1, float(t == 0), "f"))
            delta(np.full(1, 10.0 * (t == 1), "f"))
            seen.append(float(neuron()[0]))
    assert seen == pytest.approx([1, decay + 10, decay ** 2], rel=1e-6)


@pytest.mark.parametrize("name", ["LIF", "IF", "ALIF", "ExpIF", "QuaIF", "AdExIF", "AdQuaIF", "Gif", "CubaLIF", "CobaLIF", "LIFRef", "ALIFRef", "ExpIFRef", "AdExIFRef", "AdQuaIFRef", "GifRef", "FilteredLIF"])
def test_neurons_complain_in_their_own_name(name):
    with pytest.raises(ValueError, match=rf"^{name}: in_size must be positive, got \(0,\)"):
        getattr(nn, name)(0)
    with pytest.raises(ValueError, match=f"^{name}: tau must be positive"):
        getattr(nn, name)(1, tau=-1.0)


@pytest.mark.parametrize("name", [n for n in bt.init.__all__ if n[0].isupper() and n != "Initializer"])
def test_every_initializer_makes_a_value(name):
    made = getattr(bt.init, name)(*([2.0] if name in ("Gamma", "Weibull") else []))
    assert isinstance(made, bt.init.Initializer) and made((3, 3) if name != "DeltaOrthogonal" else (3, 3, 3)).dtype == np.float32


def test_initializers():
    assert nn.Linear(2, 3, w_init=lambda shape: np.full(shape, 7.0, "f")).weight.value["weight"].tolist() == [[7] * 3] * 2
    assert bt.init.Constant(3.0)((2,)).tolist() == [3, 3] and bt.init.initializer("ones")((2,)).tolist() == bt.init.initializer(1.0)((2,)).tolist() == [1, 1]
    assert bt.init.param(bt.init.Constant(1.0), 2, batch_size=3).shape == (3, 2) and bt.init.param(2.5, 4) == 2.5 and bt.init.param(None, 2) is None
    with pytest.raises(ValueError):
        bt.init.param(None, 2, allow_none=False)
    assert bt.init.calculate_init_gain("relu") == pytest.approx(2 ** 0.5) and bt.init.calculate_init_gain("linear") == 1


@pytest.mark.parametrize("name", [n for n in bt.surrogate.__all__ if n[0].isupper() and n != "Surrogate"])
def test_every_surrogate_has_a_derivative(name):
    z = getattr(bt.surrogate, name)()
    assert isinstance(z, bt.surrogate.Surrogate) and z(np.array([-1., 1.], "f")).tolist() == [0, 1]
    assert float(bt.grad(lambda x: z(x))(0.1)) >= 0


@pytest.mark.parametrize("name, doc, defaults", bt.surrogate.surrogates())
def test_every_surrogate_is_a_function_too(name, doc, defaults):
    z = getattr(bt.surrogate, name)
    assert z(np.array([-1., 1.], "f")).tolist() == [0, 1] and z(0.5, **defaults).shape == () and doc in z.__doc__


def test_surrogates_of_your_own():
    bt.surrogate.register_surrogate("box", lambda x: (jnp.abs(x) < 0.5) * 1.0, "one near zero")
    z = bt.surrogate.Surrogate("box", [])
    assert [float(bt.grad(lambda x: z(x))(v)) for v in (0.2, 0.8)] == [1, 0]
    bt.surrogate.register_surrogate("box", lambda x: (jnp.abs(x) < 1.0) * 1.0, "registered again, as in a notebook")
    assert [float(bt.grad(lambda x: bt.surrogate.Surrogate("box", [])(x))(v)) for v in (0.2, 0.8)] == [1, 1]
    with pytest.raises(ValueError, match="'sigmoid' is built in"):
        bt.surrogate.register_surrogate("sigmoid", lambda x: x)
    with pytest.raises(AttributeError):
        bt.surrogate.Nothing
    with pytest.raises(TypeError):
        bt.surrogate.ReluGrad(nothing=1)


P, T = np.array([[0.2, 0.8, -0.3], [1.5, -0.5, 0.1]], "f"), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], "f")
L, D = np.array([1, 0]), P - T
LOG_P = P - np.log(np.exp(P).sum(1, keepdims=True))
METRICS = {
    "mse": ((P, T), (D ** 2).mean()), "mae": ((P, T), np.abs(D).mean()), "l2_loss": ((P, T), 0.5 * D ** 2), "squared_error": ((P, T), D ** 2), "absolute_error": ((P, T), np.abs(D).mean()),
    "log_cosh": ((P, T), np.log(np.cosh(D))), "huber_loss": ((P, T), np.where(np.abs(D) < 1, 0.5 * D ** 2, np.abs(D) - 0.5)),
    "softmax_cross_entropy": ((P, T), -(T * LOG_P).sum(1)), "softmax_cross_entropy_with_integer_labels": ((P, L), -LOG_P[[0, 1], L]), "nll_loss": ((LOG_P, L), -LOG_P[[0, 1], L]),
    "sigmoid_binary_cross_entropy": ((P, T), np.log1p(np.exp(-np.abs(P))) + np.maximum(P, 0) - P * T), "hinge_loss": ((P, 2 * T - 1), np.maximum(0, 1 - P * (2 * T - 1))),
    "kl_divergence": ((LOG_P, np.full((2, 3), 1 / 3, "f")), (1 / 3 * (np.log(1 / 3) - LOG_P)).sum(1)), "accuracy": ((P, L), 1.0),
    "accuracy_over_time": ((np.stack([P, -2 * P]), L), 0.0),
    "masked_mean": ((P, T), P[T > 0].mean()), "r2_score": ((P, T), 1 - (D ** 2).sum() / ((T - T.mean()) ** 2).sum()),
    "cosine_similarity": ((P, T), (P * T).sum(1) / np.linalg.norm(P, axis=1) / np.linalg.norm(T, axis=1)), "confusion_matrix": ((P, L, 3), np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0]])),
    "l1": (({"w": P},), np.abs(P).sum()), "l2": (({"w": P},), (P ** 2).sum()),
    "voltage_regularizer": ((P, -0.4, 1.0), None), "rate_regularizer": ((np.ones((4, 2), "f"), 1000.0, 1.0), 0.0),
}


@pytest.mark.parametrize("name", METRICS)
def test_losses_and_metrics_are_their_formulas(name):
    arguments, expected = METRICS[name]
    got = np.asarray(getattr(bt.metric, name)(*arguments))
    assert np.isfinite(got).all()
    if expected is not None:
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_every_metric_has_a_formula():
    assert set(METRICS) == set(bt.metric.__all__)


RATES = {
    "StepLR": ((0.1, 2), {0: 0.1, 2: 0.01}), "MultiStepLR": ((0.1, [1, 3]), {0: 0.1, 1: 0.01, 3: 0.001}), "ExponentialLR": ((0.1, 0.5), {0: 0.1, 2: 0.025}),
    "ExponentialDecayLR": ((0.1, 10, 0.5), {0: 0.1, 10: 0.05}), "CosineAnnealingLR": ((0.1, 10), {0: 0.1, 5: 0.05, 10: 0.0}), "PolynomialLR": ((0.1, 10), {0: 0.1, 5: 0.05, 10: 0.0}),
    "LinearLR": ((0.1, 0.5, 1.0, 10), {0: 0.05, 10: 0.1}), "WarmupLR": ((10, 0.1), {10: 0.1, 20: 0.1}), "WarmupCosineLR": ((0.1, 5, 20), {5: 0.1, 20: 0.0}),
    "CosineAnnealingWarmRestarts": ((0.1, 10), {0: 0.1, 5: 0.05, 10: 0.1}), "OneCycleLR": ((0.1, 100), {0: 0.004, 30: 0.1}), "CyclicLR": ((0.1, 0.5, 4), {0: 0.1, 4: 0.5, 8: 0.1}),
    "PiecewiseConstantLR": (([2, 4], [0.3, 0.2, 0.1]), {0: 0.3, 3: 0.2, 5: 0.1}),
}


@pytest.mark.parametrize("name", RATES)
def test_learning_rates_are_their_formulas(name):
    arguments, expected = RATES[name]
    rate = getattr(bt.optim, name)(*arguments)
    assert isinstance(rate, bt.optim.Schedule) and {e: rate(e) for e in expected} == {e: pytest.approx(v, abs=1e-9) for e, v in expected.items()}


def test_learning_rates_of_your_own():
    assert bt.optim.Schedule(lambda epoch: 0.1 / (1 + epoch))(1) == pytest.approx(0.05)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "elu": lambda x: np.where(x > 0, x, np.expm1(x)), "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "swish": lambda x: x / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(x)), "log_sigmoid": lambda x: -np.log1p(np.exp(-x)), "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1), "hard_silu": lambda x: x * np.clip(x / 6 + 0.5, 0, 1), "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "hard_tanh": lambda x: np.clip(x, -1, 1), "gelu": lambda x: 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3))), "softmax": lambda x: np.exp(x) / np.exp(x).sum(),
    "logsumexp": lambda x: np.log(np.exp(x).sum()),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_their_formulas(name):
    x = np.array([-4.0, -0.5, 0.25, 7.0], "f")
    np.testing.assert_allclose(np.asarray(getattr(nn, name)(x)), ACTIVATIONS[name](x), rtol=1e-5, atol=1e-6)


def test_exponential_euler_is_exact_for_linear_equations():
    np.testing.assert_allclose(float(nn.exp_euler(lambda v: -v / 10.0, 2.0, 1.0)), 2 * np.exp(-0.1), rtol=1e-6)


def test_trainable_operations_are_products():
    x, w = np.arange(6, dtype="f").reshape(2, 3), np.arange(12, dtype="f").reshape(3, 4)
    for got, want in ((bt.lora_matmul(x, w[:, :2], w[:2], alpha=0.5), 0.5 * x @ w[:, :2] @ w[:2]), (bt.einsum("bi,io->bo", x, w), x @ w), (bt.embedding(np.array([2, 0]), w), w[[2, 0]]),
                      (bt.grouped_matmul(x[0].reshape(1, 3), w.reshape(1, 3, 4)), (x[0] @ w)[None]), (bt.element_wise(w[0], lambda v: 2 * v), 2 * w[0]),
                      (bt.conv(x.reshape(1, 1, 2, 3), np.full((1, 1, 1, 1), 2.0, "f")), 2 * x.reshape(1, 1, 2, 3))):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_states_with_several_values():
    group = bt.HiddenGroupState(jnp.zeros((3, 2)))
    assert isinstance(group, bt.State) and group.value.shape == (3, 2)
    named = bt.HiddenTreeState(np.stack([np.zeros(3, "f"), np.ones(3, "f")], -1), ["V", "w"])
    assert named.slot("w").tolist() == [1, 1, 1]
    with pytest.raises(bt.UnknownNameError):
        named.slot("nothing")


@pytest.mark.parametrize("name", [n for n in bt.optim.__all__ if isinstance(getattr(bt.optim, n), type) and issubclass(getattr(bt.optim, n), bt.optim.Optimizer) and n != "Optimizer"])
def test_every_optimizer_descends(name):
    w = bt.ParamState(np.array([3., -2.], "f"))
    opt = getattr(bt.optim, name)(lr=0.05)
    opt.register_trainable_weights({("w",): w})
    loss = lambda: (w.value ** 2).sum()
    before = float(loss())

    @bt.jit
    def step():
        opt.update(bt.grad(loss, {("w",): w})())

    for _ in range(5):
        step()
    assert float(loss()) < before and opt.step_count == 5


@pytest.mark.parametrize("name", [f"{kind}Pool{n}d" for kind in ("Max", "Avg") for n in (1, 2, 3)])
def test_one_number_is_for_all_axes_of_a_pool(name):
    axes, pool = int(name[-2]), getattr(nn, name)
    x = np.random.default_rng(0).normal(size=(1, *[6] * axes, 2)).astype("f")
    for options in [{"stride": 1}, {"stride": 2, "padding": 1}]:
        each = {k: [v] * axes if k == "stride" else [(v, v)] * axes for k, v in options.items()}
        np.testing.assert_array_equal(pool(2, **options)(x), pool([2] * axes, **each)(x))
    assert repr(pool(2)).startswith(name + "(") and repr(getattr(nn, "Adaptive" + name)(2)).startswith("Adaptive" + name)
    with pytest.raises(ValueError, match="stride needs 1 or"):
        pool(2, stride=[1] * (axes + 2))


def test_clipping():
    g = {("a",): jnp.array([3., 4.])}
    np.testing.assert_allclose(np.asarray(nn.clip_grad_norm(g, 1.0)["a",]), [0.6, 0.8], rtol=1e-4)
    assert bt.optim.clip_grad_value(g, 3.5)["a",].tolist() == [3, 3.5]


def test_files(tmp_path):
    a, b = Net(), Net()
    bt.save(tmp_path / "w.safetensors", a.states(bt.ParamState))
    bt.load(tmp_path / "w.safetensors", b.states(bt.ParamState))
    np.testing.assert_array_equal(np.asarray(a.out.weight.value["weight"]), np.asarray(b.out.weight.value["weight"]))
    with pytest.raises(ValueError, match="missing"):
        bt.load(tmp_path / "w.safetensors", nn.Linear(2, 2).states())
    with pytest.raises((ValueError, OSError)):
        bt.load(tmp_path / "nothing", b.states())


def test_a_layer_of_the_library_keeps_its_update_and_its_parts():
    with pytest.raises(TypeError, match="Other: update of the layer GRUCell cannot be replaced; write an nn.Module"):
        class Other(nn.GRUCell):
            def update(self, x):
                return x

    class Named(nn.GRUCell):
        def __init__(self, size):
            super().__init__(3, size)
            self.size = size

    assert nn.init_all_states(Named(2))(np.ones(3, "f")).shape == (2,)
    for part in (nn.Linear(2, 2), bt.ParamState(np.ones(2, "f"))):
        with pytest.raises(TypeError, match="Named: 'more' cannot be added to a layer"):
            Named(2).more = part


def test_settings_of_layers_are_attributes():
    with bt.environ.context(dt=1.0):
        linear, neuron, readout = nn.Linear(3, 4), nn.LIF((2, 3), tau=20.0), nn.LeakyRateReadout(4, 2)
    assert (linear.in_size, linear.out_size, linear.w_mask) == ((3,), (4,), None) and nn.GRUCell(3, 4).out_size == readout.in_size == (4,)
    assert neuron.in_size == neuron.out_size == neuron.varshape == (2, 3) and neuron.tau == 20
    assert nn.LIF(linear.out_size).varshape == (4,) and nn.Conv2d((8, 8, 3), 4, 3).out_size == (8, 8, 4)
    for layer, name in ((neuron, "spk_fun"), (linear, "varshape"), (linear, "units"), (nn.ReLU(), "in_size")):
        with pytest.raises(AttributeError, match=name):
            getattr(layer, name)
