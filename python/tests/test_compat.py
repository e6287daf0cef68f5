# SPDX-License-Identifier: Apache-2.0
"""Models written for the JAX package, through the names of `compat`."""
import copy
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pybraintrace
from pybraintrace.compat import brainpy, brainstate, braintools, braintrace, jax, jnp

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peer" / "examples.py"


def test_examples_in_the_style_of_the_package_learn():
    done = subprocess.run([sys.executable, "-m", "pybraintrace.compat", str(EXAMPLES), "--updates", "12"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-1000:]
    losses = json.loads(done.stdout.splitlines()[-1])
    assert len(losses) == 11
    for name, values in losses.items():
        assert values[-1] < 0.9 * values[0], name
    np.testing.assert_allclose(losses["delay, GRU, D_RTRL, one sample per lane"], losses["delay, GRU, D_RTRL"], rtol=1e-4)


class RNN(brainstate.nn.Module):
    def __init__(self, n_in, n_rec, n_out):
        super().__init__()
        self.rnn = braintrace.nn.ValinaRNNCell(in_size=n_in, out_size=n_rec, activation="tanh")
        self.out = braintrace.nn.Linear(n_rec, n_out)

    def update(self, x):
        return x >> self.rnn >> self.out


def test_lanes_as_the_package_writes_them():
    model = RNN(2, 3, 1)
    learner = braintrace.D_RTRL(model)

    @brainstate.transform.vmap_new_states(state_tag="new", axis_size=4)
    def init():
        brainstate.nn.init_all_states(model)
        learner.compile_graph(jnp.zeros(2))

    init()
    mapped = brainstate.nn.Vmap(learner, vmap_states="new")
    assert mapped(np.ones((4, 2), "f")).shape == (4, 1)
    plain = RNN(2, 3, 1)
    brainstate.nn.vmap_init_all_states(plain, axis_size=4, state_tag="new")
    assert brainstate.nn.Vmap(plain, vmap_states="new")(np.ones((4, 2), "f")).shape == (4, 1)


@pytest.mark.parametrize("in_lanes", [False, True])
def test_a_loop_written_by_hand_as_in_the_package(in_lanes):
    """A jitted step adds up gradients; another jitted function resets the states of every sample."""
    model = RNN(2, 3, 1)
    learner = braintrace.D_RTRL(model)
    if in_lanes:

        @brainstate.transform.vmap_new_states(state_tag="new", axis_size=4)
        def init():
            brainstate.nn.init_all_states(model)
            learner.compile_graph(jax.ShapeDtypeStruct((2,), jnp.float32))

        init()
        run = brainstate.nn.Vmap(learner, vmap_states="new")
    else:
        brainstate.nn.vmap_init_all_states(model, axis_size=4, state_tag="new")
        learner.compile_graph(jax.ShapeDtypeStruct((4, 2), jnp.float32))
        run = learner
    opt = braintools.optim.Adam(1e-2)
    opt.register_trainable_weights(model.states(brainstate.ParamState))

    @brainstate.transform.jit
    @brainstate.transform.vmap(in_states=run.states("new"), axis_size=4)
    def reset_state():
        brainstate.nn.reset_all_states(run)

    @brainstate.transform.jit
    def step(grads, x):
        now, loss = brainstate.transform.grad(lambda: (run(x) ** 2).mean(), opt.param_states.to_pytree(), return_value=True)()
        return jax.tree.map(lambda a, b: a + b, grads, now), loss

    def gradients():
        reset_state()
        grads = jax.tree.map(lambda a: jnp.zeros_like(a), opt.param_states.to_pytree_value())
        for t in range(3):
            grads, loss = step(grads, np.full((4, 2), t + 1.0, "f"))
        return grads

    states, first, second = model.states("new"), gradients(), gradients()
    assert first and first.keys() == opt.param_states.keys() == model.states(brainstate.ParamState).keys()
    assert all(s.value.shape == (4, 3) for s in states.values()) and states.keys() == run.states("new").keys()
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b), first, second)
    opt.update(brainstate.nn.clip_grad_norm(first, 1.0))
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(np.shape(a), np.shape(b)), first, gradients())
    with pytest.raises(LookupError, match="tag 'old'"):
        model.states("old")


def test_spiking_network_as_the_package_writes_it():
    class Snn(brainstate.nn.Module):
        def __init__(self, n_in, n_rec, n_out):
            super().__init__()
            self.neu = brainpy.state.LIF(n_rec, tau=20.0, V_th=1.0, V_reset=0.0, V_rest=0.0, R=1.0, spk_fun=braintools.surrogate.ReluGrad(), spk_reset="soft",
                                         V_initializer=braintools.init.ZeroInit())
            self.syn = brainpy.state.AlignPostProj(
                comm=braintrace.nn.Linear(n_in + n_rec, n_rec, w_init=braintools.init.KaimingNormal(scale=10.0), b_init=None),
                syn=brainpy.state.Expon.desc(n_rec, tau=10.0, g_initializer=braintools.init.ZeroInit()), out=brainpy.state.CUBA.desc(scale=1.0), post=self.neu)
            self.out = braintrace.nn.LeakyRateReadout(in_size=n_rec, out_size=n_out, tau=10.0)

        def update(self, spk):
            self.syn(jnp.concatenate([spk, self.neu.get_spike()], axis=-1))
            self.neu()
            return self.out(self.neu.get_spike())

    with brainstate.environ.context(dt=1.0):
        model = Snn(5, 8, 2)
        learner = braintrace.compile(model, "pp_prop", jnp.zeros((3, 5)), batch_size=3, decay_or_rank=0.99, vjp_method="multi-step")
        xs = (np.random.default_rng(0).random((6, 3, 5)) < 0.5).astype("f")
        out = learner(braintrace.MultiStepData(xs))
        assert out.shape == (6, 3, 2)
        grads = brainstate.transform.grad(lambda: (learner(braintrace.MultiStepData(xs)) ** 2).mean(), model.states(brainstate.ParamState))()
        assert len(grads) == 2


def test_names_of_the_package():
    assert braintrace.ParamDimVjpAlgorithm is braintrace.D_RTRL and braintrace.IODimVjpAlgorithm is braintrace.ES_D_RTRL and braintrace.DiagnosticLevel.WARNING.value == "warning"
    graph = braintrace.compile_etrace_graph(brainstate.nn.init_all_states(RNN(2, 3, 1)), jnp.zeros(2))
    assert graph.explain(kind=braintrace.DiagnosticKind.RELATION_INCLUDED)[0].kind == "relation_included"
    with pytest.raises(AttributeError, match="use register_op"):
        braintrace.register_primitive
    with pytest.raises(AttributeError, match="'nothing'"):
        braintrace.nothing


def test_the_executor_shows_the_jacobians_of_a_step():
    model = brainstate.nn.init_all_states(braintrace.nn.GRUCell(2, 3))
    executor = braintrace.ETraceVjpGraphExecutor(model)
    with pytest.raises(ValueError, match="compile_graph"):
        executor.graph
    executor.compile_graph(jnp.zeros(2))
    x, h = jnp.ones(2), model.h.value
    found = executor.solve_h2w_h2h_jacobian(x)
    assert model.h.value.tolist() == h.tolist() and found["Ds"][0].shape == (3, 1, 1) and found["dfs"][("Wz", "weight"), 0].shape == (3, 1) and len(found["xs"]) == len(executor.graph.hidden_param_op_relations)
    assert found["out"].tolist() == found["hidden_vals"]["h",].tolist() == executor(x).tolist() == model.h.value.tolist()
    assert issubclass(braintrace.ETraceGraphExecutor, pybraintrace.ETraceVjpGraphExecutor) and executor.is_compiled and executor.model is model and "Group 0" in executor.show_graph(verbose=False, return_msg=True)


def test_names_of_jax():
    assert jax.nn.one_hot(jnp.array([0, 2]), 3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert jax.tree.leaves({"a": 1, "b": [2]}) == [1, 2] and jax.default_backend() == "cpu" and len(jax.devices()) == 1
    with pybraintrace.backend_scope("cuda"):
        assert jax.default_backend() == "gpu"
    key = jax.random.PRNGKey(0)
    a, b = jax.random.split(key)
    assert jax.random.normal(a, (2,)).shape == (2,) and jax.random.uniform(b).shape == ()
    assert float(jax.grad(lambda x: x ** 2)(3.0)) == 6 and float(jax.value_and_grad(lambda x: x ** 2)(3.0)[1]) == 6
    assert float(jax.lax.cond(True, lambda x: x, lambda x: -x, 1.0)) == 1 and float(jax.jit(lambda x: jax.lax.stop_gradient(x))(1.0)) == 1
    struct = jax.ShapeDtypeStruct((2,), jnp.float32)
    assert jax.jit(lambda x: jax.pure_callback(lambda v: v * 2, struct, x))(np.ones(2, "f")).tolist() == [2, 2]
    assert jax.tree.leaves([1, (2,)], is_leaf=lambda v: isinstance(v, tuple)) == [1, (2,)] and jax.custom_vjp is pybraintrace.custom_vjp
    assert brainstate.util.DotDict(a=1).a == 1 and braintrace.__version__ == pybraintrace.__version__


def test_options_that_change_nothing_here():
    x = jnp.zeros(2)
    for learner in (braintrace.compile(RNN(2, 3, 1), "D_RTRL", x, fast_solve=False, chunked_trace=False), braintrace.compile(RNN(2, 3, 1), braintrace.pp_prop, x, decay_or_rank=0.9, fast_solve=False),
                    braintrace.D_RTRL(brainstate.nn.init_all_states(RNN(2, 3, 1)), fast_solve=False).compile_graph(jax.ShapeDtypeStruct((2,), "float32"))):
        assert isinstance(learner, pybraintrace.OnlineLearner) and learner(x).shape == (1,)
        assert pickle.loads(pickle.dumps(learner))(x).shape == (1,)
    with pytest.raises(TypeError, match="unknown option 'fast_solve'"):
        pybraintrace.compile(RNN(2, 3, 1), "D_RTRL", x, fast_solve=False)
    lanes = braintrace.compile(RNN(2, 3, 1), "D_RTRL", jnp.zeros((4, 2)), batch_size=4, vmap=True)
    assert isinstance(lanes.module, pybraintrace.OnlineLearner) and lanes(np.ones((4, 2), "f")).shape == (4, 1)


def test_lanes_of_a_learner_lie_along_the_given_axes():
    model, x = RNN(2, 3, 1), np.arange(8, dtype="f").reshape(4, 2)
    learner = braintrace.compile(model, "D_RTRL", jnp.zeros((4, 2)), batch_size=4, vmap=True).module
    want = learner(x)
    for axes, given in ((1, x.T), ((1,), x.T), (-1, x.T), (0, x)):
        brainstate.nn.reset_all_states(learner)
        assert (brainstate.nn.Vmap(learner, in_axes=axes, out_axes=1)(given) == want.T).all()
    for target, options in ((learner, {}), (brainstate.nn.Vmap(learner), {}), (learner, {"batch_size": 4})):
        brainstate.nn.reset_all_states(target, **options)
        assert (learner(x) == want).all() and model.rnn.h.value.shape == (4, 3)
    for axes in (None, (None,), (0, 0)):
        with pytest.raises(TypeError, match="Vmap: a learner has a lane per sample in each of its 1 inputs"):
            brainstate.nn.Vmap(learner, in_axes=axes)(x)


def test_options_of_transforms_that_change_nothing_here():
    xs = jnp.arange(4.0)
    for scan in (brainstate.transform.scan, jax.lax.scan):
        total, sums = scan(lambda c, x: (c + x, c + x), 0.0, xs, unroll=2)
        assert float(total) == 6 and sums.tolist() == [0, 1, 3, 6]
    assert brainstate.transform.for_loop(lambda x: 2 * x, xs, unroll=4).tolist() == [0, 2, 4, 6]
    for jit in (jax.jit, brainstate.transform.jit):
        assert jit(lambda x: x + 1, donate_argnums=(0,))(xs).tolist() == [1, 2, 3, 4]
        assert jit(static_argnames="n", static_argnums=None, donate_argnames=("x",))(lambda x, n: x * n)(xs, n=2).tolist() == [0, 2, 4, 6]
        with pytest.raises(TypeError, match="donate"):
            jit(lambda x: x, donate=(0,))


def test_dicts_with_attributes_are_trees():
    config = brainstate.util.DotDict(b=jnp.ones(2), a=[1.0])
    out = jax.jit(lambda d: brainstate.util.DotDict(c=d.b + d.a[0], a=d.a))(config)
    assert out.c.tolist() == [2, 2] and float(out.a[0]) == 1 and isinstance(jax.tree.map(lambda v: v, config), brainstate.util.DotDict)
    assert isinstance(brainpy.state.ExpIFRef(3, tau=5.0), pybraintrace.nn.ExpIFRef) and braintools.surrogate.ERF().kind == "erf"
    assert float(brainstate.nn.soft_sign(jnp.asarray(1.0))) == 0.5
    with pytest.raises(AttributeError, match="unknown surrogate 'Relu'"):
        braintools.surrogate.Relu


def test_initializers_have_the_parameters_of_the_package():
    init = braintools.init
    for args, low, high in (((0.0, 0.3), -2, 2), ((1.0, 0.3, -0.1, 0.9), -0.1, 0.9), ((5.0, 0.3, 4.9), 4.9, 8), ((5.0, 0.3, None, 5.1), 2, 5.1)):
        values = np.asarray(init.TruncatedNormal(*args)((4000,)))
        assert low <= values.min() and values.max() <= high
        for bound, found in ((low, values.min()), (high, values.max())):
            assert bound not in args or abs(bound - found) < 0.1
    assert abs(np.std(init.TruncatedNormal(0.0, 0.3)((4000,))) - 0.3) < 0.02  # without bounds
    values = np.asarray(init.LogNormal(2.0, 0.5)((20000,)))
    assert abs(values.mean() - 2) < 0.02 and abs(values.std() - 0.5) < 0.02
    with pytest.raises(ValueError, match="LogNormal: expected a positive mean, got 0"):
        init.LogNormal(0.0, 1.0)
    w = brainstate.ParamState(jnp.asarray(1.0))
    opt = braintools.optim.RMSprop()
    opt.register_trainable_weights({"w": w})
    opt.update({"w": 2.0})
    np.testing.assert_allclose(float(w.value), 1 - 0.01 * 2 / np.sqrt(0.01 * 4), rtol=1e-5)
    with pytest.raises(TypeError, match="RMSprop: .momentum."):
        braintools.optim.RMSprop(0.1, momentum=0.9)


def test_parameters_of_optimizers_are_those_of_the_package():
    optim, two, grads = braintools.optim, (0.5, 0.75), (2.0, -1.0)

    def moved(opt):
        w = brainstate.ParamState(jnp.asarray(1.0))
        opt.register_trainable_weights({"w": w})
        for g in grads:
            opt.update({"w": g})
        return float(w.value)

    native = pybraintrace.optim
    for made, want in ((optim.Adam(0.1, two), native.Adam(0.1, beta1=0.5, beta2=0.75)),
                       (optim.Adam(0.1, two, 0.25), native.Adam(0.1, beta1=0.25, beta2=0.75)),
                       (optim.AdamW(0.1, two, 1e-3, 0.5), native.AdamW(0.1, beta1=0.5, beta2=0.75, eps=1e-3, weight_decay=0.5)),
                       (optim.Lion(0.1, two, 0.5), native.Lion(0.1, beta1=0.5, beta2=0.75, weight_decay=0.5)),
                       (optim.Adagrad(0.1, 0.0, 0.5), native.Adagrad(0.1, weight_decay=0.5))):
        assert type(made) is type(want)
        assert moved(copy.deepcopy(made)) == moved(made) == moved(want) != 1
    with pytest.raises(TypeError, match="Adagrad: .lr_decay."):
        optim.Adagrad(0.1, 0.01)

    class Renamed(optim.Adam):
        pass

    assert issubclass(optim.Adam, optim.Optimizer) and type(Renamed(0.1)) is Renamed and moved(Renamed(0.1)) == moved(native.Adam(0.1))


def test_parameters_of_populations_have_the_order_of_the_package():
    state = brainpy.state
    for made, want in ((state.LIF(3, 2.0, 20.0, 5.0), pybraintrace.nn.LIF(3, R=2.0, tau=20.0, V_th=5.0)),
                       (state.ALIF(3, 2.0, 20.0, 50.0, name="alif"), pybraintrace.nn.ALIF(3, R=2.0, tau=20.0, tau_a=50.0)),
                       (state.LIFRef(3, 2.0, 20.0, 4.0, V_th=5.0), pybraintrace.nn.LIFRef(3, R=2.0, tau=20.0, tau_ref=4.0, V_th=5.0)),
                       (state.AdExIF(3), pybraintrace.nn.AdExIF(3, V_th=-55.0, spk_reset="soft")),
                       (state.AdExIFRef(3, 1.0, 10.0, 20.0, 2.0), pybraintrace.nn.AdExIFRef(3, R=1.0, tau_w=20.0, tau_ref=2.0, V_th=-55.0, spk_reset="soft")),
                       (state.QuaIF.desc(spk_reset="hard")(in_size=3), pybraintrace.nn.QuaIF(3))):
        assert repr(made) == repr(want)
        outs = []
        for neuron in (made, want):
            brainstate.nn.init_all_states(neuron)
            with brainstate.environ.context(dt=0.5):
                outs.append(brainstate.transform.for_loop(lambda x: (neuron(x), neuron.V.value), jnp.full((30, 3), 12.0)))
        assert all((a == b).all() for a, b in zip(*outs))
    assert brainstate.nn.init_all_states(state.Izhikevich(2)).u.value.tolist() == [0, 0]
    for wrong, message in ((lambda: state.LIF(3, 1.0, R=2.0), "LIF: R is given by position and by name"), (lambda: state.IF(3, *range(9)), "IF: expected at most 6 parameters")):
        with pytest.raises(TypeError, match=message):
            wrong()


class Volts:
    """A quantity as brainunit gives it."""
    unit = type("Volt", (), {"dim": type("Dim", (), {"_dims": (2, 1, -3, -1, 0, 0, 0)}), "magnitude": 1.0})

    def __init__(self, mantissa):
        self.mantissa = mantissa


def test_neurons_of_the_user():
    class Decaying(brainpy.state.Neuron):
        def __init__(self, size, tau=5.0, **kwargs):
            super().__init__(size, **kwargs)
            self.tau = braintools.init.param(tau, self.varshape)

        def init_state(self, batch_size=None, **kwargs):
            self.V = brainstate.HiddenState(braintools.init.param(braintools.init.ZeroInit(), self.varshape, batch_size))

        def update(self, x=Volts(0.002)):
            self.V.value = brainstate.nn.exp_euler_step(lambda v: (x - v) / self.tau, self.V.value, dt=1.0)
            return jax.nn.standardize(self.V.value)

        def get_spike(self, V=None):
            return self.spk_fun((self.V.value if V is None else V) - 1.0)

    neuron = brainstate.nn.init_all_states(Decaying((2,), spk_fun=braintools.surrogate.ReluGrad()))
    assert neuron.varshape == (2,) and neuron.spk_reset == "soft" and neuron(np.array([0.0, 10.0], "f")).shape == (2,)
    np.testing.assert_allclose(neuron.V.value, [0, 10 * (1 - np.exp(-0.2))], rtol=1e-5)
    assert neuron.get_spike().tolist() == [0, 1]
    brainstate.nn.init_all_states(neuron)
    neuron()
    np.testing.assert_allclose(neuron.V.value, [2 * (1 - np.exp(-0.2))] * 2, rtol=1e-5)  # 0.002 V are 2 mV


def test_rarer_names():
    w = np.random.default_rng(0).normal(2, 3, (4, 3)).astype("f")
    made = brainstate.nn.weight_standardization(w, gain=2.0)
    np.testing.assert_allclose(made, 2 * (w - w.mean(0)) / np.sqrt(4 * w.var(0)), rtol=1e-4, atol=1e-5)
    drawn = np.asarray(brainstate.random.beta(2.0, 6.0, size=(4000,)))
    assert 0 < drawn.min() < drawn.max() < 1 and abs(drawn.mean() - 0.25) < 0.02
    (loss, aux), grads = jax.value_and_grad(lambda x: (x.sum(), x), has_aux=True)(np.ones(2, "f"))
    assert float(loss) == 2 and aux.tolist() == grads.tolist() == [1, 1]
    array = np.ones(2, "f")
    there = jax.device_put({"x": array})["x"]
    array[:] = 7
    assert there.tolist() == [1, 1]


def test_keys_as_streams():
    def trial(key):
        rng = brainstate.random.RandomState(key)
        return rng.rand(), rng.random(3), rng.randint(0, 5, (2,))

    keys = brainstate.random.split_key(4)
    a, b, c = jax.jit(jax.vmap(trial))(keys)
    assert a.shape == (4,) and b.shape == (4, 3) and c.shape == (4, 2) and len(set(a.tolist())) == 4 and float(trial(keys[1])[0]) == float(a[1])
    x = jax.lax.dynamic_update_slice(jnp.zeros((3, 4)), jnp.ones((2, 2)), (1, jnp.where(jnp.array(True), 2, 0)))
    assert x.tolist() == [[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]] and jnp.where(jnp.array([True, False]), 2, 0).dtype == np.int32
    brainstate.random.seed()
    brainstate.util.clear_buffer_memory()
    settings = brainstate.util.DotDict(a=1).copy()
    settings.a = 2
    assert settings == {"a": 2} and issubclass(brainstate.nn.RNNCell, pybraintrace.nn.Module)


def test_rarer_functions_of_jax():
    branches = [lambda x: x + 1, lambda x: 2 * x, lambda x: x**3, lambda x: -x]
    for switch in (jax.lax.switch, jax.jit(lambda i, x: jax.lax.switch(i, branches, x), static_argnums=())):
        results = [float(switch(i, branches, 5.0) if switch is jax.lax.switch else switch(i, 5.0)) for i in range(-1, 5)]
        assert results == [6.0, 6.0, 10.0, 125.0, -5.0, -5.0]
    assert float(jax.grad(lambda x: jax.lax.switch(jnp.asarray(2), branches, x))(5.0)) == 75.0
    ifelse = brainstate.transform.jit(lambda x: brainstate.transform.ifelse([x > 2, x > 1], branches[:3], x))
    assert [float(ifelse(x)) for x in (3.0, 1.5, 1.0)] == [4.0, 3.0, 1.0]
    x = np.arange(12.0, dtype="f").reshape(3, 4)
    for start in ((1, 1), (2, 3), (-1, 0)):  # as jax.lax, clipped to where the block fits
        row, column = min(max(start[0], 0), 1), min(max(start[1], 0), 2)
        block = jax.jit(lambda i, j: jax.lax.dynamic_slice(jnp.asarray(x), (i, j), (2, 2)))(*start)
        assert block.tolist() == x[row:row + 2, column:column + 2].tolist()
    a, b = x[:, :2], x[:, 2:]
    np.testing.assert_allclose(jax.nn.glu(x), a / (1 + np.exp(-b)), rtol=1e-5)
    np.testing.assert_allclose(jax.nn.mish(x - 5), (x - 5) * np.tanh(np.log1p(np.exp(x - 5))), rtol=1e-5)
    np.testing.assert_allclose(jax.nn.soft_sign(x - 5), (x - 5) / (1 + abs(x - 5)), rtol=1e-6)
    np.testing.assert_allclose(jax.nn.squareplus(x - 5), ((x - 5) + np.sqrt((x - 5) ** 2 + 4)) / 2, rtol=1e-5)
    np.testing.assert_allclose(jax.nn.hard_swish(x - 5), (x - 5) * np.clip((x - 5) / 6 + 0.5, 0, 1), rtol=1e-5)
    key = jax.random.PRNGKey(0)
    for name in ("exponential", "gumbel", "laplace", "logistic"):
        assert getattr(jax.random, name)(key, (3,)).tolist() == getattr(pybraintrace.random, name)(size=3, key=0).tolist()
    assert jax.random.choice(key, 5, (2,), replace=False).shape == jax.random.gamma(key, 2.0, (2,)).shape == jax.random.truncated_normal(key, -1, 1, (2,)).shape == (2,)
    assert sorted(brainstate.random.shuffle(4).tolist()) == [0, 1, 2, 3]


def test_a_script_finds_what_lies_beside_it(tmp_path):
    (tmp_path / "beside.py").write_text("number = 3\n")
    (tmp_path / "script.py").write_text("import sys, beside, braintrace\nprint(beside.number, sys.argv[1:], braintrace.__name__)\n")
    command = [sys.executable, "-m", "pybraintrace.compat"]
    done = subprocess.run([*command, str(tmp_path / "script.py"), "--fast"], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("3 ['--fast'] "), done.stderr
    none = subprocess.run([*command, str(tmp_path / "none.py")], capture_output=True, text=True, timeout=120)
    assert none.returncode == 1 and none.stderr.endswith("none.py: there is no such script\n"), none.stderr


def test_parts_that_a_script_imports(tmp_path):
    (tmp_path / "script.py").write_text("""
import jax.numpy as jnp, brainstate.util, braintools.visualize, braintools.optim as optim
from brainstate.typing import Size
from brainstate.util import DotDict
from braintools.visualize import get_figure
from jax import lax, nn, random, tree_util
from jax.numpy.linalg import norm
from brainpy.state import LIF
print(DotDict(n=float(norm(jnp.ones(4)))).n, optim.SGD(0.1))
""")
    done = subprocess.run([sys.executable, "-m", "pybraintrace.compat", str(tmp_path / "script.py")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "2.0 SGD(0.1)\n", done.stderr


def test_units_inside_a_script(tmp_path):
    pytest.importorskip("saiunit")
    script = tmp_path / "script.py"
    script.write_text("""
import brainstate, brainunit as u, jax, jax.numpy as jnp
tau = brainstate.random.uniform(5. * u.ms, 6. * u.ms, 3)
assert 5 <= float(tau.min()) <= float(tau.max()) <= 6
print(jax.jit(lambda x: u.math.asarray(x > 1, dtype=int).sum() + u.math.concatenate([x, x]).sum())(jnp.ones(2)), u.math.where(True, 3, 4) * u.ms)
""")
    done = subprocess.run([sys.executable, "-m", "pybraintrace.compat", str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith("4.0"), done.stdout + done.stderr[-1000:]


def test_quantities_of_brainunit():
    u = pytest.importorskip("saiunit")  # which brainunit is too
    with brainstate.environ.context(dt=0.5 * u.ms):
        lif = brainpy.state.LIF(2, tau=20 * u.ms, V_th=15 * u.mV, V_rest=-0.06 * u.volt)
        assert "20" in repr(lif)
    assert pybraintrace.units.magnitude(2 * u.second) == pytest.approx(2000) and pybraintrace.units.magnitude(3 * u.ohm) == pytest.approx(3)


def test_layers_take_their_size_from_the_layer_before():
    nn, u = brainstate.nn, {"tau": 2.0, "V_th": 1.0, "R": 1.0}
    conv = nn.Sequential(braintrace.nn.Conv2d((8, 6, 2), 3, kernel_size=3, padding=1), nn.LayerNorm.desc(use_fast_variance=False), brainpy.state.IF.desc(**u),
                         nn.MaxPool2d.desc(kernel_size=2, stride=2))
    flat = nn.Sequential(nn.MaxPool2d(kernel_size=2, stride=2, in_size=conv.out_size), nn.Flatten.desc())
    dense = nn.Sequential(braintrace.nn.Linear(flat.out_size, 5), brainpy.state.IF.desc(**u))
    assert (conv.out_size, flat.out_size, dense.out_size) == ((4, 3, 3), (6,), (5,))
    model = conv >> flat >> dense
    nn.init_all_states(model)
    with brainstate.environ.context(dt=1.0):
        assert model(np.ones((8, 6, 2), "f")).shape == (5,)
    with pytest.raises(ValueError, match="MaxPool2d: the input size is unknown; pass in_size"):
        nn.Sequential(nn.MaxPool2d(2), nn.Flatten.desc())


def test_a_synapse_of_conductances_gives_a_current_at_one_volt():
    def potential(out):
        neuron = brainpy.state.LIF(1, R=1.0, tau=10.0, V_th=1e9)
        project = brainpy.state.CurrentProj(comm=braintrace.nn.Linear(1, 1, w_init=1.0, b_init=None), out=out, post=neuron)
        brainstate.nn.init_all_states(neuron)
        with brainstate.environ.context(dt=1.0):
            project(np.full(1, 0.001, "f"))
            neuron()
        return float(neuron.V.value[0])

    assert potential(brainpy.state.CUBA()) == potential(brainpy.state.CUBA.desc()) == pytest.approx(1 - np.exp(-0.1), rel=1e-5)  # 1 mS · 1 V = 1 mA
    assert potential(brainpy.state.CUBA(scale=1.0)) == pytest.approx(0.001 * (1 - np.exp(-0.1)), rel=1e-5)


@pytest.mark.parametrize("rule", ["D_RTRL", braintrace.D_RTRL])
def test_a_multi_step_learner_runs_step_by_step_unless_it_is_given_windows(rule):
    model, xs = braintrace.nn.GRUCell(2, 3), np.random.default_rng(0).normal(size=(6, 2)).astype("f")
    weights = model.states(brainstate.ParamState)

    def fresh():
        return braintrace.compile(model, rule, xs[0], vjp_method="multi-step")

    def swept(**options):
        learner = fresh()
        return learner.etrace_grad(xs, step_fn=lambda x: (learner(x) ** 2).sum(), reduction="sum", **options)[0]

    learner = fresh()
    calls = [brainstate.transform.grad(lambda: (learner(x) ** 2).sum(), weights)() for x in xs]
    norm = lambda a, b: max(float(abs(x - y).max()) for p in weights for x, y in zip(jax.tree_util.tree_leaves(a[p]), jax.tree_util.tree_leaves(b[p])))
    total = {p: jax.tree_util.tree_map(lambda *leaves: sum(leaves), *(g[p] for g in calls)) for p in weights}
    assert norm(swept(), total) < 1e-5 < 1e-3 < norm(swept(chunk_size=6), total)


def test_every_path_of_one_step_counts_once():
    """The package counts twice what reaches the loss through a second state of the same step."""
    done = subprocess.run([sys.executable, "-m", "pybraintrace.compat", str(EXAMPLES.parent / "same_step.py")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-1000:]
    assert {r for of in json.loads(done.stdout.splitlines()[-1]).values() for r in of.values()} == {1.0}
