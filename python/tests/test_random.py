# SPDX-License-Identifier: Apache-2.0
"""Distributions, beside those of NumPy."""
import numpy as np
import pytest

import pybraintrace as bt

N = 20000
LEVELS = [0.01, 0.1, 0.5, 0.9, 0.99]


@pytest.mark.parametrize("name, args", [
    ("gumbel", (1.0, 2.0)), ("logistic", (1.0, 2.0)), ("laplace", (1.0, 2.0)), ("lognormal", (0.1, 0.5)), ("rayleigh", (2.0,)), ("weibull", (1.5,)), ("pareto", (5.0,)),
    ("chisquare", (4.0,)), ("standard_normal", ()), ("random_sample", ()), ("normal", (1.0, 2.0)), ("uniform", (-1.0, 2.0)), ("exponential", (2.0,)), ("gamma", (3.0, 2.0)), ("beta", (2.0, 3.0))])
def test_quantiles(name, args):
    ours = np.asarray(getattr(bt.random, name)(*args, size=N))
    theirs = getattr(np.random.default_rng(0), {"random_sample": "random"}.get(name, name))(*args, size=N)
    # The share of our numbers below a quantile of theirs: both are samples, so it differs by a few times sqrt(2 p (1 - p) / N).
    for p, q in zip(LEVELS, np.quantile(theirs, LEVELS)):
        assert abs((ours < q).mean() - p) < 5 * (2 * p * (1 - p) / N) ** 0.5, p
    assert ours.shape == (N,) and np.isfinite(ours).all() and len(np.unique(ours)) > 0.9 * N
    drawn = getattr(bt.random, name)(*args, size=(2, 3), key=7)
    assert drawn.shape == (2, 3) and drawn.tolist() == bt.jit(lambda: getattr(bt.random, name)(*args, size=(2, 3), key=7))().tolist()


def test_choices():
    counts = np.bincount(np.asarray(bt.random.choice(3, N, p=[0.2, 0.3, 0.5])))
    np.testing.assert_allclose(counts / N, [0.2, 0.3, 0.5], atol=0.02)
    assert sorted(bt.random.choice(5, 5, replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert sorted(bt.random.choice([1.0, 2.0, 3.0], 2, replace=False, p=[0.5, 0.5, 0.0]).tolist()) == [1.0, 2.0]
    first = [int(bt.random.choice(3, 1, replace=False, p=[0.1, 0.2, 0.7])[0]) for _ in range(500)]
    np.testing.assert_allclose(np.bincount(first) / 500, [0.1, 0.2, 0.7], atol=0.08)
    assert bt.jit(lambda: bt.random.choice(4, (2, 2), p=[0.1, 0.2, 0.3, 0.4]))().shape == (2, 2) and bt.random.choice(np.ones((3, 2), "f"), 4).shape == (4, 2)


def test_impossible_choices():
    for args, words in [((3, 5, False), "5 different elements cannot be drawn from 3"), ((3, 2, False, [1, 0, 0]), "cannot be drawn"), ((3, 2, True, [1, 2, 3]), "add up to 1"),
                        ((3, 2, True, [0.5, 0.5]), "3 probabilities"), ((2, 2, True, [-1, 2]), "probabilities")]:
        with pytest.raises(ValueError, match=words):
            bt.random.choice(*args)


def test_seeds_that_do_not_fit():
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match=rf"seed: expected an integer from 0 to 2\*\*64 - 1, got {wrong}"):
            bt.random.seed(wrong)
        with pytest.raises(ValueError, match="seed: expected"):
            bt.random.randn(2, key=wrong)
    with pytest.raises(TypeError):
        bt.random.seed("a")
    bt.random.seed(2**64 - 1)
