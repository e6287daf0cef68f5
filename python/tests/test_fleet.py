# SPDX-License-Identifier: Apache-2.0
"""Fleets: members equal single learners bit by bit; adding, removing, saving."""

import numpy as np
import pytest

import pybraintrace as bt


def network():
    bt.random.seed(3)
    return bt.nn.Sequential(bt.nn.GRUCell(3, 4), bt.nn.Linear(4, 2))


def test_members_compute_the_bits_of_single_learners():
    fleet = bt.Fleet(network(), np.zeros(3), rule="D_RTRL", optimizer="sgd", lr=0.1)
    model = network()
    learner = bt.compile(model, "D_RTRL", bt.numpy.zeros(3))
    optimizer = bt.optim.SGD(0.1)
    weights = model.states(bt.ParamState)
    optimizer.register_trainable_weights(weights)

    @bt.jit
    def step(x, y):
        grads, loss, out = bt.grad(lambda: (lambda o: (bt.metric.squared_error(o, y).mean(), o))(learner(x)), weights, has_aux=True,
                                   return_value=True)()
        optimizer.update(grads)
        return loss, out

    draw = np.random.default_rng(0)
    for t in range(5):
        x, y = draw.normal(size=(2, 3)), draw.normal(size=(2, 2))
        got = fleet.learn(["a", t], x, y)
        loss, out = step(x[0], y[0])
        assert np.array_equal(got.predictions[0], out), t
    assert len(fleet) == 6 and "a" in fleet and 4 in fleet and fleet.records("a") == 5


def test_several_records_at_once_make_the_bits_of_calls_in_turn():
    at_once, in_turn = (bt.Fleet(network(), np.zeros(3), optimizer="sgd", lr=0.1, guard=True) for _ in range(2))
    for fleet in (at_once, in_turn):
        fleet.add("a"), fleet.add("b")
    draw = np.random.default_rng(0)
    x, y = draw.normal(size=(2, 4, 3)), draw.normal(size=(2, 4, 2))
    y[1, 2] = 3e38
    got = at_once.learn(None, x, y)
    for t in range(4):
        want = in_turn.learn("ab", x[:, t], y[:, t])
        assert np.array_equal(np.asarray(got.predictions)[:, t], want.predictions), t
        assert [place for place, why in want.undone] == [1] * (t == 2)
    assert [place for place, why in got.undone] == [(1, 2)] and at_once.records("b") == 3
    assert np.array_equal(np.asarray(at_once.predict(None, x).predictions)[:, 0], in_turn.predict(None, x[:, 0]).predictions)


def test_members_are_saved_loaded_and_removed(tmp_path):
    fleet = bt.Fleet(network(), np.zeros(3), optimizer={"type": "sgd", "momentum": 0.9}, most=3)
    x, y = np.ones((2, 3)), np.zeros((2, 2))
    fleet.learn("ab", x, y)
    fleet.save(tmp_path / "all")
    fleet.save_member("a", tmp_path / "a")
    want = fleet.learn("a", x[:1], y[:1]).predictions
    fleet.load(tmp_path / "all")
    assert np.array_equal(fleet.learn("a", x[:1], y[:1]).predictions, want)
    fleet.load_member("c", tmp_path / "a")
    assert fleet.ids == ["a", "b", "c"]
    assert np.array_equal(fleet.learn("c", x[:1], y[:1]).predictions, want)
    with pytest.raises(bt.UserError, match="at most 3"):
        fleet.add("d")
    with pytest.raises(bt.UserError, match="named twice"):
        fleet.learn("aa", x, y)
    fleet.remove("a")
    assert fleet.ids == ["c", "b"]
    assert not np.array_equal(fleet.predict("b", x[:1]).predictions, fleet.predict("b", x[:1]).predictions)  # states advance
    fleet.reset("b")
    assert fleet.bytes_per_member > 0 and repr(fleet) == "Fleet of 2 members"


def test_a_guarded_fleet_undoes_what_spoils_a_member():
    fleet = bt.Fleet(network(), np.zeros(3), optimizer="sgd", guard=True)
    answers = fleet.learn("ab", np.ones((2, 3)), np.array([[0, 0], [3e38, 0]]))
    assert isinstance(answers, bt.fleet.Answers) and np.isfinite(answers.losses[0])
    assert [row for row, why in answers.undone] == [1] and fleet.records("b") == 0 and fleet.records("a") == 1
