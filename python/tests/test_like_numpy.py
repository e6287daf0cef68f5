# SPDX-License-Identifier: Apache-2.0
"""What programs written for NumPy and JAX expect of arrays: the same numbers, or an error."""
import math

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

X = np.arange(1, 25, dtype="f").reshape(2, 3, 4)
I = np.arange(1, 5)


def same(ours, theirs):
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-5, atol=1e-6)


# Integers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", "ceil floor rint sqrt exp exp2 expm1 log log1p log2 sin cos tan sinh cosh tanh cbrt arctan arcsinh".split())
def test_functions_of_integers_are_floats(name):
    for x in (I, I % 2 > 0 if name[:3] != "log" else I, [1, 2], 2):
        same(getattr(jnp, name)(x), getattr(np, name)(np.asarray(x, "f")))
    assert getattr(jnp, name)(I).dtype == np.float32 and getattr(jnp, name)(np.ones(2, "f2")).dtype == np.float16
    same(bt.jit(getattr(jnp, name))(I), getattr(np, name)(I.astype("f")))


def test_quotients_of_integers_are_floats():
    for f, g in ((jnp.divide, np.divide), (jnp.true_divide, np.true_divide), (np.divide, np.divide), (jnp.arctan2, np.arctan2)):
        for a, b in ((I, I[::-1]), (I, 2), (3, I), (I, I > 2)):
            with np.errstate(divide="ignore"):
                same(f(jnp.asarray(a) if f is np.divide else a, b), g(a, b).astype("f"))
    same(jnp.linalg.norm(I), math.sqrt(30))
    assert jnp.reciprocal(np.array([2])).tolist() == [0.5] and (jnp.ones(2, "float16") / 3).dtype == np.float16


def test_norms_have_the_orders_of_numpy():
    for a, orders in ((X[0, 0], (None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf)), (X[0], (None, "fro", 1, -1, 2, -2, "nuc", np.inf, -np.inf))):
        for order in orders:
            for keepdims in (False, True):
                same(jnp.linalg.norm(a, order, keepdims=keepdims), np.linalg.norm(a, order, keepdims=keepdims))
    for order in (None, 0, 1, 3, np.inf):
        same(bt.jit(lambda x: jnp.linalg.norm(x, order, -1, True))(X), np.linalg.norm(X, order, -1, True))
    same(jnp.linalg.norm(X, 1, (2, 0)), np.linalg.norm(X, 1, (2, 0)))
    for order, error in (("nuc", ValueError), ("row", ValueError)):
        with pytest.raises(error):
            jnp.linalg.norm(X[0, 0] if order == "nuc" else X[0], order)
    with pytest.raises(bt.StateError, match="is being traced"):
        bt.jit(lambda x: jnp.linalg.norm(x, 2))(X[0])
    with pytest.raises(bt.ShapeError, match="one axis or two, got 3"):
        jnp.linalg.norm(X, 1)


def test_whole_quotients_go_with_remainders():
    rng = np.random.default_rng(0)
    for a, b in ((np.float32([1, 0.3, -1, -7, 1, 0]), np.float32([0.1, 0.1, 0.1, 2, np.inf, 3])), (100 * rng.normal(size=500).astype("f"), rng.normal(size=500).astype("f"))):
        assert (jnp.asarray(a) // b).tolist() == (a // b).tolist()
        same(divmod(jnp.asarray(a), b)[1], a % b)
    assert [int(v) for v in divmod(7, jnp.asarray(2))] == [3, 1] and (jnp.asarray([1.0]) // 0.0).tolist() == [np.inf]


def test_types_of_new_arrays():
    assert jnp.full(3, 5).dtype == np.int32 and jnp.full(3, 5.0).dtype == np.float32 and jnp.full(2, 5, "float32").dtype == np.float32
    assert jnp.arange(jnp.asarray(3)).dtype == np.int32 and jnp.arange(np.int64(1), np.array(4)).tolist() == [1, 2, 3] and jnp.arange(jnp.asarray(2.0)).dtype == np.float32
    assert jnp.round(I).tolist() == I.tolist() and jnp.round(17 * I, -1).tolist() == np.round(17 * I, -1).tolist()
    with bt.environ.context(precision=64):  # as float32, the sum is 0
        assert float(jnp.sum(np.array([1e9, 1.0, -1e9], "f"), dtype="float64")) == 1.0


def test_whole_floats_make_floats_of_integers():
    for y in (jnp.where(I > 2, I, 0.0), jnp.where(I > 2, 1.0, I), jnp.clip(I, 0.0, 3.0), jnp.clip(I, 0, 3.0), jnp.asarray(I).clip(max=3.0), jnp.where(I > 2, I > 3, 0.0),
              bt.jit(lambda i: jnp.where(i > 2, i, 0.0))(I), jnp.maximum(I, 0.0)):
        assert y.dtype == np.float32
    assert jnp.where(I > 2, I, 0).dtype == jnp.clip(I, 0, 3).dtype == np.int32 and jnp.where(I > 2, jnp.ones(4, "float16"), 0.0).dtype == np.float16


def test_functions_of_python_integers_are_integers():
    for f, args in ((jnp.abs, (-3,)), (jnp.sign, (-3,)), (jnp.square, (3,)), (jnp.add, (1, 2)), (jnp.multiply, (2, 3)), (jnp.maximum, (1, 2)), (jnp.mod, (-7, 3)), (jnp.power, (2, 3)),
                    (jnp.bitwise_and, (6, 3)), (jnp.bitwise_xor, (6, 3)), (jnp.floor_divide, (-7, 2)), (jnp.subtract, (1, 2))):
        assert f(*args).dtype == np.int32 and int(f(*args)) == getattr(np, f.__name__.rstrip("_") if f in (jnp.floor_divide, jnp.subtract) else
                                                                      next(n for n in dir(np) if getattr(jnp, n, None) is f))(*args)
    assert jnp.maximum(1, 2.0).dtype == jnp.fabs(-3).dtype == np.float32 and jnp.fabs(I).dtype == np.float32 and jnp.exp(1).dtype == np.float32
    assert jnp.maximum(1, jnp.ones(1, "float16")).dtype == np.float16 and float(bt.nn.relu(2)) == 2 and float(bt.nn.sigmoid(0)) == 0.5


def test_unsigned_integers_do_not_become_others():
    u = jnp.asarray(np.array([0, 5], "u4"))
    for f in (lambda: u + (-1), lambda: u == -1, lambda: jnp.where(u > 1, u, -1), lambda: jnp.asarray(-1, "uint32"), lambda: u + 2**33, lambda: u.at[0].set(-1)):
        with pytest.raises(bt.UserError, match="does not fit u32, which goes from 0 to 4294967295"):
            f()
    assert (u + 2**31).tolist() == [2**31, 2**31 + 5] and (u * 0.5).tolist() == [0, 2.5]


def test_axes_of_expand_dims_count_in_the_result():
    for axes in ((1, 0), (0, 1), (-1, 0), (3, 1), (-1, -2), (-4, 2), (2,), -1, 0):
        assert jnp.expand_dims(X[0], axes).shape == np.expand_dims(X[0], axes).shape
    assert jnp.bincount([1, 0, 1], [np.nan, np.inf, 2.0]).tolist()[0] == np.inf


def test_rounding_and_membership():
    assert jnp.asarray(I).round().tolist() == I.tolist() and jnp.asarray([1.26, -1.26]).round(1).tolist() == np.float32([1.3, -1.3]).tolist()
    assert bt.jit(lambda x: x.round(decimals=1))(np.float32([0.26])).tolist() == np.float32([0.3]).tolist()
    x = jnp.asarray(X)
    assert 3 in x and 99.0 not in x and X[0, 1] in x
    with pytest.raises(bt.StateError, match="is being traced"):
        bt.jit(lambda x: x * (1 in x))(X)


def test_means_keep_their_digits():
    assert float(jnp.mean(np.ones(70000, "f2"))) == 1 and float(jnp.var(np.array([256, 0], "f2"))) == 16384 and jnp.std(np.ones(3, "f2")).dtype == np.float16
    with bt.environ.context(precision=64):
        x = np.array([2**30 + 1, 2**30 + 3])
        assert float(jnp.mean(x)) == 2**30 + 2 and float(jnp.var(x)) == 1 and jnp.asarray(x).std().dtype == np.float64


def test_differences_of_bools_are_errors():
    b = jnp.asarray([True, False])
    for wrong in (lambda: b - b, lambda: b - True, lambda: -b, lambda: jnp.subtract(b, b), lambda: jnp.negative(b), lambda: np.subtract(np.ones(2, bool), b)):
        with pytest.raises(bt.DTypeError, match="bool"):
            wrong()
    assert (1 - b).tolist() == [0, 1] and jnp.subtract(1, b).tolist() == [0, 1] and (b - 0.5).tolist() == [0.5, -0.5] and jnp.negative(2).tolist() == -2


# Indices --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [
    (0, slice(None), [1, 2]), (1, ..., [0]), (slice(None), 0, [1]), ([0, 1], slice(None), [1, 2]), ([0], slice(None), 0), (..., [0, 1], 1), (0, None, [1, 2]),
    ([0, 1], 1, [1, 2]), (0, [1, 2], ..., [0, 1]), (np.array(1), slice(None), [0, 3]), (slice(None), [], 0), [], (0, slice(None), np.array([True, False, True, False]))], ids=repr)
def test_where_axes_of_indices_go(key):
    same(jnp.asarray(X)[key], X[key])
    same(bt.jit(lambda x: x[key])(X), X[key])
    changed = X.copy()
    changed[key] = 7
    same(jnp.asarray(X).at[key].set(7), changed)


def test_too_many_indices():
    for x, key in ((jnp.ones(()), (..., slice(1), np.array([False]), np.array([0]), -1)), (jnp.ones(2), (np.ones((2, 2), bool),)), (jnp.ones(2), (0, np.array([True])))):
        with pytest.raises(IndexError, match="too many indices"):
            x[key]
    with pytest.raises(IndexError, match="single bool"):
        jnp.ones(2)[True]


@pytest.mark.parametrize("name, at", [("add", np.add), ("multiply", np.multiply), ("divide", np.divide), ("min", np.minimum), ("max", np.maximum)])
def test_repeated_indices_accumulate(name, at):
    index, values = np.array([0, 0, 2, 0]), np.array([0.5, 3.0, 2.0, -4.0], "f")
    expected = np.ones(3, "f")
    at.at(expected, index, values)
    update = lambda x, i, v: getattr(x.at[i], name)(v)  # noqa: E731
    same(update(jnp.ones(3), index, values), expected)
    same(bt.jit(update)(np.ones(3, "f"), index, values), expected)
    same(bt.vmap(update, in_axes=(None, 0, None))(np.ones(3, "f"), index[None], values)[0], expected)
    rows = np.ones((3, 2), "f")
    at.at(rows, index, values[:, None])
    same(update(jnp.ones((3, 2)), index, values[:, None]), rows)


def test_negative_indices_are_taken_from_the_end():
    for indices in (-1, [-1, 0], np.array([[1, -2]])):
        same(jnp.take(X, indices, axis=1), np.take(X, indices, axis=1))
        same(jnp.asarray(X).take(np.asarray(indices), -1), np.take(X, indices, axis=-1))
        same(bt.jit(lambda x, i: jnp.take(x, i))(X, np.asarray(indices)), np.take(X, indices))
    for wrong in (-5, [4]):
        with pytest.raises(IndexError):
            jnp.take(I, wrong)


# Functions ------------------------------------------------------------------------------------------------------------


def test_repeats():
    for args in ((I, 2), (I, 0), (X, 2, 1), (X, [1, 0, 2], 1), (I, [0, 1, 2, 0]), (5, 3)):
        same(jnp.repeat(*args), np.repeat(*args))
    for reps in (2, 0, (2, 1), (0, 2), np.array([1, 2])):
        same(jnp.tile(I, reps), np.tile(I, reps))
    for wrong in (lambda: jnp.repeat(I, -1), lambda: jnp.tile(I, -1), lambda: jnp.repeat(X, 2, axis=5), lambda: jnp.swapaxes(X, 0, 7), lambda: jnp.hstack([])):
        with pytest.raises(ValueError, match="repeat|tile|swapaxes|hstack"):
            wrong()
    same(jnp.sort(X, axis=None), np.sort(X, axis=None))


def test_arguments_with_other_positions_in_numpy_are_passed_by_name():
    for name in "sum mean prod max min var std all any argmax argmin".split():
        with pytest.raises(TypeError, match="positional"):
            getattr(jnp, name)(X, 0, True)
        same(getattr(np, name)(jnp.asarray(X), 1, keepdims=True), getattr(np, name)(X, 1, keepdims=True))
    assert jnp.asarray([0.0, 2.0]).any() and not jnp.asarray([0, 2]).all()


def test_tolerances_that_are_tensors():
    assert jnp.allclose(X, X + 0.5, atol=jnp.asarray(1.0)) and not jnp.allclose(X, X + 0.5, rtol=jnp.asarray(0.0))
    assert jnp.pad(I, jnp.asarray([1, 2])).tolist() == [0, 1, 2, 3, 4, 0, 0]


# NumPy's functions and operators on tensors -----------------------------------------------------------------------------


def test_numpy_computes_what_the_package_lacks(tmp_path):
    x = jnp.asarray(X)
    for f in (np.median, np.diff, np.ptp, np.nanmean, lambda a: np.percentile(a, 50), lambda a: np.hypot(a, 2), lambda a: np.cov(a[0]), lambda a: np.linalg.norm(a),
              lambda a: np.linalg.norm(a[0], ord=1), lambda a: np.fft.rfft(a).real, lambda a: np.unique(a, return_counts=True)[1], lambda a: np.mean(a, axis=0, dtype="f8"),
              lambda a: np.sum(a, 0, "f8"), lambda a: np.tensordot(a, a, axes=([0, 1], [0, 1])), np.add.reduce, lambda a: np.multiply.outer(a, a), lambda a: np.modf(a)[1],
              lambda a: np.add(a, 1, where=a > 3, out=np.zeros(X.shape, "f")), lambda a: np.add(a, 1, dtype="f8"), lambda a: np.stack([a, 0 * X])):
        same(f(x), f(X))
    np.savez(tmp_path / "x.npz", x=x, rows=[x[0], x[1]])
    same(np.load(tmp_path / "x.npz")["x"], X)
    total = np.zeros_like(X)
    total += x
    total[0] -= x[0]
    np.add.at(total, 0, x[1])
    same(total, np.stack([X[1], X[1]]))


def test_numpy_does_not_compute_with_traced_tensors():
    for f in (np.nanmedian, lambda a: np.add(a, 1, dtype="f8"), lambda a: np.zeros(3, "f").__iadd__(a), np.add.reduce):
        with pytest.raises(bt.StateError, match="is being traced"):
            bt.jit(f)(np.ones(3, "f"))
    with pytest.raises(TypeError, match="dtype"):
        bt.jit(lambda a: np.max(a, dtype="f8"))(np.ones(3, "f"))
    same(bt.jit(np.linalg.norm)(I), math.sqrt(30))


def test_operators_of_other_classes_come_first():
    class Quantity:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "quantity"

    class Described:
        """Neither array nor number, and without operators."""

    assert jnp.ones(2) + Quantity() == "quantity"
    with pytest.raises(TypeError):
        np.hypot(jnp.ones(2), Described())


def test_tensors_are_not_changed_in_place():
    x = jnp.ones(3)
    with pytest.raises(TypeError, match=r"x.at\[key\].set\(value\)"):
        x[0] = 1
    with pytest.raises(TypeError, match=r"x.at\[key\].add|x.at\[key\].set"):
        x[0] += 1
    assert round(jnp.asarray(2.567), 1) == pytest.approx(2.6) and round(jnp.asarray(2.567)) == 3


# Names ----------------------------------------------------------------------------------------------------------------


def test_settings_of_any_name():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.τ, self.cell = 2.0, nn.GRUCell(3, 4)
            setattr(self, "time constant", "long")

        def update(self, x):
            return self.cell(x) * self.τ

    net = nn.init_all_states(Net())
    same(net(X[0, 0, :3]), 2 * nn.init_all_states(net.cell)(X[0, 0, :3]))
    assert "cell=" in repr(net) and bt.compile(net, "D_RTRL", X[0, 0, :3]).is_compiled

    class Greek(nn.Module):
        def __init__(self):
            super().__init__()
            self.λ = nn.Linear(3, 2)

    with pytest.raises(bt.UserError, match="a to z"):
        Greek().states()


def test_keys_of_any_size():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = {10**30: nn.Linear(3, 2), 2: nn.Linear(3, 2)}

    assert list(Net().states()) == [("parts", 2, "weight"), ("parts", 10**30, "weight")]


# Functions composed of others -----------------------------------------------------------------------------------------

M = np.array([[3.0, -1.5, 0.0], [2.5, 7.0, -4.0], [1.0, 1.0, 9.0]], "f")
V = np.array([-2.0, -0.5, 0.0, 0.5, 3.0], "f")
N = np.array([1.0, np.nan, -3.0, np.inf, 2.0], "f")

COMPOSED = [
    ("append", V, I), ("append", M, M, 0), ("array_split", V, 3), ("array_split", M, 2, 1), ("array_split", V, [1, 3]), ("atleast_2d", V), ("atleast_2d", 3.0),
    ("average", M), ("average", M, 0), ("average", M, 1, np.float32([1, 2, 3])), ("average", I, 0, I), ("bincount", np.array([0, 3, 3, 1])), ("bincount", I, V[:4]),
    ("bincount", np.array([1, 0]), None, 4), ("broadcast_arrays", V, 1.0), ("column_stack", (V, V)), ("column_stack", (M, M)), ("copysign", V, -V), ("copysign", I, -0.0),
    ("corrcoef", M), ("count_nonzero", M), ("count_nonzero", M, 0), ("cov", M), ("cov", V), ("cross", M, M[::-1]), ("deg2rad", V),
    ("degrees", V), ("diagonal", M), ("diagonal", X, 1, 1, 2), ("diagonal", X, -1), ("diff", V), ("diff", M, 2, 0), ("diff", I), ("diff", V > 0), ("digitize", V, [-1.0, 0.0, 1.0]),
    ("digitize", V, [-1.0, 0.0, 1.0], True), ("dstack", (M, M)), ("dstack", (V, V)), ("fliplr", M), ("flipud", M), ("fmax", N, 1.5), ("fmin", N, 1.5), ("heaviside", V, 0.5),
    ("hypot", V, 2 * V), ("hypot", np.float32([3e30, 0]), np.float32([4e30, 0])), ("hypot", 3, I), ("identity", 3), ("inner", M, V[:3]), ("inner", V, V), ("inner", 2.0, V),
    ("interp", np.float32([-9, 0.2, 2.5, 99]), V, V ** 2), ("isclose", V, V + np.float32([0, 1e-7, 1e-9, 1e-3, 0])), ("isclose", N, N), ("isclose", N, N, 1e-5, 1e-8, True),
    ("isin", I, [2, 4]), ("isin", M, V), ("kron", M, V), ("kron", V, M), ("kron", M, M), ("log10", I), ("logaddexp", V, -V), ("logaddexp", -np.inf, V), ("logspace", 0, 2, 5),
    ("median", M), ("median", M, 0), ("median", V), ("median", N), ("nan_to_num", N), ("nan_to_num", -N), ("nan_to_num", I), ("nanmax", N), ("nanmean", np.where(N == np.inf, 0, N)), ("nanmin", N),
    ("nansum", np.where(N == np.inf, 0, N)), ("percentile", M, [0, 30, 100], 1), ("permute_dims", X, (2, 0, 1)), ("polyval", [2.0, -1.0, 3.0], V), ("positive", V), ("ptp", M), ("ptp", M, 1),
    ("quantile", M, 0.3), ("quantile", M, [[0.25], [1.0]], 0), ("rad2deg", V), ("radians", V), ("rot90", M), ("rot90", X, 3), ("rot90", M, -2), ("searchsorted", V, [-0.5, 0.1, 9.0]),
    ("searchsorted", V, -0.5, "right"), ("select", [V < 0, V > 1], [V, 2 * V]), ("select", [V < 0, V < 1], [V, 2 * V], 7.0), ("signbit", np.float32([-0.0, 0.0, -1, np.inf, -np.inf])),
    ("signbit", -I), ("sinc", V), ("trace", M), ("trace", X, 1, 1, 2), ("tri", 3), ("tri", 2, 4, 1), ("tril_indices", 3), ("triu_indices", 3, 1), ("trunc", 1.7 * V), ("trunc", I),
    ("vdot", M, M),
]


@pytest.mark.parametrize("name, args", [(c[0], c[1:]) for c in COMPOSED], ids=[f"{i}-{c[0]}" for i, c in enumerate(COMPOSED)])
def test_composed_functions_have_the_numbers_of_numpy(name, args):
    ours, theirs = getattr(jnp, name), getattr(np, name, None) or np.transpose
    with np.errstate(all="ignore"):
        want = theirs(*args)
    got = ours(*args)
    if name in ("array_split", "broadcast_arrays", "tril_indices", "triu_indices"):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            same(a, b)
        return
    same(got, want)
    assert got.dtype.kind == np.asarray(want).dtype.kind or name in ("trunc", "identity", "tri")
    if name not in ("bincount",) and isinstance(args[0], np.ndarray):  # the same inside a traced function
        same(bt.jit(lambda x: ours(x, *args[1:]))(args[0]), want)


def test_reduced_axes_can_be_kept():
    for name in ("average", "count_nonzero"):
        for axis in (None, 0, 1):
            same(getattr(jnp, name)(M, axis, keepdims=True), getattr(np, name)(M, axis, keepdims=True))
    same(jnp.average(M, 1, V[:3], keepdims=True), np.average(M, 1, V[:3], keepdims=True))


def test_names_of_the_array_standard():
    for short, long in (("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"), ("acosh", "arccosh"), ("atanh", "arctanh")):
        x = np.float32([0.1, 0.7]) + (short == "acosh")
        same(getattr(jnp, short)(x), getattr(np, long)(x))
    same(jnp.pow(V, 2), V**2)


def test_composed_functions_have_gradients():
    for name in ("hypot", "logaddexp", "copysign"):
        assert np.isfinite(bt.grad(lambda x: getattr(jnp, name)(x, jnp.asarray(V)).sum())(jnp.asarray(V))).all(), name
    for name in ("sinc", "nan_to_num", "trunc", "median", "nansum", "cov", "diff", "nanmean"):
        assert np.isfinite(bt.grad(lambda x: getattr(jnp, name)(x).sum())(jnp.asarray(V))).all(), name
    same(bt.grad(lambda x: jnp.quantile(x, 0.25))(jnp.asarray(V)), [0, 1, 0, 0, 0])
    for name in ("cov", "corrcoef"):
        same(getattr(jnp, name)(M[:, :2], rowvar=False), getattr(np, name)(M[:, :2], rowvar=False))
    same(jnp.nan_to_num(-N, nan=5.0, posinf=1.0, neginf=-7.0), [-1, 5, 3, -7, -2])
    same(bt.jit(lambda x: jnp.bincount(x, length=3))(np.array([0, 2, 2, 7])), [1, 0, 2])


def test_methods_of_tensors_as_in_numpy():
    x = jnp.asarray(X)
    same(x.swapaxes(0, 2), X.swapaxes(0, 2)), same(x.repeat(2, 1), X.repeat(2, 1)), same(x.diagonal(1, 1, 2), X.diagonal(1, 1, 2))
    same(x.trace(), X.trace()), same(x.mT, X.swapaxes(1, 2)), same(jnp.asarray(M).mT, M.T)
    v = jnp.asarray(V)
    same(v.at[[0, 0]].subtract(1.0), V - np.float32([2, 0, 0, 0, 0])), same(v.at[3:].power(2), [-2, -0.5, 0, 0.25, 9])
    same(v.at[v < 0].apply(jnp.exp), np.where(V < 0, np.exp(V), V)), same(v.at[1].subtract(V[4]), [-2, -3.5, 0, 0.5, 3])


def test_composed_functions_say_what_is_wrong():
    for call, words in ((lambda: jnp.quantile(V, 2), "0 … 1"), (lambda: jnp.median([]), "at least one element"), (lambda: jnp.bincount([-1]), "negative"),
                        (lambda: jnp.diff(V, -1), "negative"), (lambda: jnp.searchsorted(V, 1, "middle"), "'left' or 'right'"), (lambda: jnp.cross(V, V), "three elements"),
                        (lambda: jnp.array_split(V, 0), "positive"), (lambda: jnp.select([V > 0], []), "as many choices"), (lambda: jnp.diagonal(M, axis2=5), "axis 5")):
        with pytest.raises(ValueError, match=words):
            call()
