# SPDX-License-Identifier: Apache-2.0
"""Behavior of the package: docstrings, warnings, threads, fork, garbage collection, interrupts, environments without a compiler."""
import doctest
import gc
import importlib
import importlib.util
import multiprocessing
import os
import pathlib
import pkgutil
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

MODULES = ["pybraintrace"] + [f"pybraintrace.{m.name}" for m in pkgutil.iter_modules(bt.__path__) if not m.name.startswith(("_", "compat"))] + ["pybraintrace.compat"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == "pybraintrace._core" and name == "pybraintrace":
                runner = doctest.DocTestRunner()
                for test in doctest.DocTestFinder(recurse=False).find(value, globs={}):
                    assert runner.run(test).failed == 0
    assert result.failed == 0


def test_every_public_name_has_words():
    without = []
    for name in MODULES:
        module = importlib.import_module(name)
        for key in getattr(module, "__all__", [k for k in vars(module) if not k.startswith("_")]):
            value = getattr(module, key)
            if callable(value) and getattr(value, "__module__", "").startswith("pybraintrace") and not (value.__doc__ or "").strip():
                without.append(f"{name}.{key}")
    assert not without


def run(code, **environment):
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, timeout=120, env=env)


def test_warnings_go_through_warnings_at_the_users_line():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.out = nn.GRUCell(2, 3), nn.Linear(3, 1)

        def update(self, x):
            return self.out(self.rnn(x))

    with pytest.warns(UserWarning, match="out.weight") as seen:
        bt.compile(Net(), "D_RTRL", jnp.zeros(2))
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            bt.compile(Net(), "D_RTRL", jnp.zeros(2))


def test_without_a_compiler_it_warns_and_interprets(tmp_path):
    done = run("import pybraintrace as bt, numpy as np; print(float(bt.jit(lambda x: (x * 2).sum())(np.ones(3, 'f'))))", PATH=str(tmp_path), BRAINTRACE_CC="",
               BRAINTRACE_CACHE_DIR=str(tmp_path), BRAINTRACE_BACKEND="")
    assert done.returncode == 0 and done.stdout.strip() == "6.0", done.stderr


def test_the_compiler_of_ziglang_is_taken_where_there_is_no_other(tmp_path, monkeypatch):
    from pybraintrace import _compiler

    (tmp_path / "ziglang.py").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BRAINTRACE_CC", "")
    monkeypatch.syspath_prepend(tmp_path)
    _compiler.choose()
    assert os.environ["BRAINTRACE_CC"].endswith("-m ziglang cc")


def test_ziglang_compiles_where_there_is_no_other_compiler(tmp_path):
    folder = pathlib.Path(__file__).resolve().parents[2] / "build" / "python" / "ziglang"  # kept between runs, because it is large
    if not (folder / "ziglang").exists():
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(folder), "ziglang"], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"ziglang cannot be installed: {done.stderr.strip()[-300:]}")
    code = "import os, pybraintrace as bt, numpy as np; print(os.environ['BRAINTRACE_CC'][-13:], bt.default_backend(), float(bt.jit(lambda x: (x * 2).sum())(np.ones(3, 'f'))))"
    done = run(code, PATH=str(tmp_path), PYTHONPATH=str(folder), BRAINTRACE_CC="", BRAINTRACE_BACKEND="", BRAINTRACE_CACHE_DIR=str(tmp_path), ZIG_GLOBAL_CACHE_DIR=str(folder / "cache"))
    assert done.stdout.split() == ["-m", "ziglang", "cc", "cpu", "6.0"], done.stderr[-500:]
    assert list(tmp_path.glob("*.so"))


def test_threads_run_programs_at_the_same_time():
    f = bt.jit(lambda x: bt.for_loop(lambda r: jnp.tanh(r @ jnp.ones((8, 8))).sum(), x).sum())
    x = np.ones((50, 8), "f")
    expected, errors = float(f(x)), []

    def work():
        try:
            for _ in range(20):
                own = bt.jit(lambda v: v * 2)
                assert float(f(x)) == expected and own(np.ones(2, "f")).tolist() == [2, 2]
                counter = nn.init_all_states(nn.GRUCell(2, 2))
                counter(np.ones(2, "f"))
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        gc.collect()
        time.sleep(0.01)
    assert not errors


def _in_child(x):
    return float(bt.jit(lambda v: (v * 3).sum())(np.full(2, x, "f")))


def test_fork_after_running_programs():
    assert float(bt.jit(lambda x: (jnp.ones((64, 64)) @ x).sum())(np.ones((64, 64), "f"))) > 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_in_child, [1, 2, 3]) == [6, 12, 18]


def test_threads_fork_and_garbage_at_the_same_time():
    code = """
import gc, os, signal, threading, time
import numpy as np, pybraintrace as bt
from pybraintrace import nn, numpy as jnp

stop, errors = threading.Event(), []

def work():
    try:
        while not stop.is_set():  # objects that are created, run, and left in reference cycles
            model = nn.init_all_states(nn.GRUCell(3, 4))
            learner = bt.compile(model, 'D_RTRL', jnp.zeros(3))
            step = bt.jit(bt.grad(lambda x: (learner(x) ** 2).sum(), model.states(bt.ParamState)))
            step(np.ones(3, 'f')), step(np.ones(3, 'f'))
    except BaseException as error:
        errors.append(error)

threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads:
    t.start()
statuses, end = [], time.monotonic() + 3
while time.monotonic() < end and not any(statuses):
    gc.collect()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits forever
        os._exit(0 if float(bt.jit(lambda v: (v * 3).sum())(np.full(2, 2, 'f'))) == 12 else 3)
    statuses.append(os.waitpid(child, 0)[1])
stop.set()
for t in threads:
    t.join()
print(len(statuses) > 3, any(statuses), errors)
"""
    for backend in ("reference", "cpu"):
        done = run(code, BRAINTRACE_BACKEND=backend)
        assert done.stdout.split() == ["True", "False", "[]"], done.stdout + done.stderr[-500:]


def test_garbage_is_collected():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(2, 2)
            self.step = bt.jit(self.run)

        def run(self, x):
            return self(x)

        def update(self, x):
            return self.cell(x)

    net = nn.init_all_states(Net())
    net.step(np.ones(2, "f"))
    gone = weakref.ref(net)
    array = np.ones(3, "f")
    tensor, alive = jnp.asarray(array), weakref.ref(array)
    del net, array
    gc.collect()
    assert gone() is None and alive() is not None
    del tensor
    gc.collect()
    for _ in range(100):  # references are dropped at the next safe point
        if alive() is None:
            break
        time.sleep(0.001)
    assert alive() is None
    argument = np.ones(3, "f")
    alive, double = weakref.ref(argument), bt.jit(lambda x: x * 2)
    double(argument)
    del argument  # a finished call keeps no references
    assert alive() is None


def test_interrupt_between_pieces():
    code = """
import os, signal, threading, time
import numpy as np, pybraintrace as bt
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell started the tests in the background
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    bt.for_loop(lambda x: (time.sleep(0), x)[1], np.ones((200000, 4), 'f'), pbar=bt.progress.ProgressBar(freq=1))
    print('finished')
except KeyboardInterrupt:
    print('interrupted')
"""
    done = run(code)
    assert done.returncode == 0 and done.stdout.strip() == "interrupted", done.stderr[-500:]


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_interrupt_stops_a_program_and_leaves_states_as_they_were(backend):
    """Most of these calls have no end of their own."""
    code = """
import os, signal, threading
import numpy as np, pybraintrace as bt
signal.signal(signal.SIGINT, signal.default_int_handler)
count = bt.LongTermState(0.0)

def count_up(_):
    count.value += 1.0
    return 0.0

def endless():
    return bt.while_loop(lambda x: x < 1, count_up, 0.0)

def interrupted(f):
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        f()
    except KeyboardInterrupt:
        return True

jitted = bt.jit(endless)
print(interrupted(jitted), float(count.value))
print(interrupted(endless), float(count.value))
print(interrupted(jitted), float(count.value))

cell = bt.nn.ValinaRNNCell(2, 3)
bt.nn.init_all_states(cell)
learner = bt.D_RTRL(cell)
learner.compile_graph(np.ones(2, 'f'))
before = np.array(cell.h.value)
windows = np.ones((1000000, 2), 'f')  # minutes, outside of a jitted function
print(interrupted(lambda: learner.etrace_grad(windows, step_fn=lambda x: learner(x).sum(), chunk_size=4)), (before == cell.h.value).all())
"""
    done = run(code, BRAINTRACE_BACKEND=backend)
    assert done.stdout.split("\n") == ["True 0.0", "True 0.0", "True 0.0", "True True", ""], (done.stdout, done.stderr[-800:])


def test_an_interrupt_during_compilation_stops_the_program(tmp_path):
    """Python notes the signal long before the program runs, and would raise only after its end."""
    slow = tmp_path / "slow_cc"
    slow.write_text('#!/bin/sh\nsleep 1\nexec cc "$@"\n')
    slow.chmod(0o755)
    code = """
import os, signal, threading
import pybraintrace as bt
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    bt.jit(lambda start: bt.while_loop(lambda x: x < 1, lambda x: x * 1, start))(0.0)
except KeyboardInterrupt:
    print("stopped")
"""
    done = run(code, BRAINTRACE_BACKEND="cpu", BRAINTRACE_CC=str(slow), BRAINTRACE_CACHE_DIR=str(tmp_path))
    assert done.stdout == "stopped\n", (done.stdout, done.stderr[-800:])


def test_a_handler_of_the_user_does_not_stop_programs():
    code = """
import os, signal, threading
import pybraintrace as bt
hits = []
signal.signal(signal.SIGINT, lambda *_: hits.append(1))
threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
count = bt.jit(lambda n: bt.while_loop(lambda x: x < n, lambda x: x + 1, 0.0))
print(float(count(3e5)), hits)
"""
    done = run(code, BRAINTRACE_BACKEND="reference")
    assert done.stdout == "300000.0 [1]\n", (done.stdout, done.stderr[-500:])


def test_the_end_of_the_interpreter_is_quiet():
    code = """
import threading, numpy as np, pybraintrace as bt
f = bt.jit(lambda x: bt.for_loop(lambda r: (r @ r).sum(), x))
f(np.ones((2, 4, 4), 'f'))
t = threading.Thread(target=lambda: [f(np.ones((2, 4, 4), 'f')) for _ in range(100000)], daemon=True)
t.start()
"""
    done = run(code)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "leaked" not in done.stderr, done.stderr[-500:]


def test_the_end_does_not_wait_for_a_long_program():
    code = """
import threading, time, numpy as np, pybraintrace as bt
f, started = bt.jit(lambda x: bt.while_loop(lambda v: v[0] < x, lambda v: (v[0] + 1, v[1] * 1.0001), (0.0, 1.0))[1]), threading.Event()

def work():
    f(1.0), started.set(), f(1e8)  # minutes in the interpreter
    print('it ended')

threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.1)
"""
    done = run(code, BRAINTRACE_BACKEND="reference")
    assert done.returncode == 0 and not done.stdout and "Traceback" not in done.stderr, done.stderr[-500:]


def test_all_names_are_listed():
    """Type checkers need a literal list."""
    assert {n for n, v in vars(bt).items() if not n.startswith("_") and not isinstance(v, type(bt))} <= set(bt.__all__) <= set(vars(bt))


def test_import_is_light():
    code = "import sys, numpy; before = set(sys.modules); import pybraintrace; print([m for m in ('jax', 'scipy', 'matplotlib', 'pandas', 'tqdm', 'torch', 'html', 'json', 'shutil') if m in sys.modules and m not in before])"
    assert run(code).stdout.strip() == "[]"


def test_command_line():
    done = subprocess.run([sys.executable, "-m", "pybraintrace", "info"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "version" in done.stdout, done.stderr
    assert subprocess.run([sys.executable, "-m", "pybraintrace", "nothing"], capture_output=True, timeout=60).returncode == 2
    closed = subprocess.run(["sh", "-c", '"$0" -m pybraintrace info >&-', sys.executable], capture_output=True, text=True, timeout=60)
    assert closed.returncode == 2 and closed.stderr.startswith("error: the output could not be written"), closed.stderr


def test_backends():
    assert bt.backends()["reference"] == "" and {"cpu", "cuda"} < set(bt.backends())
    before, f = bt.default_backend(), bt.jit(lambda x: x * 2)
    for name in ("cpu", "reference"):
        with bt.backend_scope(name):
            assert bt.default_backend() == name and f(np.ones(2, "f")).tolist() == [2, 2]
        bt.set_default_backend(name)
        assert bt.default_backend() == name and f(np.ones(2, "f")).tolist() == [2, 2]
    for wrong in (lambda: bt.set_default_backend("nothing"), lambda: bt.backend_scope("nothing").__enter__(), lambda: bt.set_product_precision("f8")):
        with pytest.raises(bt.UserError):
            wrong()
    if problem := bt.backends()["cuda"]:
        with bt.backend_scope("cuda"), pytest.raises(bt.StateError, match="cuda"):
            f(np.ones(2, "f"))
        assert "cuda" in problem
    bt.set_product_precision("tf32")
    assert bt.product_precision() == "tf32" and bt.default_backend() == "reference"
    bt.set_product_precision("f32")
    bt.set_default_backend(before)


def test_pages_and_settings():
    assert "<iframe" in bt.display.framed("<p>&amp;</p>") and "&lt;b&gt;" in bt.display.as_text("<b>")
    assert bt.environ.get_precision() == 32 and bt.environ.dftype() == np.float32 and bt.environ.ditype() == np.int32
    assert bt.progress.in_pieces(lambda part: part[0] * 2, (np.arange(5, dtype="f"),), bt.progress.ProgressBar(freq=2)).tolist() == [0, 2, 4, 6, 8]
    leaves, structure = bt.tree.flatten({"a": 1, "b": (2, 3)})
    assert isinstance(structure, bt.tree.TreeDef) and bt.tree.unflatten(structure, leaves) == {"a": 1, "b": (2, 3)} and bt.tree.reduce(lambda a, b: a + b, {"a": 1, "b": 2}) == 3


def test_objects_show_what_they_are():
    model = nn.init_all_states(nn.GRUCell(2, 3))
    learner, step = bt.D_RTRL(model), bt.jit(max)
    assert repr(learner) == "<D_RTRL of GRUCell, not compiled>"
    assert repr(learner.compile_graph(jnp.zeros(2))) == "<D_RTRL of GRUCell, compiled>"
    assert repr(bt.optim.Adam(1e-3)) == "Adam(0.001)" and repr(bt.optim.SGD(lr=bt.optim.StepLR(0.1, 3))) == "SGD(lr=StepLR(0.1, 3))"
    assert repr(bt.optim.Schedule(0.5)) and repr(bt.optim.ReduceLROnPlateau(0.1, patience=2)) == "ReduceLROnPlateau(0.1, patience=2)"
    assert repr(step) == "<jitted max>" and repr(bt.MultiStepData(2.0)) == "MultiStepData(2.0)"
    assert repr(bt.tasks.Task({"type": "copy", "lag": 3}, 1)) == "Task({'type': 'copy', 'lag': 3}, seed=1)"
    stream = bt.OnlineStream(model, jnp.zeros(2))
    stream.learn(jnp.zeros(2), jnp.zeros(3))
    assert repr(stream) == "<OnlineStream after 1 records>"


def test_types_are_checked(tmp_path):
    code = """
import numpy as np
import pybraintrace as bt

def loss(x: bt.Tensor) -> bt.Tensor:
    return (x ** 2).sum()

cell: bt.nn.Module = bt._core.layers.GRUCell(2, 3)
value: bt.Tensor = bt.numpy.zeros(3) + 1.0
shape: tuple[int, ...] = value.shape
"""
    (tmp_path / "user.py").write_text(code)
    stubs = (pathlib.Path(__file__).resolve().parents[1] / "pybraintrace").rglob("*.pyi")
    kept = pathlib.Path(__file__).resolve().parents[2] / "build" / "python" / "mypy"  # kept between runs, because NumPy is large
    # compile_graph of a learner returns the learner, that of the extension None: mypy rejects the override.
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "--follow-imports=silent", "--disable-error-code=override", "--cache-dir", str(kept),
                           str(tmp_path / "user.py"), *map(str, stubs)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_a_program_of_a_user_passes_the_strict_check(tmp_path):
    """Results of models and graphs are used without casts."""
    code = """
import numpy as np
import pybraintrace as bt
from pybraintrace import nn, numpy as jnp

class Net(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.rnn, self.out = nn.GRUCell(3, n, activation="tanh"), nn.Linear(n, 2, w_init=bt.init.KaimingNormal(2.0))
        self.h = bt.ShortTermState(jnp.zeros(n))

    def update(self, x: bt.Tensor) -> bt.Tensor:
        self.h.value = jnp.tanh(self.rnn(x))
        out: bt.Tensor = self.out(self.h.value)
        return out[0:2].T @ jnp.ones((2, 2))

learner: bt.OnlineLearner = bt.compile(Net(4), "D_RTRL", np.zeros(3, "f"), batch_size=None)
optimizer = bt.optim.Adam(bt.optim.StepLR(0.1, 10))
weights = learner.model.states(bt.ParamState)
optimizer.register_trainable_weights(weights)

@bt.jit
def step(x: bt.Tensor) -> bt.Tensor:
    grads, loss = bt.grad(lambda: bt.metric.mse(learner(x), jnp.zeros(2)), weights, return_value=True)()
    optimizer.update(grads)
    return bt.nn.relu(loss)

value: float = float(step(np.ones(3, "f"))) + step(np.ones(3, "f")).item()
grads, losses = learner.etrace_grad(np.ones((5, 3), "f"), step_fn=lambda x: (learner(x) ** 2).mean())
paths: list[tuple[str | int, ...]] = [r.weight_path for r in learner.graph.hidden_param_op_relations if r.hidden_groups[0].index == 0]
wrong: int = jnp.zeros(2)  # type: ignore[assignment]
"""
    (tmp_path / "user.py").write_text(code)
    kept = pathlib.Path(__file__).resolve().parents[2] / "build" / "python" / "mypy"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(kept), str(tmp_path / "user.py")],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


def test_a_subinterpreter_cannot_import_it():
    code = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import pybraintrace
other = interpreters.create()
run = getattr(interpreters, "run_string", None) or interpreters.exec
try:
    failed = run(other, "import pybraintrace")
except interpreters.RunFailedError as error:
    failed = error
print(failed)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "main interpreter only" in done.stdout, done.stdout + done.stderr


def test_the_extension_is_loaded_once():
    script = """
import sys, importlib, pybraintrace
importlib.reload(pybraintrace).jit(lambda x: x + 1)(1.0)
for name in [m for m in sys.modules if m.startswith("pybraintrace")]:
    del sys.modules[name]
try:
    import pybraintrace
except ImportError as error:
    print(error, error.__cause__)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "loaded once in a process" in done.stdout, done.stdout + done.stderr[-1000:]
