# SPDX-License-Identifier: Apache-2.0
"""NIR networks, and weights from files."""

import pathlib

import numpy as np
import pytest

import pybraintrace as bt

DATA = pathlib.Path(__file__).parents[2] / "tests/data"


@pytest.mark.parametrize("name, dt, tolerance", [("snntorch_recurrent", 0.1, 0), ("snntorch_conv", 0.1, 0), ("norse", None, 1e-5), ("all_nodes", None, 0)])
def test_recordings_are_answered_alike(name, dt, tolerance):
    net = bt.nir.load(DATA / f"nir/{name}.nir", dt=dt)
    assert isinstance(net, bt.nir.Net)
    recorded = np.load(DATA / f"nir/{name}.npz")
    step = bt.jit(net.model)
    for x, y in zip(recorded["x"], recorded["y"]):
        assert np.abs(np.asarray(step(x)) - y).max() <= tolerance


def test_a_network_of_snntorch_learns_online_and_goes_back(tmp_path):
    net = bt.nir.load(DATA / "nir/snntorch_recurrent.nir", dt=0.1)
    recorded = np.load(DATA / "nir/snntorch_recurrent.npz")
    learner = bt.compile(net.model, "D_RTRL", recorded["x"][0])
    grads = bt.grad(lambda x: ((learner(x) - 1) ** 2).mean(), net.model.states(bt.ParamState))
    states, total = net.model.states(bt.ParamState), 0.0
    for x in recorded["x"][:20]:
        for path, g in grads(x).items():
            value = states[path].value
            states[path].value = {k: v - 0.01 * g[k] for k, v in value.items()} if isinstance(value, dict) else value - 0.01 * g
            total += sum(float(bt.numpy.abs(v).sum()) for v in (g.values() if isinstance(g, dict) else [g]))
    assert total > 0
    bt.nir.save(tmp_path / "back.nir", net.description, net.model, [5])
    back = bt.nir.load(tmp_path / "back.nir")
    bt.nn.init_all_states(net.model)
    for x in recorded["x"]:
        assert np.array_equal(np.asarray(net.model(x)), np.asarray(back.model(x)))


def test_objects_of_the_package_nir():
    nir = pytest.importorskip("nir")
    graph = nir.read(DATA / "nir/norse.nir", type_check=False)
    net = bt.nir.from_graph(graph)
    back = bt.nir.to_graph(net.description, net.model, [4])
    assert [type(n).__name__ for n in back.nodes.values()].count("LIF") == 1
    weights = [n.weight for n in graph.nodes.values() if isinstance(n, nir.Affine)]
    for n in back.nodes.values():
        if isinstance(n, nir.Affine):
            assert any(n.weight.shape == w.shape and np.array_equal(n.weight, w) for w in weights)


def test_what_nir_cannot_say():
    description = '{"type": "gru", "n_in": 2, "n_rec": 3}'
    with pytest.raises(bt.UserError, match="gru"):
        bt.nir.save("never.nir", description, bt.build_model(description), [2])


def test_weights_by_path(tmp_path):
    description = '{"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 4}, {"name": "out", "type": "linear", "n_in": 4, "n_out": 2}]}'
    model, recorded = bt.build_model(description), np.load(DATA / "weights/gru.npz")
    assert len(bt.load_weights(model, DATA / "weights/gru.msgpack")["matched"]) == 8
    bt.nn.init_all_states(model)
    for x, y in zip(recorded["x"], recorded["y"]):
        assert np.allclose(np.asarray(model(x)), y, atol=1e-5)
    np.savez(tmp_path / "some.npz", **{"out.weight.bias": np.ones(2, np.float32), "other": np.ones(1)})
    with pytest.raises(bt.UserError, match="missing in the file"):
        bt.load_weights(model, tmp_path / "some.npz")
    report = bt.load_weights(model, tmp_path / "some.npz", strict=False)
    assert report["matched"] == ["out.weight.bias"] and report["unused"] == ["other"]


def test_delays_learn():
    layer = bt.nn.LearnableDelay(2, 5.0, delay=[1.0, 2.5], dt=1.0)
    bt.nn.init_all_states(layer)
    for t in range(6):
        y = np.asarray(layer(np.full(2, float(t))))
    assert np.allclose(y, [4.0, 2.5])
    grads = bt.grad(lambda x: layer(x).sum(), layer.states(bt.ParamState))(np.full(2, 6.0))
    assert np.allclose(np.asarray(grads["delay",]), [-1.0, -1.0])
