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
