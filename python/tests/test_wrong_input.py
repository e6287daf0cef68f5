# SPDX-License-Identifier: Apache-2.0
"""Invalid input raises a Python exception that says what to do: no crash, no silence."""
import asyncio

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

X = np.ones(3, "f")
CELLS = ["ValinaRNNCell", "GRUCell", "MGUCell", "LSTMCell", "URLSTMCell", "MinimalRNNCell", "MiniGRU", "MiniLSTM", "CFNCell"]


@pytest.mark.parametrize("name", [*CELLS, "Linear", "SignedWLinear", "ScaledWSLinear"])
def test_sizes_are_positive(name):
    layer = getattr(nn, name)
    for sizes in [(0, 2), (-1, 4), (2, 0), (4, -1)]:
        with pytest.raises(bt.UserError, match=f"{name}: .*must be positive"):
            layer(*sizes)
    for sizes in [((), 2), (2, ())]:
        with pytest.raises(bt.UserError, match=r"\(\)"):
            layer(*sizes)
    with pytest.raises(bt.UserError, match="GB of memory"):
        layer(2**62, 2)
    assert layer(np.int64(1), np.int32(1)).in_size == (1,) if hasattr(layer, "in_size") else layer(np.int64(1), np.int32(1))


def same(x):
    cell = nn.init_all_states(CELL)
    return np.array_equal(cell(x), nn.init_all_states(CELL)(X))


CELL = nn.GRUCell(3, 4)


def test_arrays_of_every_layout():
    class Subclass(np.ndarray):
        pass

    read_only = X.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + X.tobytes(), "u1")[1:].view("f4")
    for x in (np.asfortranarray(np.ones((2, 3), "f"))[0], X[::-1], np.ones(6, "f")[::2], read_only, X.astype("f8"), X.astype(">f4"), X.astype("f2"), X.astype(int),
              X.view(Subclass), unaligned, np.broadcast_to(np.float32(1), (3,)), np.ma.masked_array(X, [0, 0, 0])):
        assert same(x)
    assert float(jnp.asarray(np.array(2.0)) + 1) == 3


@pytest.mark.parametrize("wrong", [np.zeros(3, [("a", "f4")]), np.array([1, None, 2], object), np.array(["a"]), np.array(["2020-01-01"], "M8[D]"), np.ones(3, complex),
                                   "text", {1, 2}, (i for i in range(3)), np.ma.masked_array([1.0, 2], [0, 1]), np.array([2**63], np.uint64), np.array([2**40])],
                         ids=lambda w: type(w).__name__ + str(getattr(w, "dtype", "")))
def test_what_no_tensor_can_be(wrong):
    with pytest.raises((TypeError, bt.UserError)):
        jnp.asarray(wrong)
    with pytest.raises((TypeError, bt.UserError)):
        CELL(wrong)


def test_whole_numbers_that_do_not_fit():
    for use in (lambda: jnp.asarray(2**40), lambda: jnp.arange(2) + 2**40, lambda: 2**40 * jnp.arange(2), lambda: jnp.arange(2) == 2**40, lambda: jnp.full((2,), -2**31 - 1, "int32")):
        with pytest.raises(ValueError, match="does not fit i32"):
            use()
    assert (jnp.arange(2) + (2**31 - 2)).tolist() == [2**31 - 2, 2**31 - 1] and (jnp.ones(1) + 2**40).tolist() == [2.0**40]


def test_masks_have_the_shape_of_what_they_choose_from():
    x = jnp.arange(6).reshape(2, 3)
    for key in (np.array([True, False, True]), np.ones((3, 2), bool), (0, np.ones(2, bool)), (..., np.ones(2, bool)), (np.ones((2, 2), bool), ...)):
        with pytest.raises(IndexError, match="mask"):
            x[key]
    assert x[..., np.array([True, False, True])].tolist() == [[0, 2], [3, 5]] and x[None, np.array([False, True])].tolist() == [[[3, 4, 5]]] and x[x > 3].tolist() == [4, 5]


def test_losses_that_are_none():
    with pytest.raises(bt.UserError, match="returns no tensor; return a floating-point scalar"):
        bt.grad(lambda x: None)(1.0)


def test_a_constructor_that_forgets_its_base():
    class Net(nn.Module):
        def __init__(self):
            self.cell = nn.GRUCell(3, 4)

    with pytest.raises(TypeError, match=r"Net: .*super\(\).__init__\(\)"):
        Net()


def test_a_step_is_an_update():
    for base in (nn.Module, nn.GRUCell):
        with pytest.raises(TypeError, match="Net: learners .* call `update`"):
            type("Net", (base,), {"__call__": lambda self, x: x})
    step = lambda self, x: 2 * x  # noqa: E731
    assert type("Net", (nn.Module,), {"update": step, "__call__": step})()(X).tolist() == [2.0] * 3


def test_statics():
    class NoHash:
        def __hash__(self):
            raise RuntimeError("no hash today")

    with pytest.raises(TypeError, match="NoHash cannot be hashed: no hash today. "):
        bt.jit(lambda a, b: a, static_argnums=1)(X, NoHash())
    with pytest.raises(TypeError, match="static_argnames"):
        bt.jit(lambda a: a, static_argnums="a")


def test_texts():
    for text in ("\ud800", "D\0RTRL", "x" * 10**6, ""):
        with pytest.raises((TypeError, bt.UserError)):
            bt.compile(nn.GRUCell(3, 4), text, X)
    with pytest.raises(ValueError, match="64, 32, 16"):
        bt.environ.set(precision=7)
    with pytest.raises(TypeError, match="batch_size"):
        bt.compile(nn.GRUCell(3, 4), "D_RTRL", X, batch_size=2.0)
    with pytest.raises(TypeError, match="nn.Module"):
        bt.D_RTRL(None)


def test_files_take_models(tmp_path):
    a, b = nn.Linear(3, 2), nn.Linear(3, 2)
    bt.save(tmp_path / "w.safetensors", a)
    bt.load(tmp_path / "w.safetensors", b)
    assert a(X).tolist() == b(X).tolist()
    with pytest.raises(bt.FileError):
        bt.save(tmp_path / "nowhere" / "w.safetensors", a)


def test_settings_of_tasks_do_not_mix():
    async def inside(dt):
        with bt.environ.context(dt=dt):
            await asyncio.sleep(0)
            return bt.environ.get_dt()

    async def both():
        return await asyncio.gather(inside(1.0), inside(2.0), return_exceptions=True)

    first, second = asyncio.run(both())
    assert first == 1.0 and isinstance(second, bt.StateError) and "await" in str(second)
    assert asyncio.run(inside(3.0)) == 3.0 and bt.environ.get("dt", None) is None


def test_settings_that_are_left_in_another_order():
    def inside(dt):
        with bt.environ.context(dt=dt):
            yield

    one, two = inside(1.0), inside(2.0)
    next(one), next(two)
    one.close()
    assert bt.environ.get_dt() == 2.0
    layer = nn.init_all_states(nn.LIF(1))  # reads the library's own setting
    assert layer(np.ones(1, "f")).shape == (1,)
    two.close()
    assert bt.environ.get("dt", None) is None
    with pytest.raises(bt.UserError, match="dt is read but was never set"):
        nn.init_all_states(nn.LIF(1))(np.ones(1, "f"))


@pytest.mark.parametrize("chunk_size", [1.5, "some", [2]])
def test_a_window_that_is_no_number_of_steps(chunk_size):
    learner = bt.compile(nn.GRUCell(2, 3), "D_RTRL", np.zeros(2, "f"))
    with pytest.raises(TypeError, match="chunk_size to be a number of steps or 'all', got"):
        learner.etrace_grad(np.zeros((4, 2), "f"), step_fn=lambda x: learner(x).sum(), chunk_size=chunk_size)
    for right in (2, np.int64(2), "all"):
        assert learner.etrace_grad(np.zeros((4, 2), "f"), step_fn=lambda x: learner(x).sum(), chunk_size=right)[1].shape == (4,)


@pytest.mark.parametrize("error, wrong", [
    (bt.UnknownNameError, lambda: bt.compile(nn.GRUCell(2, 3), "D_RTLR", np.zeros(2, "f"))),
    (bt.UnknownNameError, lambda: nn.GRUCell(2, 3, activation="tahn")), (bt.UnknownNameError, lambda: nn.Linear(2, 3, w_init="foo")),
    (bt.UnknownNameError, lambda: bt.set_default_backend("gpu")), (bt.ShapeError, lambda: nn.Linear(2, 3)(X)), (bt.ShapeError, lambda: nn.LayerNorm(2)(X)),
    (bt.ShapeError, lambda: bt.metric.mse(X, X[:2])),
    (bt.DTypeError, lambda: bt.metric.softmax_cross_entropy_with_integer_labels(X, np.float32(1)))])
def test_kinds_of_errors(error, wrong):
    with pytest.raises(error):
        wrong()


def test_numbers_that_would_be_ignored():
    for wrong in (lambda: bt.surrogate.ReluGrad(1, 2, 3), lambda: bt.surrogate.ReluGrad(0.3, alpha=0.5)):
        with pytest.raises(TypeError, match="ReluGrad: expected each of .* at most once"):
            wrong()
    for p in (1.5, -0.1, float("nan"), np.array([0.5, 2.0])):
        with pytest.raises(ValueError, match="probabilities from 0 to 1"):
            bt.random.bernoulli(p)
    assert bt.jit(lambda p: bt.random.bernoulli(p, (2,)))(1.0).tolist() == [True, True]


def test_weights_drawn_inside_a_trace():
    with pytest.raises(bt.StateError, match="Create and initialize the model before you call jit"):
        bt.jit(lambda x: nn.Linear(3, 2)(x))(X)


def test_sizes_that_nothing_can_have():
    for wrong, words in ((lambda: nn.RMSNorm(-1), "not be negative"), (lambda: nn.RMSNorm(0), "RMSNorm: .*positive"), (lambda: nn.BatchNorm1d(-2**63), "not be negative"),
                         (lambda: nn.PReLU(-3), "not be negative"), (lambda: bt.init.Normal()((2, -1)), "not be negative"), (lambda: jnp.arange(2**63), "too many to hold"),
                         (lambda: jnp.arange(1e300), "too many to hold"), (lambda: bt.init.Gamma(float("inf")), "gamma: .*finite")):
        with pytest.raises(bt.UserError, match=words):
            wrong()


def test_results_that_fit_no_memory():
    with pytest.raises(MemoryError, match="not enough memory"):
        jnp.ones(2**46).numpy()  # more than the address space of a process


def test_file_names_with_any_byte():
    for name in ("\0", "a\0b"):
        for use in (bt.load, bt.save):
            with pytest.raises(bt.FileError, match="zero byte"):
                use(name, nn.Linear(2, 2))


def test_arguments_that_are_nothing_known():
    wrong = [(lambda: bt.pure_callback(3, X, X), "expected a function, got 3"), (lambda: bt.pure_callback(lambda x: x, "f4", X), "result_shape_dtypes .* got 'f4'"),
             (lambda: bt.save("file", X), "expected a model, or states"), (lambda: nn.SparseLinear("matrix"), "CSR or COO .* got 'matrix'"),
             (lambda: bt.optim.Adam("fast"), "learning rate .* got 'fast'"), (lambda: bt.compile(nn.GRUCell(3, 4), "pp_prop", X, decay_or_rank="a"), "decay_or_rank: .* got 'a'"),
             (lambda: bt.nir.from_graph({}), "expected a nir.NIRGraph")]
    for use, words in wrong:
        with pytest.raises(TypeError, match=words):
            use()
    with pytest.raises(bt.UserError, match="rank 1099511627776 is out of range"):
        bt.compile(nn.GRUCell(3, 4), "pp_prop", X, decay_or_rank=2**40)
    assert bt.compile(nn.GRUCell(3, 4), "pp_prop", X, decay_or_rank=np.int64(2)).is_compiled


def test_sparse_matrices_of_other_formats():
    class Matrix:
        shape, format, data, indptr, indices = (3, 3), "csc", np.ones(2, "f"), np.array([0, 2, 2, 2]), np.array([1, 2])

    with pytest.raises(bt.UserError, match=r"'csc'; convert it with tocsr\(\)"):
        nn.SparseLinear(Matrix())
    Matrix.format = "csr"
    assert nn.SparseLinear(Matrix())(X).tolist() == [0, 1, 1]
    Matrix.shape = (3,)
    with pytest.raises(bt.ShapeError, match="two axes"):
        nn.SparseLinear(Matrix())


def test_numbers_in_configurations():
    layers = [{"name": "rnn", "type": "gru", "n_in": np.int64(6), "n_rec": 4}, {"name": "out", "type": "linear", "n_in": 4, "n_out": 6}]
    task = {"type": "copy", "lag": np.int32(2), "count": jnp.asarray(2), "symbols": 4}
    config = {"model": {"type": "chain", "layers": layers}, "rule": "D_RTRL", "steps": np.int64(1), "task": task}
    assert bt.Trainer(config).run() == "finished" and bt.tasks.Task(task).length > 0
    for wrong in (float("nan"), lambda: 1, b"2"):
        with pytest.raises((TypeError, ValueError), match="Trainer: expected a dict of finite numbers"):
            bt.Trainer({**config, "steps": wrong})
    with pytest.raises(TypeError, match="Task: expected a dict"):
        bt.tasks.Task({"type": object()})


@pytest.mark.parametrize("name", ["AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "AvgPool2d", "MaxPool2d"])
def test_sizes_of_windows(name):
    for sizes in ((), (2, 2, 2)):
        with pytest.raises(bt.UserError, match="needs 1 or 2 entries"):
            getattr(nn, name)(sizes)
    x = np.ones((4, 4, 1), "f")
    assert getattr(nn, name)(2)(x).tolist() == getattr(nn, name)((2, 2))(x).tolist()


@pytest.mark.parametrize("name", ["ValinaRNNCell", "GRUCell", "MGUCell", "LSTMCell", "URLSTMCell", "MinimalRNNCell", "CFNCell"])
def test_batches_of_inputs_and_states(name):
    cell = nn.init_all_states(getattr(nn, name)(3, 4), 2)
    for x in (X, np.ones((5, 3), "f")):
        with pytest.raises(bt.ShapeError, match="batch axes differ.*\n.*init_all_states"):
            cell(x)
    assert cell(np.ones((2, 3), "f")).shape == (2, 4) and nn.init_all_states(cell)(np.ones((5, 3), "f")).shape == (5, 4)


def test_leaves_of_states():
    layer = nn.Linear(3, 2)
    with pytest.raises(bt.UserError, match="weight.* holds a dict of .*weight.*; got one array"):
        layer.weight.value = X
    with pytest.raises(bt.UserError, match="got a value for 'scale'"):
        layer.weight.value = {"scale": X}
    with pytest.raises(bt.UserError, match="holds one array; got a value for 'h'"):
        nn.init_all_states(CELL).h.value = {"h": X}


def test_numbers_of_inputs_and_axes():
    cell = nn.init_all_states(nn.GRUCell(3, 4))
    with pytest.raises(bt.UserError, match="takes one input, got 3.*pass an array"):
        cell([1.0, 2.0, 3.0])
    with pytest.raises(bt.ShapeError, match="axis 0 does not exist: a scalar has no axes"):
        bt.vmap(lambda x: x)(1.0)
    with pytest.raises(bt.UserError, match="1 positional argument[.]"):
        bt.grad(lambda x: x, argnums=3)(1.0)
