# SPDX-License-Identifier: Apache-2.0
"""jit, grad, vmap, loops over trees and states."""
import collections
import dataclasses
import functools
import typing

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import numpy as jnp


class Counter(bt.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = bt.LongTermState(jnp.asarray(0.0))

    def update(self, x):
        self.n.value = self.n.value + x
        return self.n.value


def test_jit_traces_once_per_signature():
    seen = []

    @bt.jit
    def f(x, k=1):
        seen.append(x.shape)
        return x * k

    assert f(np.ones(2, "f")).tolist() == [1, 1] and f(np.zeros(2, "f")).tolist() == [0, 0]
    assert f.num_traces == 1 and len(seen) == 1
    f(np.ones(3, "f"))
    assert f.num_traces == 2


def scaled(by):
    layer = bt.nn.Linear(2, 2, b_init=None)
    layer.weight.value = {"weight": np.full((2, 2), by, "f")}
    return layer


class Stack(bt.nn.Module):
    def __init__(self, by=1.0):
        super().__init__()
        self.first, self.layers, self.named, self.pair = scaled(by), [scaled(1.0)], {"k": scaled(1.0)}, (scaled(1.0), [scaled(1.0)])

    def update(self, x):
        for layer in (self.first, *self.layers, self.named["k"], self.pair[0], self.pair[1][0]):
            x = layer(x)
        return x


class Holder:
    """Not a module."""

    def __init__(self):
        self.net = Stack()

    def call(self, x):
        return self.net(x)


@pytest.mark.parametrize("name, change", {
    "an attribute": lambda net: setattr(net, "first", scaled(2.0)),
    "an item of a list": lambda net: net.layers.__setitem__(0, scaled(2.0)),
    "a longer list": lambda net: net.layers.append(scaled(1.0)),
    "an entry of a dict": lambda net: net.named.__setitem__("k", scaled(2.0)),
    "a list in a tuple": lambda net: net.pair[1].__setitem__(0, scaled(2.0)),
}.items())
def test_jit_traces_again_when_a_part_of_a_model_is_replaced(name, change):
    x = np.ones(2, "f")
    for make in (lambda net: bt.jit(lambda x: net(x)), bt.jit, lambda net: functools.partial(bt.jit(lambda m, x: m(x)), net),
                 lambda net: bt.jit(functools.partial(lambda m, x: m(x), net)), lambda net: bt.jit(lambda x: bt.for_loop(net, x[None])[0])):
        net = Stack()
        f = make(net)
        before = f(x)
        change(net)
        assert (f(x) == 2 * before).all() and (f(x) == 2 * before).all(), name


def test_jit_traces_again_when_a_variable_names_another_part():
    holder, net, scale, x = Holder(), Stack(), bt.LongTermState(1.0), np.ones(2, "f")

    def by_helper(x):
        return bt.for_loop(lambda row: net.first(row), x[None])[0]

    functions = bt.jit(holder.call), bt.jit(lambda x: net(x)), bt.jit(by_helper), bt.jit(lambda x: x * scale.value)
    before = [f(x) for f in functions]
    holder.net, net, scale = Stack(2.0), Stack(2.0), bt.LongTermState(2.0)
    for f, y in zip(functions, before):
        assert (f(x) == 2 * y).all() and (f(x) == 2 * y).all() and f.num_traces == 2
    for i in range(3):  # all else is captured by value, as documented
        net.note, net.rate, net.table, x = f"note {i}", float(i), np.ones(i + 1), x + 0
        bt.nn.init_all_states(net)
        functions[1](x)
    assert functions[1].num_traces == 2


def test_a_learner_of_a_changed_model_is_an_error():
    x = np.ones(2, "f")
    net = bt.nn.Sequential(bt.nn.ValinaRNNCell(2, 3), bt.nn.Linear(3, 2))
    bt.nn.init_all_states(net)
    learner = bt.D_RTRL(net)
    learner.compile_graph(x)
    learner(x)
    net.layers[1] = bt.nn.Linear(3, 2)
    for call in (lambda: learner(x), lambda: learner.etrace_grad(x[None], step_fn=lambda x: learner(x).sum()), lambda: bt.jit(learner)(x)):
        with pytest.raises(bt.StateError, match="layers.1.weight of the model was replaced after compile_graph"):
            call()


class Point(typing.NamedTuple):
    x: typing.Any
    y: typing.Any


@dataclasses.dataclass
class Pair:
    a: typing.Any
    b: typing.Any


def test_trees_go_in_and_out():
    value = {"b": (jnp.ones(2), [1.0, None]), "a": Point(jnp.zeros(1), 2), "c": Pair(jnp.ones(1), {"z": 3.0})}
    out = bt.jit(lambda t: t)(value)
    assert isinstance(out["a"], Point) and isinstance(out["c"], Pair) and out["b"][1][1] is None and float(out["c"].b["z"]) == 3.0
    leaves, treedef = bt.tree.flatten(value)
    assert len(leaves) == 6 and bt.tree.structure(treedef.unflatten(leaves)) == treedef
    assert bt.tree.map(lambda v: v + 1, {"x": 1, "y": [2]}) == {"x": 2, "y": [3]}
    with pytest.raises(ValueError):
        bt.tree.map(lambda a, b: a, {"x": 1}, {"y": 1})


def test_trees_end_at_marked_leaves():
    value = {"p": Point([1, 2], {"q": (3,)}), "l": [None, 4], "d": Pair([5], [6])}
    is_list = lambda v: isinstance(v, list)  # noqa: E731
    assert bt.tree.leaves(value, is_list) == [[5], [6], [None, 4], [1, 2], 3] and bt.tree.leaves(value, is_leaf=lambda v: v is None)[2] is None
    out = bt.tree.map(lambda v: "leaf", value, is_leaf=is_list)
    assert out == {"p": Point("leaf", {"q": ("leaf",)}), "l": "leaf", "d": Pair("leaf", "leaf")}
    leaves, treedef = bt.tree.flatten(value, is_list)
    assert treedef == bt.tree.structure(value, is_list) and treedef.unflatten(leaves) == value
    assert bt.tree.map(lambda p, g: p if g is None else p - g, [1, 2], [None, 5], is_leaf=lambda v: v is None) == [1, -3]
    for a, b in (([1, 2, 3], [1, 2]), ({"x": 1}, {"x": 1, "y": 2}), ([1], (1,))):
        with pytest.raises(ValueError, match="trees of the same structure"):
            bt.tree.map(lambda a, b: a, a, b, is_leaf=lambda v: False)


class Registered:
    def __init__(self, v): self.v = v


class Named(dict):
    pass


def test_subclasses_of_containers():
    bt.tree.register_node(Named, lambda d: ((d["x"],), d["name"]), lambda name, values: Named(name=name, x=values[0]))
    out = bt.jit(lambda d: Named(name="out", x=d["x"] + 1))(Named(name="in", x=1.0))
    assert type(out) is Named and out["name"] == "out" and float(out["x"]) == 2
    ordered = collections.OrderedDict(z=1.0, a=2.0)
    assert list(bt.jit(lambda d: d)(ordered)) == ["z", "a"] and bt.tree.leaves(ordered) == [1, 2]
    assert bt.tree.structure(ordered) != bt.tree.structure(collections.OrderedDict(a=2.0, z=1.0))
    counts = bt.tree.map(lambda v: v + 1, collections.defaultdict(list, b=1, a=2))
    assert counts == {"a": 3, "b": 2} and counts["new"] == [] and bt.tree.structure(counts) != bt.tree.structure(dict(counts))


def test_registered_classes_are_nodes():
    bt.tree.register_node(Registered, lambda r: ((r.v,), None), lambda aux, children: Registered(*children))
    assert bt.jit(lambda r: Registered(r.v + 1))(Registered(jnp.ones(2))).v.tolist() == [2, 2]


def test_static_arguments():
    f = bt.jit(lambda x, mode, n=1: x * n if mode == "mul" else x + n, static_argnums=1, static_argnames="n")
    assert f(jnp.ones(1), "mul", n=3).tolist() == [3] and f(jnp.ones(1), "add", n=3).tolist() == [4]
    assert f(jnp.ones(1), "mul", n=3).tolist() == [3] and f.num_traces == 2
    with pytest.raises(TypeError, match="hash"):
        f(jnp.ones(1), ["mul"])
    with pytest.raises(TypeError, match="static_argnums"):
        bt.jit(lambda x, s: x)(1.0, "text")


def test_jit_of_methods_and_states():
    class Net(Counter):
        @bt.jit
        def step(self, x):
            return self(x)

    net = Net()
    assert [float(net.step(2.0)) for _ in range(3)] == [2, 4, 6] and float(net.n.value) == 6


def test_states_made_inside_a_jitted_function_belong_to_it():
    @bt.jit
    def f(x):
        s = bt.ShortTermState(jnp.zeros(2))
        s.value = s.value + x
        return s.value

    assert f(1.0).tolist() == [1, 1] and f(1.0).tolist() == [1, 1]


def test_gradients_of_arguments_and_states():
    f = lambda x, y: (x ** 2 * y).sum()
    x, y = np.array([1., 2.], "f"), np.array([3., 4.], "f")
    assert bt.grad(f)(x, y).tolist() == [6, 16]
    gx, gy = bt.grad(f, argnums=(0, 1))(x, y)
    assert gx.tolist() == [6, 16] and gy.tolist() == [1, 4]
    value, g = bt.value_and_grad(f, argnums=-1)(x, y)
    assert float(value) == 19 and g.tolist() == [1, 4]
    layer = bt.nn.Linear(2, 1, w_init=1.0)
    states = layer.states(bt.ParamState)
    grads, value = bt.grad(lambda x: layer(x).sum(), states, return_value=True)(x)
    assert float(value) == 3 and grads["weight",]["weight"].tolist() == [[1], [2]] and grads["weight",]["bias"].tolist() == [1]
    grads, value, aux = bt.grad(lambda x: (layer(x).sum(), {"x": x}), states, has_aux=True, return_value=True)(x)
    assert aux["x"].tolist() == [1, 2]
    both = bt.grad(lambda x: layer(x).sum(), states, argnums=0)(x)
    assert both[1].tolist() == [1, 1]
    trees = bt.grad(lambda t: t["a"].sum() + (t["b"][0] * 2).sum())({"a": x, "b": [y]})
    assert trees["a"].tolist() == [1, 1] and trees["b"][0].tolist() == [2, 2]


def test_gradients_have_the_structure_of_their_states():
    a, b = bt.ParamState(np.float32(2.0)), bt.ParamState(np.float32(3.0))
    f = lambda x: a.value * b.value * x  # noqa: E731
    for states, expected in (([a, b], [3, 2]), ({"b": b, "a": a}, {"a": 3, "b": 2}), ({0: a, 1: [b, {"c": a}]}, {0: 3, 1: [2, {"c": 3}]}),
                             ([a, a], [3, 3]), ({("x",): a, ("y",): a, ("z",): b}, {("x",): 3, ("y",): 3, ("z",): 2}), (Point(b, None), Point(2, None)),
                             ({"b": b, "a": a}.values(), [2, 3]), ((), ()), (a, 3)):
        for grad in (bt.grad(f, states), bt.jit(bt.grad(f, states)), lambda x: bt.value_and_grad(f, states)(x)[1]):
            assert bt.tree.map(float, grad(1.0)) == expected
    with pytest.raises(TypeError, match="grad: expected states to differentiate, got 1.0"):
        bt.grad(f, [a, 1.0])(1.0)


def test_second_derivatives_and_jacobians():
    assert float(bt.grad(bt.grad(lambda x: x ** 3))(2.0)) == 12
    np.testing.assert_allclose(np.asarray(bt.hessian(lambda x: (x ** 3).sum())(jnp.array([1., 2.]))), [[6, 0], [0, 12]])
    np.testing.assert_allclose(np.asarray(bt.jacrev(lambda x: jnp.stack([x.sum(), x[0] * x[1]]))(jnp.array([2., 3.]))), [[1, 1], [3, 2]])
    np.testing.assert_allclose(np.asarray(bt.jacfwd(lambda x: jnp.stack([x.sum(), x[0] * x[1]]))(jnp.array([2., 3.]))), [[1, 1], [3, 2]])
    y, dy = bt.jvp(lambda x, t: {"s": jnp.sin(x) * t}, (0.0, 2.0), (1.0, 0.0))
    assert float(y["s"]) == 0 and float(dy["s"]) == 2
    y, back = bt.vjp(lambda x, t: x * t, 3.0, 2.0)
    assert [float(c) for c in back(1.0)] == [2, 3]


def test_vmap():
    xs = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert bt.vmap(lambda x, w: (x * w).sum(), in_axes=(0, None))(xs, np.ones(2, "f")).tolist() == [1, 5, 9]
    assert bt.vmap(lambda x: x, in_axes=1, out_axes=1)(xs).shape == (3, 2)
    cell = bt.nn.init_all_states(bt.nn.GRUCell(2, 3), batch_size=3)
    out = bt.vmap(cell, in_states=cell.states(bt.HiddenState))(xs)
    assert out.shape == (3, 3) and cell.h.value.shape == (3, 3)


def test_loops():
    net = Counter()
    assert bt.for_loop(net, np.arange(4, dtype=np.float32)).tolist() == [0, 1, 3, 6]
    carry, ys = bt.scan(lambda c, x: ({"s": c["s"] + x}, (c["s"], x)), {"s": 0.0}, np.arange(3, dtype=np.float32))
    assert float(carry["s"]) == 3 and ys[0].tolist() == [0, 0, 1]
    assert float(bt.cond(jnp.asarray(0.0) > 1, lambda x: x, lambda x: -x, 2.0)) == -2
    assert float(bt.jit(lambda p: bt.cond(p, lambda: 1.0, lambda: 2.0))(False)) == 2
    n, total = bt.while_loop(lambda v: v[0] < 4, lambda v: (v[0] + 1, v[1] + v[0]), (0, 0))
    assert int(n) == 4 and int(total) == 6
    assert bt.for_loop(lambda x: x * 2, np.arange(5, dtype=np.float32), pbar=2).tolist() == [0, 2, 4, 6, 8]
    for reverse in (False, True):
        for xs, length in ((np.arange(5, dtype="f"), None), (None, 5)):
            f = lambda c, x: (c * 2 + 1, (c, x))  # noqa: E731
            (c, (y, x)), (d, (z, w)) = (bt.scan(f, 1.0, xs, length, reverse, pbar=pbar) for pbar in (None, 2))
            assert float(c) == float(d) and y.tolist() == z.tolist() and (x is None if xs is None else x.tolist() == w.tolist())
    with pytest.raises(ValueError, match="structure"):
        bt.scan(lambda c, x: ((c, c), x), 0.0, np.arange(3.0))
    with pytest.raises(TypeError):
        bt.scan(lambda c, x: c, 0.0, np.arange(3.0))


def in_context(f, value):
    with bt.environ.context(data=value):
        return f()


def test_environment_belongs_to_the_signature():
    f = bt.jit(lambda x: x * (2 if bt.environ.get("fast", False) else 1))
    assert float(f(1.0)) == 1
    with bt.environ.context(fast=True):
        assert float(f(1.0)) == 2
    assert float(f(1.0)) == 1
    for value, factor in ((True, 2), (False, 1), ([], 1), ([1], 2)):
        bt.environ.set(fast=value)
        assert float(f(1.0)) == factor
    value.clear()  # not hashable, so it is compared again
    assert float(f(1.0)) == 1
    bt.environ.set(fast=False)
    large, equal, other = np.zeros(5000, "f"), np.zeros(5000, "f"), np.zeros(5000, "f")
    other[2500] = 1
    g = bt.jit(lambda: jnp.sum(bt.tree.leaves(bt.environ.get("data"))[0]))
    for wrap in (lambda x: x, lambda x: [x], lambda x: {"a": (x,)}, lambda x: jnp.asarray(x), lambda x: [jnp.asarray(x)]):
        for value, total in ((large, 0), (other, 1), (equal, 0), (2 * other, 2)):
            with bt.environ.context(data=wrap(value)):
                assert float(g()) == total and float(bt.jit(g)()) == total
    kind = bt.jit(lambda x: x * bt.environ.get("data"))
    assert [in_context(lambda: kind(jnp.asarray(2)), value).dtype for value in (1, 1.0, 1)] == [np.int32, np.float32, np.int32]
    traced = bt.jit(lambda x: in_context(g, x))
    assert [float(traced(x)) for x in (large, other, 2 * other)] == [0, 1, 2]
    with pytest.raises(KeyError):
        bt.environ.get("nothing")


def test_operations_of_your_own():
    @bt.custom_vjp
    def f(x, y):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, ct: (ct * 10, ct * kept[0]))
    assert [float(g) for g in bt.grad(f, argnums=(0, 1))(3.0, 4.0)] == [10, 3]
    assert [float(g) for g in bt.jit(bt.grad(f, argnums=(0, 1)))(3.0, 4.0)] == [10, 3]
    g = bt.jit(lambda x: bt.pure_callback(lambda a: a[::-1].copy(), x, x) + 1)
    assert g(np.arange(3, dtype=np.float32)).tolist() == [3, 2, 1]
    with pytest.raises(ZeroDivisionError):
        bt.jit(lambda x: bt.pure_callback(lambda a: 1 / 0, x, x))(np.ones(1, "f"))


def test_results_of_operations_of_your_own_have_a_structure():
    x, pair = np.ones(2, "f"), {"a": np.ones(2, "f"), "b": np.ones(2, "f")}
    with pytest.raises(ValueError, match=r"pure_callback: the result must have the structure \{'a': \*, 'b': \*\}; got \{'b': \*, 'c': \*\}"):
        bt.pure_callback(lambda v: {"b": v, "c": v}, pair, x)
    f = bt.custom_vjp(lambda t, model: t["a"] * t["b"])
    f.defvjp(lambda t, model: (f(t, model), t), lambda t, ct: ({"b": ct * t["a"], "a": ct * t["b"]}, None))
    assert bt.tree.map(float, bt.grad(f)({"a": 2.0, "b": 3.0}, bt.nn.Linear(2, 2))) == {"a": 3, "b": 2}
    f.defvjp(lambda t, model: (t["a"] * t["b"], t), lambda t, ct: ({"b": ct * t["a"], "c": ct * t["b"]}, None))
    with pytest.raises(ValueError, match=r"custom_vjp: the cotangent of argument 0 must have the structure .*'a'.*; got .*'c'"):
        bt.grad(f)({"a": 2.0, "b": 3.0}, None)


def test_rules_of_a_custom_vjp_may_call_it():
    @bt.custom_vjp
    def f(x, y=2.0):  # its derivative by x is said to be 3 f, and that by y is zero
        return x * x * y

    f.defvjp(lambda x, y: (f(x, y), (x, f(x, y))), lambda kept, ct: (3 * ct * kept[1], None))
    for g, expected in ((bt.grad(f), 54), (bt.grad(bt.grad(f)), 162), (bt.grad(lambda x: f(x) * f(x, y=1.0)), 2 * 3 * 18 * 9)):
        assert float(g(3.0)) == expected == float(bt.jit(g)(3.0))
        if expected != 54:
            assert bt.vmap(g)(np.full(2, 3, "f")).tolist() == [expected] * 2
    f.defvjp(lambda x, y: (f(x, y), x), lambda x, ct: (ct * f(x, 1.0), ct))
    assert float(bt.grad(f)(3.0)) == 9 and float(bt.grad(bt.grad(f))(3.0)) == 9 and float(f(3.0)) == 18
    with pytest.raises(bt.UserError, match="f: its rules call it, so it has first and second derivatives only"):
        bt.grad(bt.grad(bt.grad(f)))(3.0)


def test_arguments_of_a_custom_vjp_without_a_derivative():
    @functools.partial(bt.custom_vjp, nondiff_argnums=(0, -1))
    def apply(g, x, y, power):
        return g(x) * y ** power

    apply.defvjp(lambda g, x, y, power: (apply(g, x, y, power), (x, y)), lambda g, power, kept, ct: (ct * power * kept[0], ct * g(kept[1])))
    assert [float(v) for v in bt.grad(apply, argnums=(1, 2))(jnp.abs, -2.0, 3.0, 2)] == [-4, 3] and float(apply(jnp.abs, -2.0, y=3.0, power=2)) == 18
    with pytest.raises(bt.UserError, match="2 tensor"):
        apply.defvjp(apply._rules[0], lambda g, power, kept, ct: (ct,))
        bt.grad(apply, argnums=1)(jnp.abs, -2.0, 3.0, 2)


def test_random_numbers_in_jitted_functions():
    f = bt.jit(lambda: bt.random.randn(3))
    bt.random.seed(3)
    a, b = f(), f()
    bt.random.seed(3)
    assert f().tolist() == a.tolist() and a.tolist() != b.tolist()


def test_values_that_contain_themselves():
    inside, deep = [], 1.0
    inside.append(inside)
    for _ in range(100000):
        deep = [deep]

    class Holder(bt.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def update(self, x):
            return x

    for use in (bt.tree.leaves, bt.jit(lambda x: x), jnp.asarray, lambda x: Holder(x).states(), lambda x: Holder({"a": x}).states(), lambda x: bt.jit(lambda: x)()):
        for value in (inside, deep):
            with pytest.raises((RecursionError, ValueError)):
                use(value)


def test_mistakes_inside_transforms():
    leaked = []
    bt.jit(lambda x: leaked.append(x) or x)(1.0)
    for use in (float, lambda t: t + 1, np.asarray, repr):
        try:
            use(leaked[0])
        except (ValueError, TypeError):
            pass
    with pytest.raises(ValueError):
        leaked[0] + 1
    with pytest.raises((ValueError, TypeError)):
        bt.jit(lambda x: x if x > 0 else -x)(1.0)
    with pytest.raises(ZeroDivisionError):
        bt.jit(lambda x: 1 / 0)(1.0)
    with pytest.raises(ValueError):
        bt.grad(lambda x: x)(np.ones(2, "f"))
    with pytest.raises(ValueError):
        bt.grad(lambda x: x, argnums=3)(1.0)
    with pytest.raises(TypeError):
        bt.jit(3)
    with pytest.raises(TypeError):
        bt.jit(lambda x: "text")(1.0)
    for wrong in ({"static_argnames": "z"}, {"static_argnames": ["x", "z"]}, {"static_argnums": 1}, {"static_argnums": (0, -2)}):
        with pytest.raises(ValueError, match="jit: static_arg"):
            bt.jit(lambda x: x, **wrong)
    assert float(bt.jit(lambda *xs, **more: xs[0], static_argnums=3, static_argnames="z")(1.0)) == 1
    with pytest.raises(ValueError):
        bt.vmap(lambda x: x, in_axes=(0, 0))(np.ones(2, "f"))
    assert float(bt.jit(lambda x: x + 1)(1.0)) == 2  # no state is left behind


def test_a_second_result_of_a_loss_is_declared():
    pair = lambda x: (x.sum(), {"x": x})  # noqa: E731
    for transform in (bt.grad, bt.value_and_grad):
        with pytest.raises(TypeError, match="one scalar, got a tuple; set has_aux"):
            transform(pair)(np.ones(2, "f"))
        for wrong in (lambda x: x.sum(), lambda x: [x.sum(), x], lambda x: (x.sum(), x, x)):
            with pytest.raises(TypeError, match=r"must return \(loss, aux\)"):
                transform(wrong, has_aux=True)(np.ones(2, "f"))
    (loss, aux), grads = bt.value_and_grad(pair, has_aux=True)(np.ones(2, "f"))
    assert float(loss) == 2 and aux["x"].tolist() == grads.tolist() == [1, 1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("freq", [1, 2, 5, 9])
def test_a_loop_in_pieces_is_the_loop(freq, reverse):
    counter, xs = Counter(), np.arange(5, dtype="f")

    def summed(**options):
        counter.n.value = 0.0
        return bt.for_loop(lambda x: 2 * counter(x), xs, reverse=reverse, **options).tolist()

    class Bar:
        steps = 0

        def update(self, n):
            self.steps += n

    bar = Bar()
    assert summed(pbar=bt.progress.ProgressBar(freq=freq)) == summed(pbar=bar) == summed() and bar.steps == 5


def test_loops_without_steps():
    assert bt.for_loop(lambda x: x, np.zeros((0, 2), "f"), pbar=1).shape == (0, 2) and bt.for_loop(lambda i: i, length=3).tolist() == [0, 1, 2]
    for wrong in (lambda: bt.for_loop(lambda x: x), lambda: bt.scan(lambda c, x: (c, x), 0.0)):
        with pytest.raises(TypeError, match="number of steps is unknown"):
            wrong()
    with pytest.raises(TypeError, match="pbar: expected True, a number of steps, a ProgressBar, or an object with a method `update`, got 'yes'"):
        bt.for_loop(lambda x: x, np.zeros(3, "f"), pbar="yes")
    for pbar in (None, 1):
        with pytest.raises(bt.ShapeError, match="leading axes must agree"):
            bt.for_loop(lambda x, y: x, np.zeros(3, "f"), np.zeros(2, "f"), pbar=pbar)
    with pytest.raises(ValueError, match="size of the batch is unknown"):
        bt.vmap(lambda x: x, in_axes=None)
    with pytest.raises(TypeError, match="integer"):
        bt.fori_loop(0, 3.5, lambda i, s: s + i, 0)


def test_static_arguments_are_static_however_they_are_passed():
    def f(x, mode="plus"):
        return x if mode == "plus" else -x

    for g in (bt.jit(f, static_argnames="mode"), bt.jit(f, static_argnums=1), bt.jit(f, static_argnums=-1)):
        assert [float(v) for v in (g(1.0), g(1.0, "plus"), g(1.0, mode="minus"), g(1.0, "minus"), g(x=1.0, mode="minus"))] == [1, 1, -1, -1, -1]

    class Net:
        @bt.jit(static_argnames="mode")
        def run(self, x, mode):
            return f(x, mode)

        __call__ = run

    assert float(Net().run(1.0, "minus")) == -1
    assert float(bt.jit(lambda *xs: xs[0] if xs[-1] == "first" else xs[1], static_argnums=-1)(1.0, 2.0, "first")) == 1


def test_axes_of_the_leaves_of_arguments():
    x, w = np.arange(6, dtype="f").reshape(3, 2), np.arange(4, dtype="f").reshape(2, 2)
    f = lambda p, x: {"y": x @ p["w"] + p["b"][0], "s": (x.sum(), p["b"][0])}  # noqa: E731
    args = {"w": w, "b": [x.T, None]}, x
    out = bt.vmap(f, in_axes=({"w": None, "b": [1, None]}, 0), out_axes={"y": 1, "s": 0})(*args)
    np.testing.assert_allclose(out["y"], (x @ w + x).T)
    assert out["s"][0].tolist() == x.sum(1).tolist() and out["s"][1].shape == (3, 2)
    assert bt.vmap(lambda t: t[0] + t[1], in_axes=[(0, None)])((x, 1.0)).shape == (3, 2)
    assert bt.vmap(lambda x, y: (x, y), out_axes=(0, 1))(x, x)[1].shape == (2, 3)
    for wrong in (lambda: bt.vmap(f, in_axes=({"w": None}, 0))(*args), lambda: bt.vmap(f, in_axes=({"w": None, "b": "a"}, 0))(*args),
                  lambda: bt.vmap(f, in_axes=({"w": None, "b": [1, None]}, 0), out_axes=(0, 0))(*args), lambda: bt.vmap(lambda x: x, out_axes=None)(x)):
        with pytest.raises(TypeError, match="vmap: .*(axes|out_axes)"):
            wrong()


def test_cotangents_of_none_are_zero():
    f = bt.custom_vjp(lambda x, p: x * p["a"])
    f.defvjp(lambda x, p: (x * p["a"], p["a"]), lambda a, ct: (ct * a, None))
    x, p = np.float32(2.0), {"a": np.float32(3.0)}
    assert [float(v) for v in bt.tree.leaves(bt.grad(f, argnums=(0, 1))(x, p))] == [3.0, 0.0]
    assert bt.vmap(bt.grad(f, argnums=1))(np.ones(2, "f"), {"a": np.ones(2, "f")})["a"].tolist() == [0, 0]
    f.defvjp(lambda x, p: (x * p["a"], p["a"]), lambda a, ct: (ct * a,))
    with pytest.raises(bt.UserError, match="2 tensor"):
        bt.grad(f)(x, p)


def test_numbers_of_steps():
    for wrong in (lambda: bt.for_loop(lambda i: i, length=-1), lambda: bt.scan(lambda c, x: (c, c), 0.0, length=-3)):
        with pytest.raises(ValueError, match="expected a number of steps that is not negative, got -"):
            wrong()
    add = bt.jit(lambda a, b, x: bt.fori_loop(a, b, lambda i, s: s + i * x, 0.0))
    assert [float(add(a, b, 2.0)) for a, b in ((0, 4), (2, 4), (3, 1))] == [12, 10, 0]
