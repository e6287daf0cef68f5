# SPDX-License-Identifier: Apache-2.0
"""Learning rules: gradients of steps, windows and sequences."""
import copy
import json
import pickle

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Net(nn.Module):
    def __init__(self, n_in=3, n_rec=4, n_out=2):
        super().__init__()
        self.rnn = nn.ValinaRNNCell(n_in, n_rec, activation="tanh")
        self.out = nn.Linear(n_rec, n_out)

    def update(self, x):
        return self.out(self.rnn(x))


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("f")


NAMES = [name for name, *_ in bt._core.algorithms()]


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_learns_from_a_step(name):
    model = Net()
    options = {"modulator": 1.0} if name == "ThreeFactor" else {}
    learner = bt.compile(model, name, jnp.zeros(3), **options)
    if name == "DNI":
        learner.attach_synthesizer(scale=0.1)
    xs = numbers((4, 3))
    grads, losses = learner.etrace_grad(xs, step_fn=lambda x: (learner(x) ** 2).mean())
    assert losses.shape == (4,) and set(grads) == set(model.states(bt.ParamState))
    assert all(bool(jnp.isfinite(v).all()) for g in grads.values() for v in g.values())
    assert getattr(bt, name).__doc__ and isinstance(getattr(bt, name)(Net()), bt.OnlineLearner)


def test_bptt_is_the_gradient_of_the_unrolled_network():
    model = nn.init_all_states(Net())
    xs = numbers((5, 3))

    def unrolled():
        nn.reset_all_states(model)
        return bt.for_loop(lambda x: (model(x) ** 2).mean(), xs).sum()

    exact = bt.grad(unrolled, model.states(bt.ParamState))()
    learner = bt.BPTT(model)
    learner.compile_graph(jnp.zeros(3))
    nn.reset_all_states(model)
    grads, losses = learner.etrace_grad(xs, step_fn=lambda x: (learner(x) ** 2).mean(), reduction="sum", chunk_size=5)
    np.testing.assert_allclose(float(losses.sum()), float(unrolled()), rtol=1e-5)
    for path, g in exact.items():
        for leaf, value in g.items():
            np.testing.assert_allclose(np.asarray(grads[path][leaf]), np.asarray(value), rtol=1e-3, atol=1e-6)


def test_a_jitted_step_is_the_step():
    def run(jit):
        bt.random.seed(1)
        model = Net()
        learner = bt.compile(model, "D_RTRL", jnp.zeros(3))
        opt = bt.optim.Adam(1e-2)
        opt.register_trainable_weights(model.states(bt.ParamState))

        def step(x, y):
            grads, loss = bt.grad(lambda: bt.metric.mse(learner(x), y), model.states(bt.ParamState), return_value=True)()
            opt.update(grads)
            return loss

        step = bt.jit(step) if jit else step
        return [float(step(x, np.ones(2, "f"))) for x in numbers((6, 3))], model

    (a, m), (b, n) = run(True), run(False)
    np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(m.rnn.W.weight.value["weight"]), np.asarray(n.rnn.W.weight.value["weight"]), rtol=1e-5)


def test_windows_masks_and_aux():
    learner = bt.compile(Net(), "D_RTRL", jnp.zeros(3))
    xs, ys = numbers((6, 3)), numbers((6, 2), 1)
    step = lambda x, y: (bt.metric.mse(learner(x), y), {"x": x})
    grads, losses, aux = learner.etrace_grad(xs, ys, step_fn=step, has_aux=True, mask=np.array([0, 0, 1, 1, 1, 1], "f"), chunk_size=3, loss_output="masked")
    assert losses[:2].tolist() == [0, 0] and aux["x"].shape == (6, 3)
    out = learner(bt.MultiStepData(xs))
    assert out.shape == (6, 2)
    assert learner.etrace_evolve(xs).shape == (6, 2) and learner.etrace_evolve(xs, return_outputs=False) is None
    with pytest.raises(ValueError):
        learner.etrace_grad(xs, ys, step_fn=step, has_aux=True, reduction="none")
    with pytest.raises(TypeError):
        learner.etrace_grad(xs)


def test_graph_objects():
    learner = bt.D_RTRL(nn.init_all_states(Net()))
    assert not learner.is_compiled
    with pytest.raises(ValueError, match="compile_graph"):
        learner.graph
    assert learner.compile_graph(jnp.zeros(3)) is learner
    graph = learner.graph
    assert isinstance(graph, bt.ETraceGraph) and list(graph.dict()) == ["module_info", "hidden_groups", "hid_path_to_group", "hidden_param_op_relations",
                                                                       "hidden_perturb", "diagnostics"]
    info, groups, by_path, relations, perturb, diagnostics = graph
    assert len(graph) == 6 and graph._fields == tuple(graph.dict()) and list(graph._asdict()) == list(graph.dict())
    assert groups == graph.hidden_groups == graph[1] and [r.weight_path for r in graph[3]] == [r.weight_path for r in relations] and len(graph[-2:]) == 2
    assert by_path == graph.hid_path_to_group and info.hidden_paths == graph[0].hidden_paths and len(diagnostics) == len(graph.diagnostics) and perturb is not None
    with pytest.raises(IndexError):
        graph[6]
    (group,), (relation,) = graph.hidden_groups, graph.hidden_param_op_relations
    assert group in relation.hidden_groups and graph.hid_path_to_group["rnn", "h"] == group and len({group, *relation.hidden_groups}) == 1
    assert group != bt.compile_etrace_graph(nn.init_all_states(Net()), jnp.zeros(3)).hidden_groups[0] and group != 0
    assert group.hidden_paths == [("rnn", "h")] and group.varshape == (4,) and group.num_state == 1 and group.index == 0
    assert relation.weight_path == ("rnn", "W", "weight") and [g.index for g in relation.hidden_groups] == [0] and relation.primitive == "etp_mv"
    assert graph.hid_path_to_group["rnn", "h"].index == 0
    assert all(r.weight_path == ("out", "weight") for r in graph.explain(weight_path=("out", "weight"))) and graph.explain(kind="relation_included")
    with pytest.raises(ValueError):
        graph.explain(kind="nothing")
    output, hidden, others = graph.call_hidden_perturb(np.zeros(3, "f"), [np.ones(4, "f")])
    assert output.shape == (2,) and hidden["rnn", "h"].tolist() == [1, 1, 1, 1]
    assert "<iframe" in graph._repr_html_() and graph._repr_svg_().lstrip().startswith("<svg") and "digraph" in graph.to_dot() and graph.to_json()
    report = learner.report
    assert report.counts["hidden_groups"] == 1 and report.excluded_weights[0][0] == ("out", "weight") and "Group 0" in report.to_str()
    assert learner.show_graph(verbose=False, return_msg=True).count("Group 0") == 1
    info = bt.extract_module_info(nn.init_all_states(Net()), jnp.zeros(3))
    assert info.jaxpr_call(np.zeros(3, "f"))[0].shape == (2,)
    cell = nn.init_all_states(nn.LSTMCell(3, 4))
    assert bt.compile_etrace_graph(cell, jnp.zeros(3)).call_hidden_perturb((np.ones(3, "f"),), [np.zeros(4, "f")] * 2)[0].tolist() == cell(np.ones(3, "f")).tolist()
    assert info.hidden_paths == [("rnn", "h")] and bt.find_hidden_groups_from_minfo(info)[0].varshape == (4,)
    assert bt.find_hidden_param_op_relations_from_minfo(info, bt.find_hidden_groups_from_minfo(info))[0].primitive == "etp_mv"
    assert bt.find_hidden_groups_from_module(nn.init_all_states(Net()), jnp.zeros(3)) and bt.find_hidden_param_op_relations_from_module(nn.init_all_states(Net()), jnp.zeros(3))
    assert bt.add_hidden_perturbation_in_module(nn.init_all_states(Net()), jnp.zeros(3)).hidden_paths == [("rnn", "h")]
    assert bt.add_hidden_perturbation_from_minfo(info).init_perturb_data()[0].shape == (4,)


def test_memory_of_learners():
    learner = bt.compile(Net(), "D_RTRL", jnp.zeros(3))
    x = np.ones(3, "f")
    learner(x), learner(x)
    assert learner.running_index == 2 and learner.get_etrace_of(("rnn", "W", "weight")) and learner.get_etrace_of(learner.model.rnn.W.weight)
    memory = learner.memory()
    twin = pickle.loads(pickle.dumps(learner))
    copied = copy.deepcopy(learner)
    np.testing.assert_allclose(np.asarray(learner(x)), np.asarray(twin(x)), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(learner.memory()[0]), np.asarray(twin.memory()[0]), rtol=1e-6)
    copied(x)
    np.testing.assert_allclose(np.asarray(learner.memory()[0]), np.asarray(copied.memory()[0]), rtol=1e-6)
    learner.set_memory(memory)
    learner.reset_state()
    assert learner.running_index == 0 and float(sum(jnp.abs(m).sum() for m in learner.memory())) == 0
    learner.reset()
    assert list(learner.param_states) and list(learner.hidden_states) == [("rnn", "h")] and learner.rule == "D_RTRL" and learner.vjp_method == "single-step"


def test_rules_as_points():
    config = bt.ETraceConfig(recurrence_scope="coupled")
    assert config == bt.ETraceConfig(recurrence_scope="coupled") and hash(config) == hash(bt.ETraceConfig(recurrence_scope="coupled")) and "coupled" in repr(config)
    assert bt.compile(Net(), config, jnp.zeros(3))(np.ones(3, "f")).shape == (2,)
    assert bt.compile(Net(), bt.EProp, jnp.zeros(3), kappa_filter_decay=0.5).rule == "EProp"


def test_lanes_that_a_reset_removed_are_an_error():
    model = Net()
    learner = bt.compile(model, "D_RTRL", np.ones((4, 3), "f"), batch_size=4, vmap=True)  # as many lanes as units
    want = learner(np.ones((4, 3), "f"))
    nn.reset_all_states(model)
    for call in (lambda: learner(np.ones((4, 3), "f")), lambda: bt.jit(learner)(np.ones((4, 3), "f")),
                 lambda: learner.etrace_grad(np.ones((2, 4, 3), "f"), step_fn=lambda x: learner(x).sum())):
        with pytest.raises(bt.StateError, match=r"state 'rnn.h' is f32\[4\], but with one sample per lane it was f32\[4,4\].\n  Reset it with reset\(\) of the learner"):
            call()
    for reset in (learner.reset, lambda: (nn.reset_all_states(model, 4), learner.reset_state())):
        reset()
        assert (learner(np.ones((4, 3), "f")) == want).all()


def test_lanes():
    xs = numbers((5, 3))
    bt.random.seed(2)
    one = bt.compile(Net(), "D_RTRL", xs, batch_size=5, vmap=True)
    bt.random.seed(2)
    batched = bt.compile(Net(), "D_RTRL", xs, batch_size=5)
    np.testing.assert_allclose(np.asarray(one(xs)), np.asarray(batched(xs)), rtol=1e-5)
    one.reset(), batched.reset()
    sequence = numbers((4, 5, 3))
    grads = [learner.etrace_grad(sequence, step_fn=lambda x: (learner(x) ** 2).mean(), reduction="sum")[0] for learner in (one, batched)]
    for a, b in zip(bt.tree.leaves(grads[0]), bt.tree.leaves(grads[1])):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-5)
    one(xs)
    twins = pickle.loads(pickle.dumps(one)), copy.deepcopy(one)
    expected, memory = one(2 * xs), one.memory()
    for twin in twins:
        np.testing.assert_allclose(np.asarray(twin(2 * xs)), np.asarray(expected), rtol=1e-6)
        np.testing.assert_allclose(np.asarray(twin.memory()[0]), np.asarray(memory[0]), rtol=1e-6)
        twin.reset()  # to the first values of one sample, in every lane
        assert twin(xs).shape == (5, 2)


def product_of_your_own(name, scale, **rules):
    rules = {"coefficient": lambda call, x, weight: scale * x[..., None], "spread": lambda call, per_y: jnp.expand_dims(per_y, call.y_ndim - 1), **rules}
    return bt.register_op(name, lambda x, weight: scale * (x @ weight), weights=["weight"], fold=lambda call, on_trace, x, weight: on_trace.sum(0) if x.ndim == 2 else on_trace,
                          x_ndim=1, samples=[((3,), (3, 2)), ((4, 3), (3, 2))], **rules)


class Recurrent(nn.Module):
    def __init__(self, product, r):
        super().__init__()
        self.product, self.W, self.R, self.h = product, bt.ParamState(jnp.full((2, 3), 0.1)), bt.ParamState(jnp.full((3, 3), r)), bt.HiddenState(jnp.full((3,), 0.5))

    def update(self, x):
        self.h.value = jnp.tanh(bt.matmul(x, self.W.value) + self.product(self.h.value, self.R.value))
        return self.h.value


def test_trainable_operations_of_your_own():
    twice = product_of_your_own("twice", 2.0)
    twice.check()
    assert isinstance(twice, bt.Operation) and twice.name == "twice" and repr(twice) == "Operation('twice')"
    models = Recurrent(twice, 0.2), Recurrent(bt.matmul, 0.4)  # 0.4 = 2 · 0.2
    learners = [bt.compile(m, "D_RTRL", jnp.zeros(2)) for m in models]
    assert "twice" in learners[0].show_graph(verbose=False, return_msg=True)
    steps = [bt.jit(bt.grad(lambda x, run=run: (run(x) ** 2).sum(), m.states(bt.ParamState))) for run, m in zip(learners, models)]
    for t in range(3):
        own, plain = (step(np.full(2, 1 - t, "f")) for step in steps)
        np.testing.assert_allclose(own["W",], plain["W",], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(own["R",], 2 * plain["R",], rtol=1e-5, atol=1e-7)
    lanes = bt.compile(Recurrent(twice, 0.2), "D_RTRL", np.ones((4, 2), "f"), batch_size=4, vmap=True)
    assert lanes(np.ones((4, 2), "f")).shape == (4, 3) and any("twice" in r.primitive for r in lanes.graph.hidden_param_op_relations)


def test_rules_see_the_use_of_an_operation():
    seen = []
    op = product_of_your_own("watched", 1.0, spread=lambda call, per_y: (seen.append(call), jnp.expand_dims(per_y, call.y_ndim - 1))[1])
    op.check()
    assert all(isinstance(c, bt.OpCall) and c.key == "weight" for c in seen) and {c.shapes for c in seen} >= {((3,), (3, 2)), ((4, 3), (3, 2))}
    assert {c.y_shape for c in seen} >= {(2,), (4, 2)}


def test_plain_operations_of_your_own():
    square_plus = bt.register_op("square_plus", lambda x: x * x + 3)
    assert float(bt.grad(lambda x: square_plus(x))(2.0)) == 4 and bt.vmap(square_plus)(np.arange(3.0, dtype="f")).tolist() == [3, 4, 7]

    def broken(x):
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        bt.register_op("broken", broken)(1.0)
    with pytest.raises(ValueError, match="may only move values"):
        product_of_your_own("factor_in_spread", 2.0, coefficient=lambda call, x, weight: x[..., None], spread=lambda call, per_y: 2 * jnp.expand_dims(per_y, call.y_ndim - 1)).check()
    for f, error, words in ((lambda: bt.register_op("a b", lambda x: x), ValueError, "cannot be the name"), (lambda: bt.register_op("matmul", lambda x: x), ValueError, "exists"),
                            (lambda: bt.register_op("bad", lambda x: x, weights=["x"]), TypeError, "lacks coefficient, spread, fold"),
                            (lambda: product_of_your_own("bad", 1.0, x="nothing"), ValueError, "no operand 'nothing'"),
                            (lambda: bt.register_op("bad", lambda x: x, fold=lambda call, t: t), TypeError, "no weights")):
        with pytest.raises(error, match=words):
            f()


def test_a_cell_of_a_notebook_runs_again():
    def cell(factor):
        op = bt.register_op("scaled_again", lambda x: factor * x)
        return op, bt.jit(lambda x: op(x))

    (_, before), (after, _) = cell(2.0), cell(3.0)
    assert float(after(1.0)) == 3 and float(bt.jit(after)(1.0)) == 3 and float(before(1.0)) == 2
    with pytest.raises(ValueError, match="cannot be the name|exists already"):
        bt.register_op("tanh", lambda x: x)
    assert float(jnp.tanh(0.0)) == 0


def test_kinds_of_objects_and_errors():
    learner = bt.compile(Net(), "D_RTRL", bt.SingleStepData(jnp.zeros(3)))
    info = bt.extract_module_info(nn.init_all_states(Net()), jnp.zeros(3))
    assert isinstance(info, bt.ModuleInfo) and isinstance(bt.add_hidden_perturbation_from_minfo(info), bt.HiddenPerturbation)
    assert isinstance(learner.graph.hidden_groups[0], bt.HiddenGroup) and isinstance(learner.graph.hidden_param_op_relations[0], bt.HiddenParamOpRelation)
    assert isinstance(learner.report, bt.CompilationReport) and all(isinstance(r, bt.CompilationRecord) for r in learner.report.diagnostics)
    for f, error in ((lambda: bt.matmul(jnp.ones(2), jnp.ones((3, 4))), bt.ShapeError),
                     (lambda: bt.load("no_such_file.safetensors", {}), bt.FileError), (lambda: Net().rnn.h.value, bt.StateError), (lambda: bt.nn.one_hot(jnp.ones(2), 3), bt.DTypeError)):
        with pytest.raises(error):
            f()
    assert issubclass(bt.InternalError, RuntimeError) and issubclass(bt.OutOfRangeError, IndexError)
    assert "D_RTRL" in bt.list_of_algorithms() and bt.default_backend() in ("reference", "cpu") and bt.checkpoint(abs)(-1) == 1


@pytest.mark.parametrize("name", ["three_factor", "ostl_recurrent", "ostl_feedforward"])
def test_other_names_of_rules(name):
    assert issubclass(getattr(bt, name), bt.OnlineLearner) and getattr(bt.algorithms, name) is getattr(bt, name)


def test_messages_are_those_of_python():
    with pytest.raises(bt.StateError) as caught:
        Net().rnn.h.value
    with pytest.raises(ValueError) as drawn:
        bt.random.randint(3, 1)
    for error in (caught, drawn):
        assert "::" not in str(error.value) and "{." not in str(error.value)


def test_bad_rules_and_models():
    for f, error in ((lambda: bt.compile(Net(), "Nothing", jnp.zeros(3)), ValueError), (lambda: bt.D_RTRL(3), TypeError), (lambda: bt.D_RTRL(Net(), nothing=1), TypeError),
                     (lambda: bt.compile(Net(), "D_RTRL"), TypeError), (lambda: bt.compile(3, "D_RTRL", jnp.zeros(3)), TypeError),
                     (lambda: bt.compile(Net(), "D_RTRL", jnp.zeros(7)), ValueError), (lambda: bt.D_RTRL(Net(), kappa_filter_decay=0.5), ValueError),
                     (lambda: bt.ETraceConfig(nothing=1), ValueError), (lambda: bt.D_RTRL(Net())(np.ones(3, "f")), ValueError),
                     (lambda: bt.compile(nn.Linear(3, 2), "D_RTRL", jnp.zeros(3)), bt.CompilationError)):
        with pytest.raises(error):
            f()
    with pytest.raises(bt.CompilationError) as caught:
        bt.compile(nn.Linear(3, 2), "D_RTRL", jnp.zeros(3))
    assert isinstance(caught.value.diagnostics, tuple)


def test_measures_and_export():
    model = Net()
    report = bt.fidelity(model, jnp.zeros(3), steps=4, rules=["D_RTRL", "BPTT"], windows=[1, 4])
    assert {r["rule"] for r in report.rules} == {"D_RTRL", "BPTT"} and "cos" in report.table() and "<svg" in report.to_svg()
    advice = bt.advise(model, jnp.zeros(3), length=20, rules=["D_RTRL", "BPTT"])
    assert advice.recommended in ("D_RTRL", "BPTT") and advice.reason and all(rule in advice.table() for rule in ("D_RTRL", "BPTT")) and json.loads(advice.to_json())
    with pytest.raises(ValueError):
        bt.advise(model, jnp.zeros(3), rules=["Nothing"])
    files = bt.export_c(model, jnp.zeros(3), rule="D_RTRL", name="net")
    assert "model.h" in " ".join(files) or any(f.endswith(".h") for f in files)


def test_training_by_configuration(tmp_path):
    config = {"model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 6, "n_rec": 8}, {"name": "out", "type": "linear", "n_in": 8, "n_out": 6}]},
              "rule": "D_RTRL", "task": {"type": "copy", "lag": 2, "count": 2, "symbols": 4}, "optimizer": {"type": "adam", "lr": 0.01}, "steps": 2, "batch": 2}
    trainer = bt.Trainer(config)
    heard = []
    assert trainer.run(callback=lambda what, step, numbers: heard.append((what, step))) == "finished"
    assert ("step", 2) in heard and trainer.updates == 2
    with pytest.raises(ValueError):
        bt.Trainer({"nothing": 1})
    assert bt.build_model('{"type": "gru", "n_in": 2, "n_rec": 3}').states()
    assert "gru" in bt.builtin_models()


def test_a_second_result_of_a_step_is_declared():
    learner, xs = bt.compile(bt.nn.GRUCell(2, 3), "D_RTRL", np.zeros(2, "f")), np.ones((4, 2), "f")
    with pytest.raises(TypeError, match="step_fn must return a loss, got a tuple; set has_aux"):
        learner.etrace_grad(xs, step_fn=lambda x: (learner(x).sum(), x))
    with pytest.raises(TypeError, match=r"step_fn must return \(loss, aux\)"):
        learner.etrace_grad(xs, step_fn=lambda x: learner(x).sum(), has_aux=True)
