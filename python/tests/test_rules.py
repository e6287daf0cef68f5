# SPDX-License-Identifier: Apache-2.0
"""Custom learning rules: named points, and equations in Python."""
import copy
import pickle

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
XS = np.random.default_rng(0).normal(size=(5, 3)).astype("f")


class Net(nn.Module):
    def __init__(self, cell=nn.GRUCell):
        super().__init__()
        self.rnn, self.out = cell(3, 4), nn.Linear(4, 2)

    def update(self, x):
        return self.out(self.rnn(x))


class MyDRTRL(bt.LearningRule):
    """D-RTRL, written in Python."""

    def advance(self, site, trace):  # ε_t = D ε_{t-1} + D_f ⊗ ∂y/∂w
        return site.propagate(trace) + site.instant

    def gradient(self, site, before, after):  # (Dᵀ L + O) · ε_{t-1}
        return site.contract(site.credit_before, before)


class Leaky(bt.LearningRule):
    """A trace that leaks."""

    def __init__(self, leak):
        self.leak = leak

    def advance(self, site, trace):
        return self.leak * trace + site.instant

    def gradient(self, site, before, after):
        return site.contract(self.leak * site.L, before)


class MyEProp(bt.LearningRule):
    """A filtered trace: two tensors for each weight."""

    def memory(self, site):
        return {"trace": site.shape, "filter": site.shape}

    def advance(self, site, memory):  # ē_t = κ ē_{t-1} + ε_t
        trace = site.propagate(memory["trace"]) + site.instant
        return {"trace": trace, "filter": 0.5 * memory["filter"] + trace}

    def gradient(self, site, before, after):  # L · ē_t − L · D_f ⊗ ∂y/∂w
        return site.contract(site.L, after["filter"] - site.instant)


def gradients(rule, cell=nn.GRUCell, batch=None, lanes=False):
    """Those of five steps, one by one."""
    bt.random.seed(3)
    model = Net(cell)
    xs = XS if batch is None else np.stack([XS * (b + 1) for b in range(batch)], 1)
    learner = bt.compile(model, rule, xs[0], batch_size=batch, vmap=lanes)
    step = bt.jit(bt.grad(lambda x: (learner(x) ** 2).sum(), model.states(bt.ParamState)))
    return [bt.tree.leaves(step(x)) for x in xs]


def worst(a, b):
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max()) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


@pytest.mark.parametrize("cell", [nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("batch", [None, 2])
def test_a_known_rule_bit_for_bit(cell, batch):
    assert worst(gradients(MyDRTRL(), cell, batch), gradients("D_RTRL", cell, batch)) == 0


def test_leaky_and_filtered_traces_are_points_of_the_space_of_rules():
    assert worst(gradients(Leaky(0.9)), gradients(bt.ETraceConfig(temporal_recursion="scalar_leak", decay=0.9))) == 0
    known = gradients(bt.ETraceConfig(trace_filter="kappa", kappa=0.5))
    assert worst(gradients(MyEProp()), known) < 1e-6 < worst(gradients(MyDRTRL()), known)


def test_lanes_windows_and_sequences():
    assert worst(gradients(MyDRTRL(), batch=3, lanes=True), gradients("D_RTRL", batch=3, lanes=True)) < 1e-6
    for kind in ("single-step", "multi-step"):
        found = []
        for rule in (MyDRTRL(), "D_RTRL"):
            bt.random.seed(3)
            learner = bt.compile(Net(nn.LSTMCell), rule, XS[0], vjp_method=kind)
            learner(XS[0])
            found.append(bt.tree.leaves(bt.grad(lambda: (learner(bt.MultiStepData(XS)) ** 2).sum(), learner.model.states(bt.ParamState))()))
        assert worst(found[:1], found[1:]) < 1e-6, kind
    learner = bt.compile(Net(), MyEProp(), XS[0])
    grads, losses = learner.etrace_grad(XS, step_fn=lambda x: (learner(x) ** 2).sum())
    assert losses.shape == (5,) and len(grads) == 4 and len(learner.memory()) == 8  # two gates that are traced, weight and bias, two tensors
    assert {e["kind"] for e in learner.get_etrace_of(("rnn", "Wz", "weight"))} == {"trace", "filter"}


def test_rules_with_a_name():
    bt.register_rule("MyDRTRL", MyDRTRL())
    assert "MyDRTRL" in bt.list_of_algorithms() and bt.compile(Net(), "mydrtrl", XS[0]).rule == "MyDRTRL"
    report = bt.fidelity(Net(), jnp.zeros(3), steps=3, rules=["MyDRTRL", "D_RTRL"], windows=[1])
    assert len({round(r["cosine"], 5) for r in report.rules}) == 1
    config = bt.ETraceConfig(recurrence_scope="coupled")
    bt.register_rule("mine", config)
    assert bt.compile(Net(), "mine", jnp.zeros(3), trace_dtype="float16").is_compiled
    for bad, error in ((("D_RTRL", config), ValueError), (("pp_prop", config), ValueError), (("other", 3), TypeError), (("other", MyDRTRL), TypeError)):
        with pytest.raises(error):
            bt.register_rule(*bad)


def test_a_rule_that_is_registered_again_is_replaced():
    def gradient(learner):
        return learner.etrace_grad(XS, step_fn=lambda x: (learner(x) ** 2).sum())[0]["rnn", "Wz", "weight"]["weight"].tolist()

    model = Net()
    leaky = {leak: gradient(bt.compile(model, Leaky(leak), XS[0])) for leak in (0.5, 0.9)}
    made = {}
    for leak in (0.5, 0.9):
        bt.register_rule("again", Leaky(leak))
        made[leak] = bt.compile(model, "again", XS[0])
        assert gradient(made[leak]) == leaky[leak]
    bt.nn.reset_all_states(model)
    made[0.5].reset_state()
    assert gradient(made[0.5]) == leaky[0.5] != leaky[0.9]  # learners keep the rule with which they were created
    assert bt.list_of_algorithms().count("again") == 1


def test_learners_with_a_rule_are_copied():
    learner = bt.compile(Net(), Leaky(0.5), XS[0])
    learner(XS[0])
    for twin in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert twin.rule == "Leaky" and [m.tolist() for m in twin.memory()] == [m.tolist() for m in learner.memory()]


def test_what_a_site_tells():
    seen = {}

    class Watch(MyDRTRL):
        name = "watched"

        def gradient(self, site, before, after):
            seen[site.weight_path, site.key] = (site.shape, site.weight_shape, site.group.hidden_paths, site.D.shape, site.D_f.shape, site.L.shape, len(site.operands), isinstance(site, bt.TraceSite))
            self.kept = site

    rule = Watch()
    learner = bt.compile(Net(), rule, XS[0])
    assert learner.rule == "watched" and not seen
    bt.grad(lambda: learner(XS[0]).sum(), learner.model.states(bt.ParamState))()
    assert seen[("rnn", "Wz", "weight"), "weight"] == ((7, 4, 1), (7, 4), [("rnn", "h")], (4, 1, 1), (4, 1), (4, 1), 3, True)
    with pytest.raises(bt.StateError, match="finished"):
        rule.kept.instant


def test_what_a_rule_may_not_do():
    class Bad(MyDRTRL):
        def __init__(self, **methods):
            self.__dict__.update(methods)

    def use(rule):
        learner = bt.compile(Net(), rule, XS[0])
        bt.grad(lambda: learner(XS[0]).sum(), learner.model.states(bt.ParamState))()

    for rule, error, words in (
            (Bad(advance=lambda site, trace: trace.sum()), bt.ShapeError, r"Bad, weight rnn.Wz.weight \('weight'\) and group 0: expected advance to return 'trace' of shape \[7,4,1\], got \[\]"),
            (Bad(gradient=lambda site, before, after: before), bt.ShapeError, r"a gradient of the weight of shape \[7,4\], got \[7,4,1\]"),
            (Bad(gradient=lambda site, before, after: site.contract(1.0, before)), bt.ShapeError, r"expected contract to get a credit of shape \[4,1\]"),
            (Bad(advance=lambda site, trace: site.propagate(trace[0])), bt.ShapeError, "expected propagate to get a trace"),
            (Bad(advance=lambda site, trace: site.L), bt.StateError, "only in `gradient`"),
            (Bad(memory=lambda site: {"trace": site.instant.shape}), bt.StateError, "step values are not available"),
            (Bad(memory=lambda site: site.shape), bt.UserError, "a dict of names to shapes"),
            (Bad(memory=lambda site: {"a": (2,), "b": (3,)}, advance=lambda site, memory: {"a": memory["a"]}), bt.UserError, "'b' is missing"),
            (Bad(gradient=lambda site, before, after: "text"), TypeError, "got str"), (Bad(advance=lambda site, trace: 1 / 0), ZeroDivisionError, "division"),
            (bt.LearningRule, TypeError, "expected a learning rule"), (type("Empty", (bt.LearningRule,), {})(), NotImplementedError, "advance"), (3, TypeError, "expected a learning rule")):
        with pytest.raises(error, match=words):
            use(rule)
    with pytest.raises(ValueError, match="has no option decay_or_rank"):
        bt.compile(Net(), MyDRTRL(), XS[0], decay_or_rank=0.9)
