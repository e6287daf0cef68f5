# SPDX-License-Identifier: Apache-2.0
"""Tensors compared with NumPy: conversion without copies, operators, indexing, functions."""
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import pybraintrace as bt
from pybraintrace import numpy as jnp

FLOATS = st.floats(-8, 8, width=32)
ARRAYS = hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4), elements=FLOATS)
quick = settings(max_examples=40, deadline=None)


def test_numpy_arrays_share_memory_both_ways():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = jnp.asarray(a)
    assert np.shares_memory(a, np.asarray(t))
    assert not np.asarray(t).flags.writeable
    with pytest.raises(ValueError):
        np.asarray(t)[0, 0] = 1


def test_results_do_not_change_with_the_callers_array():
    a = np.ones(3, np.float32)
    captured = bt.jit(lambda x: x + jnp.asarray(a))
    state, written = bt.ShortTermState(a), bt.ShortTermState(jnp.zeros(3))
    written.value = a

    class Same(bt.nn.Module):
        def update(self, x):
            return x

    results = {
        "an operation": jnp.asarray(a) * 2, "a copy": jnp.array(a), "another shape": jnp.reshape(a, (3, 1)), "a state": state.value, "a written state": written.value,
        "a program": bt.jit(lambda x: x)(a), "a program of shapes": bt.jit(lambda x: x.reshape(3, 1))(a), "a captured array": captured(jnp.zeros(3)), "a module": Same()(a),
        "vmap": bt.vmap(lambda x: x)(a), "cond": bt.cond(True, lambda x: x, lambda x: -x, a), "for_loop": bt.for_loop(lambda x: x, a),
        "a layer": bt.nn.Identity()(a), "scan": bt.scan(lambda c, x: (c, x), a, None, 1)[0], "no steps": bt.while_loop(lambda x: False, lambda x: x, a),
        "the same shape": jnp.reshape(a, (3,)), "one axis": jnp.atleast_1d(a), "no axes": jnp.squeeze(a), "no limits": jnp.clip(a), "the same dtype": jnp.astype(a, "float32"),
        "einsum": jnp.einsum("i->i", a), **{f"of a tensor: {name}": f(jnp.asarray(a)) for name, f in {
            "copy": lambda x: x.copy(), "array": jnp.array, "jnp.copy": jnp.copy, "plus": lambda x: +x, "all": lambda x: x[...], "flat": lambda x: x.flatten()}.items()},
    }
    before = {name: np.array(value) for name, value in results.items()}
    a[:] = 7
    for name, value in results.items():
        np.testing.assert_array_equal(np.asarray(value), before[name], err_msg=name)
    assert captured(jnp.zeros(3)).tolist() == [1, 1, 1] and written.value.tolist() == state.value.tolist() == [1, 1, 1]
    bt.jit(lambda x: setattr(written, "value", x))(a)
    a[:] = 9
    assert written.value.tolist() == [7, 7, 7]


@pytest.mark.parametrize("dtype, expected", [("float32", "float32"), ("float64", "float32"), ("float16", "float16"), ("int32", "int32"),
                                             ("int64", "int32"), ("int8", "int32"), ("uint8", "int32"), ("uint32", "uint32"), ("bool", "bool")])
def test_element_types_follow_the_environment(dtype, expected):
    assert str(jnp.asarray(np.ones(2, dtype)).dtype) == expected
    with bt.environ.context(precision=64):
        wide = {"float64": "float64", "int64": "int64"}.get(dtype, expected)
        assert str(jnp.asarray(np.ones(2, dtype)).dtype) == wide


def test_python_numbers_take_the_type_of_what_they_meet():
    assert (jnp.ones(2, "float16") * 0.1).dtype == np.float16
    assert (jnp.arange(3) * 2).dtype == np.int32
    assert (jnp.arange(3) * 0.5).dtype == np.float32
    assert jnp.asarray(3).dtype == np.int32 and jnp.asarray(3.5).dtype == np.float32 and jnp.asarray(True).dtype == bool


def test_odd_memory_layouts():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (a[:, ::2], a.T, np.broadcast_to(a[0], (5, 3, 4)), np.asfortranarray(a), a[..., ::-1], a.astype(">f4")):
        np.testing.assert_array_equal(np.asarray(jnp.asarray(view)), view)
    assert jnp.asarray(np.float32(3)).shape == () and jnp.zeros((0, 3)).shape == (0, 3)
    unaligned = np.frombuffer(b"\0" + np.ones(3, np.float32).tobytes(), np.uint8)[1:].view(np.float32)
    assert jnp.asarray(unaligned).tolist() == [1, 1, 1]


@quick
@given(ARRAYS, ARRAYS)
def test_operators_are_those_of_numpy(a, b):
    x, y = jnp.asarray(a), np.float32(b.flat[0])
    for f in (lambda u, v: u + v, lambda u, v: u - v, lambda u, v: u * v, lambda u, v: v * u, lambda u, v: -u, lambda u, v: abs(u),
              lambda u, v: u ** 2, lambda u, v: u < v, lambda u, v: u >= v, lambda u, v: u == v, lambda u, v: u != v):
        got, want = np.asarray(f(x, y)), f(a, y)
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-6)


UNARY = ("abs ceil floor sign square exp expm1 sin cos tanh sinh cosh cbrt isfinite isnan sum mean max min prod argmax argmin cumsum ravel "
         "transpose std var squeeze sort argsort all any").split()


@pytest.mark.parametrize("name", UNARY)
@quick
@given(a=ARRAYS)
def test_functions_are_those_of_numpy(name, a):
    a = a / 8 if name == "prod" else a  # a product that overflows depends on the order of its factors
    kwargs = {"kind": "stable"} if name == "argsort" else {}
    got, want = np.asarray(getattr(jnp, name)(jnp.asarray(a))), getattr(np, name)(a, **kwargs)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


@quick
@given(ARRAYS, st.data())
def test_reductions_along_axes(a, data):
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    keep = data.draw(st.booleans())
    for name in ("sum", "mean", "max", "min"):
        np.testing.assert_allclose(np.asarray(getattr(jnp, name)(a, axis=axis, keepdims=keep)), getattr(np, name)(a, axis=axis, keepdims=keep),
                                   rtol=1e-5, atol=1e-5)
    stacked = np.asarray(jnp.stack([jnp.asarray(a), jnp.asarray(a)], axis=axis if axis >= 0 else 0))
    assert stacked.size == 2 * a.size


@quick
@given(hnp.arrays(np.float32, (3, 4, 2), elements=FLOATS), hnp.basic_indices((3, 4, 2), allow_newaxis=True))
def test_basic_indexing_is_that_of_numpy(a, key):
    np.testing.assert_array_equal(np.asarray(jnp.asarray(a)[key]), a[key])


KEYS = [(np.array([0, 2, 2]),), (np.array([[0], [1]]), np.array([1, 3])), (slice(None), np.array([1, -1])), (np.array([0, 1]), slice(1, 3), 0),
        (slice(None), np.array([0, 1]), np.array([1, 1])), (np.array([True, False, True]),), (Ellipsis, np.array([0, 1, 0])), ([0, 1],)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_advanced_indexing_is_that_of_numpy(key):
    a = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    np.testing.assert_array_equal(np.asarray(jnp.asarray(a)[key]), a[key])
    np.testing.assert_array_equal(np.asarray(bt.jit(lambda x: x[key])(a)), a[key])


@pytest.mark.parametrize("key", [0, -1, (slice(None), 1), (slice(0, 2), slice(None, None, 2)), np.array([0, 2])], ids=str)
def test_setting_gives_a_new_tensor(key):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    t = jnp.asarray(a)
    for name, op in (("set", lambda u, v: v), ("add", lambda u, v: u + v), ("multiply", lambda u, v: u * v), ("min", np.minimum), ("max", np.maximum)):
        want = a.copy()
        want[key] = op(a[key], 5.0)
        np.testing.assert_array_equal(np.asarray(getattr(t.at[key], name)(5.0)), want)
    assert np.array_equal(np.asarray(t), a)
    np.testing.assert_array_equal(np.asarray(bt.jit(lambda x: x.at[key].set(5.0))(a))[key], np.full_like(a[key], 5.0))


def test_products_and_movement():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    for got, want in ((jnp.asarray(a) @ b, a @ b), (a @ jnp.asarray(b), a @ b), (jnp.einsum("ij,jk->ki", a, b), np.einsum("ij,jk->ki", a, b)),
                      (jnp.outer(a[0], b[0]), np.outer(a[0], b[0])), (jnp.tensordot(a, b, 1), np.tensordot(a, b, 1)), (jnp.repeat(a, 2, 1), np.repeat(a, 2, 1)),
                      (jnp.tile(a, (2, 1)), np.tile(a, (2, 1))), (jnp.swapaxes(a, 0, 1), a.T), (jnp.concatenate([a, a], 1), np.concatenate([a, a], 1)),
                      (jnp.vstack([a[0], a[1]]), a), (jnp.where(a > 2, a, 0.0), np.where(a > 2, a, 0)), (jnp.clip(a, 1, 3), np.clip(a, 1, 3)),
                      (jnp.eye(3), np.eye(3)), (jnp.diag(a[0]), np.diag(a[0])), (jnp.arange(1, 7, 2), np.arange(1, 7, 2)), (jnp.linspace(0, 1, 5), np.linspace(0, 1, 5)),
                      (jnp.flip(a, 1), np.flip(a, 1)), (jnp.roll(a, 1), np.roll(a, 1)), (jnp.pad(a, [(1, 0), (0, 2)]), np.pad(a, [(1, 0), (0, 2)])),
                      (jnp.moveaxis(a, 0, 1), a.T), (jnp.split(a, 3, 1)[1], np.split(a, 3, 1)[1]), (jnp.linalg.norm(a), np.linalg.norm(a)), (jnp.take(a, np.array([0, 4])), np.take(a, [0, 4]))):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5)


A, B = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -0.75]], "f"), np.array([[2.0, 3.0, 0.5], [-1.5, 2.0, 4.0]], "f")
U = np.array([-0.9, 0.0, 0.3, 0.8], "f")
I, J = np.array([6, -7, 3], np.int32), np.array([4, 3, -2], np.int32)
CASES = {
    **{name: (A, B) for name in ("maximum minimum subtract divide true_divide fmod mod remainder arctan2 atan2 greater greater_equal less less_equal equal "
                                 "not_equal floor_divide logical_and logical_or logical_xor hstack").split()},
    **{name: (np.abs(A) + 1.0,) for name in "sqrt log log1p log2 exp2 reciprocal tan negative rint round arccosh arctan arcsinh amax amin cumprod ndim size isinf logical_not atleast_1d ones_like".split()},
    **{name: (U,) for name in "arcsin arccos arctanh tril triu nonzero unique".split()},
    **{name: (I, J) for name in "bitwise_and bitwise_or bitwise_xor".split()},
    "hstack": ([A, B],), "bitwise_not": (I,), "invert": (I,), "tril": (A,), "triu": (A,), "power": (np.abs(A), B), "reshape": (A, (3, 2)), "broadcast_to": (U, (2, 4)), "dot": (A, B.T),
    "full_like": (A, 7.0), "take_along_axis": (A, np.array([[0], [2]]), 1), "allclose": (A, A + 1e-9), "array_equal": (A, B), "meshgrid": (U, I), "astype": (A, "int32"),
}


@pytest.mark.parametrize("name", CASES)
def test_further_functions_are_those_of_numpy(name):
    want = CASES[name][0].astype("int32") if name == "astype" else getattr(np, name)(*CASES[name])
    got = getattr(jnp, name)(*CASES[name])
    for g, w in zip(*((x if isinstance(x, (tuple, list)) else [x]) for x in (got, want)), strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-5, atol=1e-6)


def test_running_extremes():
    assert jnp.cummax(np.array([1., 3., 2.], "f")).tolist() == [1, 3, 3] and jnp.cummin(np.array([3., 1., 2.], "f")).tolist() == [3, 1, 1]


DRAWS = {
    "normal": (lambda r, n: r.normal(2.0, 3.0, (n,)), 2.0, 3.0), "uniform": (lambda r, n: r.uniform(1.0, 3.0, (n,)), 2.0, 2 / 12 ** 0.5), "rand": (lambda r, n: r.rand(n), 0.5, 1 / 12 ** 0.5),
    "bernoulli": (lambda r, n: r.bernoulli(0.25, (n,)), 0.25, 0.1875 ** 0.5), "randint": (lambda r, n: r.randint(0, 4, (n,)), 1.5, 1.25 ** 0.5),
    "choice": (lambda r, n: r.choice(np.array([1., 5.], "f"), (n,)), 3.0, 2.0), "exponential": (lambda r, n: r.exponential(2.0, (n,)), 2.0, 2.0), "gamma": (lambda r, n: r.gamma(4.0, 1.0, (n,)), 4.0, 2.0),
    "truncated_normal": (lambda r, n: r.truncated_normal(-1.0, 1.0, (n,)), 0.0, 0.5396), "categorical": (lambda r, n: r.categorical(np.zeros((n, 3), "f")), 1.0, (2 / 3) ** 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_have_their_moments(name):
    draw, mean, std = DRAWS[name]
    bt.random.seed(3)
    values, n = np.asarray(draw(bt.random, 20000)).astype(float), 20000
    assert abs(values.mean() - mean) < 5 * std / n ** 0.5 and abs(values.std() - std) < 0.05 * std  # five standard errors
    bt.random.seed(3)
    np.testing.assert_array_equal(np.asarray(draw(bt.random, n)).astype(float), values)


def test_streams_of_random_numbers():
    assert sorted(bt.random.permutation(5).tolist()) == [0, 1, 2, 3, 4] and bt.random.split_key(3).shape == (3, 2) and bt.random.split_key().shape == (2,)
    bt.random.seed(1)
    first, second = bt.random.rand(2), bt.random.rand(2)
    bt.random.seed(1)
    bt.random.rand(2)
    with bt.random.seed_context(9):
        inside = bt.random.rand(2)
    np.testing.assert_array_equal(bt.random.rand(2), second)  # the stream continues
    assert inside.tolist() not in (first.tolist(), second.tolist())
    assert isinstance(bt.random.DEFAULT_STREAM, bt.random.RandomState)
    own = bt.RandomState(5)
    keys = own.next_key().tolist(), own.next_key().tolist()
    own.seed(5)
    assert keys[0] == own.next_key().tolist() != keys[1]


def test_numpy_functions_take_tensors():
    t = jnp.arange(4) * 1.0
    assert isinstance(np.exp(t), bt.Tensor) and isinstance(np.sum(t), bt.Tensor) and isinstance(np.ones(4, np.float32) + t, bt.Tensor)


def test_conversion_to_python():
    t = jnp.asarray([1.5])
    assert float(t[0]) == 1.5 and f"{t[0]:.2f}" == "1.50" and int(jnp.asarray(3)) == 3 and [10, 20, 30][jnp.asarray(1)] == 20
    assert len(jnp.zeros((3, 2))) == 3 and [r.shape for r in jnp.zeros((3, 2))] == [(2,)] * 3
    assert "Tensor(" in repr(t) and bool(jnp.asarray(True))
    with pytest.raises(ValueError):
        bool(jnp.ones(2))
    with pytest.raises(TypeError):
        len(jnp.asarray(1.0))


def test_copies():
    t = jnp.arange(3)
    assert pickle.loads(pickle.dumps(t)).tolist() == [0, 1, 2] and copy.deepcopy(t).tolist() == [0, 1, 2]


def test_bad_arrays_are_errors_with_words():
    for bad, error in ((np.array(["a"]), TypeError), (np.array([1j]), TypeError), (object(), TypeError), (np.array([object()]), TypeError),
                       (np.zeros(3, "V2"), TypeError), (np.zeros(3, [("a", "i2")]), TypeError), (np.array(["2026"], "M8[Y]"), TypeError),
                       ([1, "a"], TypeError), (np.array([2 ** 40]), ValueError), ("text", TypeError), (None, TypeError)):
        with pytest.raises(error):
            jnp.asarray(bad)
    for f, error in ((lambda: jnp.ones(2) + jnp.ones(3), ValueError), (lambda: jnp.ones(2)[2], IndexError), (lambda: jnp.ones(2)[1.0], TypeError),
                     (lambda: jnp.ones(2)["a"], TypeError), (lambda: jnp.ones(2)[0, 0], IndexError), (lambda: jnp.ones(2).reshape(3), ValueError),
                     (lambda: jnp.ones(2).astype("complex64"), TypeError), (lambda: jnp.zeros(-1), ValueError), (lambda: jnp.ones((2, 3)) @ jnp.ones((2, 3)), ValueError),
                     (lambda: jnp.nothing, AttributeError), (lambda: jnp.zeros("a"), TypeError)):
        with pytest.raises(error):
            f()


def test_integers_are_positions():
    x = jnp.arange(6).reshape(2, 3)
    assert jnp.take(x, 1, axis=0).tolist() == x.take(1).tolist() == [3, 4, 5] and bt.nn.one_hot(1, 3).tolist() == [0, 1, 0]
    assert jnp.take(x, 4).tolist() == 4
    with pytest.raises(bt.DTypeError, match="indices must be integers"):
        jnp.take(x, 1.0, axis=0)


def test_padding_as_numpy_writes_it():
    a = np.arange(4.0, dtype="f").reshape(2, 2)
    for width in (1, (1, 2), ((0, 1), (2, 0))):
        np.testing.assert_array_equal(jnp.pad(a, width, constant_values=5.0), np.pad(a, width, constant_values=5.0))
    with pytest.raises(ValueError, match="'constant', got 'edge'"):
        jnp.pad(a, 1, "edge")


def test_arrays_of_other_libraries_and_factors():
    a = np.array([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]], "f")
    assert jnp.from_dlpack(a).tolist() == a.tolist()
    with pytest.raises(TypeError, match="supports DLPack, got list"):
        jnp.from_dlpack([1.0])
    q, r = jnp.linalg.qr(a)
    np.testing.assert_allclose(q @ r, a, rtol=1e-5, atol=1e-6)
    with pytest.raises(bt.StateError, match="is being traced"):
        bt.jit(lambda x: jnp.linalg.qr(x)[0])(a)
