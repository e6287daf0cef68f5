# SPDX-License-Identifier: Apache-2.0
"""Runs from a configuration: predictions, evaluation, tasks, streams, gradient checks."""
import json
import subprocess
import sys

import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import nn, numpy as jnp, tasks

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def run(tmp_path):
    """A short run on a file of recordings, and its checkpoint."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=40)
    inputs = rng.normal(size=(40, 6, 3)).astype("f") + labels[:, None, None]
    np.savez(tmp_path / "data.npz", inputs=inputs, targets=labels)
    layers = [{"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 8}, {"name": "out", "type": "linear", "n_in": 8, "n_out": 2}]
    trainer = bt.Trainer({"model": {"type": "chain", "layers": layers}, "rule": "D_RTRL", "steps": 20, "batch": 8, "seed": 3,
                          "optimizer": {"type": "adam", "lr": 0.02}, "task": {"type": "npz", "file": str(tmp_path / "data.npz"), "validation": 0.25}})
    assert trainer.run() == "finished"
    trainer.save(tmp_path / "now.safetensors")
    return trainer, tmp_path


def test_the_progress_bar_of_a_run_is_closed(monkeypatch, capsys):
    import tqdm.auto

    closed = []
    monkeypatch.setattr(tqdm.auto.tqdm, "close", lambda self, close=tqdm.auto.tqdm.close: (closed.append(self.n), close(self)))
    layers = [{"name": "rnn", "type": "gru", "n_in": 6, "n_rec": 4}, {"name": "out", "type": "linear", "n_in": 4, "n_out": 6}]
    trainer = bt.Trainer({"model": {"type": "chain", "layers": layers}, "rule": "D_RTRL", "steps": 3, "task": {"type": "copy", "lag": 1, "count": 1, "symbols": 4}})
    assert trainer.run(progress=True) == "finished" and closed == [3] and "3/3" in capsys.readouterr().err


def test_a_checkpoint_answers_as_the_command_line_does(run):
    trainer, folder = run
    answers = bt.Trainer.from_checkpoint(folder / "now.safetensors").predict()
    assert isinstance(answers, bt.Predictions) and len(answers) == len(answers.samples) == len(answers.targets) == len(answers.steps)
    np.testing.assert_array_equal(answers.classes, answers.outputs.argmax(-1))
    np.testing.assert_allclose(answers.probabilities.sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(trainer.predict("validation").outputs, answers.outputs)
    subprocess.run([sys.executable, "-m", "pybraintrace", "predict", str(folder / "now.safetensors"), "-o", str(folder / "told.npz")], check=True, capture_output=True, timeout=120)
    told = np.load(folder / "told.npz")
    for name in ("samples", "steps", "outputs", "targets", "classes"):
        np.testing.assert_array_equal(told[name], getattr(answers, name))
    answers.save(folder / "answers.csv")
    assert len((folder / "answers.csv").read_text().splitlines()) == len(answers) + 1
    with pytest.raises(bt.UserError, match="'tests'.*train, validation or test"):
        trainer.predict("tests")
    with pytest.raises(bt.UserError):
        trainer.predict("test")  # the data do not have this part


def test_a_checkpoint_is_judged_as_by_the_command_line(run):
    trainer, folder = run
    judged = bt.Trainer.from_checkpoint(folder / "now.safetensors").evaluate()
    assert judged["loss"] == pytest.approx(trainer.validate(0)[0]) and np.sum(judged["confusion"]) == 10
    told = subprocess.run([sys.executable, "-m", "pybraintrace", "eval", str(folder / "now.safetensors"), "--json"], check=True, capture_output=True, text=True, timeout=120)
    told = json.loads(told.stdout)
    assert {k: told[k] for k in judged} == judged and judged["baselines"]
    with pytest.raises(bt.FileError):
        bt.Trainer.from_checkpoint(folder / "nothing.safetensors")


def test_another_file_takes_the_place_of_the_test_part(run):
    _, folder = run
    np.savez(folder / "new.npz", inputs=np.ones((4, 6, 3), "f"), targets=np.ones(4, int))
    trainer = bt.Trainer.from_checkpoint(folder / "now.safetensors", data=folder / "new.npz")
    assert len(set(trainer.predict("test").samples.tolist())) == 4 and trainer.evaluate("test")["loss"] > 0


def test_tasks_give_batches():
    assert {"copy", "npz"} < set(tasks.task_types())
    task = tasks.Task({"type": "copy", "lag": 3, "count": 2, "symbols": 4}, seed=1)
    batch = task.batch("train", 0, 8)
    again = tasks.Task(json.dumps({"type": "copy", "lag": 3, "count": 2, "symbols": 4}), seed=1).batch("train", 0, 8)
    assert isinstance(batch, tasks.Batch) and batch.inputs.shape == (task.length, 8, *task.input_shape) and batch.mask.shape == batch.targets.shape
    assert all(np.array_equal(a, b) for a, b in zip(batch, again))
    assert task.has_classes and batch.targets.max() < task.outputs and task.samples("train") == 0 and task.class_names == [] and "<svg" in task._repr_svg_()
    for wrong in (lambda: tasks.Task({"type": "cop"}), lambda: tasks.Task({"type": "copy", "lga": 3}), lambda: task.batch("training", 0, 8), lambda: task.batch("train", 0, 0)):
        with pytest.raises(bt.UserError):
            wrong()


def test_numbers_become_spikes_and_come_back():
    values = np.array([0.0, 0.25, 1.0], "f")
    np.testing.assert_allclose(tasks.latency_values(tasks.latency_spikes(values, 9)), values, atol=1 / 16)
    assert tasks.poisson_spikes(values, 400, seed=2).mean(0) == pytest.approx([0, 0.25, 1], abs=0.1)
    signal = np.cumsum(np.random.default_rng(0).normal(size=(50, 2)), 0).astype("f")
    events = tasks.delta_events(signal, 0.5)
    assert events.shape == (50, 2, 2) and np.abs(tasks.delta_signal(events, signal[0], 0.5) - signal).max() <= 0.5


def test_a_stream_learns_and_goes_on_from_its_file(tmp_path):
    def stream():
        bt.random.seed(1)
        return bt.OnlineStream(nn.Sequential(nn.GRUCell(2, 6), nn.Linear(6, 1)), jnp.zeros(2), lr=0.05, optimizer={"type": "adam"})

    xs = np.random.default_rng(0).normal(size=(80, 2)).astype("f")
    ys = xs.sum(-1, keepdims=True)
    one = stream()
    losses = [one.learn(x, y)[1] for x, y in zip(xs[:60], ys)]
    assert np.mean(losses[-20:]) < 0.7 * np.mean(losses[:20]) and one.records == 60
    one.save(tmp_path / "stream.safetensors")
    other = stream()
    other.load(tmp_path / "stream.safetensors")
    assert other.records == 60
    assert [one.learn(x, y)[1] for x, y in zip(xs[60:], ys[60:])] == [other.learn(x, y)[1] for x, y in zip(xs[60:], ys[60:])]
    assert one.predict(xs[0]).tolist() != one.predict(xs[0]).tolist()  # states advance
    one.reset(), other.reset()
    assert one.predict(xs[0]).tolist() == other.predict(xs[0]).tolist()
    with pytest.raises(bt.UserError, match="mse or cross_entropy"):
        bt.OnlineStream(nn.Linear(2, 1), jnp.zeros(2), loss="l2")


def test_gradients_are_checked():
    model = nn.init_all_states(nn.ValinaRNNCell(2, 3, activation="tanh"))
    xs = np.random.default_rng(0).normal(size=(5, 2)).astype("f")
    check = bt.check_grad(model, lambda y, t: (y ** 2).mean() * (1 + t), xs)
    assert isinstance(check, bt.GradCheck) and check.passed and check.rules == ["D_RTRL"] and json.loads(check.to_json()) and "finite" in repr(check)
    assert {p["name"] for p in check.parameters} == {"W.weight.weight", "W.weight.bias"} and all(p["rtrl"]["digits"] >= 6 for p in check.parameters)

    @bt.custom_vjp
    def wrong(x):
        return x * x

    wrong.defvjp(lambda x: (x * x, x), lambda x, g: (g * x,))  # half of the correct derivative

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.ValinaRNNCell(2, 3, activation="tanh")

        def update(self, x):
            return wrong(self.cell(x))

    assert not bt.check_grad(nn.init_all_states(Net()), lambda y, t: y.sum(), xs).passed
    with pytest.raises(TypeError, match="function"):
        bt.check_grad(model, 3.0, xs)
