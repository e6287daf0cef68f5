# SPDX-License-Identifier: Apache-2.0
"""Random numbers from a global seeded stream, or from explicit keys. They do not depend on the number of threads.

>>> from pybraintrace import random
>>> random.seed(1)
>>> a = random.randn(3); random.seed(1)
>>> bool((a == random.randn(3)).all())
True
"""

from __future__ import annotations

from contextlib import contextmanager
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from ._core import RandomState, Tensor
from .units import magnitude

_ops = _core.ops
seed = _ops.seed


def _key(key: Any) -> Any:
    return _ops.next_key() if key is None else PRNGKey(key) if isinstance(key, int) else key


def PRNGKey(seed: int) -> Tensor:
    """Return the key of a seed."""
    return _ops.random_key(seed)


key = PRNGKey


def split_key(n: int | None = None) -> Tensor:
    """Return a fresh key of the global stream, or `n` keys."""
    return _ops.next_key() if n is None else _ops.split_key(_ops.next_key(), n)


def split(key: Any, num: int = 2) -> Tensor:
    """Derive `num` new keys from a key."""
    return _ops.split_key(key, num)


@contextmanager
def seed_context(value: int) -> Iterator[None]:
    """Context manager that seeds the global stream, and restores it afterwards."""
    before = DEFAULT_STREAM.value
    seed(value)
    try:
        yield
    finally:
        DEFAULT_STREAM.value = before


def randn(*shape: int, key: Any = None, dtype: Any = None) -> Tensor:
    """Draw from the standard normal distribution."""
    return _ops.random_normal(_key(key), shape, dtype)


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = (), key: Any = None, dtype: Any = None) -> Tensor:
    """Draw from a normal distribution.

    Args:
        loc: mean.
        scale: standard deviation.
        size: shape of the result.
        key: key or seed; default: the global stream.
        dtype: element type; default: the default float type.
    """
    return _ops.random_normal(_key(key), () if size is None else size, dtype) * magnitude(scale) + magnitude(loc)


def rand(*shape: int, key: Any = None, dtype: Any = None) -> Tensor:
    """Draw uniformly from [0, 1)."""
    return _ops.random_uniform(_key(key), shape, 0.0, 1.0, dtype)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = (), key: Any = None, dtype: Any = None) -> Tensor:
    """Draw uniformly from [low, high)."""
    return _ops.random_uniform(_key(key), () if size is None else size, magnitude(low), magnitude(high), dtype)


def bernoulli(p: Any = 0.5, size: Any = None, key: Any = None) -> Tensor:
    """Draw booleans that are true with probability p."""
    if not (isinstance(p, Tensor) and p.is_traced) and not ((0 <= np.asarray(p)) & (np.asarray(p) <= 1)).all():
        raise ValueError(f"bernoulli: expected probabilities from 0 to 1, got {p}")
    return _ops.random_bernoulli(_key(key), p, size)


def randint(low: int, high: int | None = None, size: Any = (), key: Any = None) -> Tensor:
    """Draw integers uniformly from [low, high), or from [0, low) if `high` is None."""
    low, high = (0, low) if high is None else (low, high)
    return _ops.random_randint(_key(key), () if size is None else size, low, high)


def categorical(logits: Any, key: Any = None) -> Tensor:
    """Draw indices with probabilities softmax(logits) along the last axis."""
    return _ops.random_categorical(_key(key), logits)


def permutation(x: Any, key: Any = None) -> Tensor:
    """Permute range(x) for an integer x, or the rows of x."""
    return _ops.random_permutation(_key(key), x)


def choice(a: Any, size: Any = (), key: Any = None) -> Tensor:
    """Draw elements of `a` with replacement, or integers below `a`."""
    n = a if isinstance(a, int) else len(a)
    drawn = randint(0, n, size, key)
    return drawn if isinstance(a, int) else _ops.asarray(a)[drawn]


def exponential(scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from an exponential distribution."""
    return _ops.random_exponential(_key(key), size) * scale


def gamma(shape: float, scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a gamma distribution."""
    return _ops.random_gamma(_key(key), shape, size) * scale


def beta(a: float, b: float, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a beta distribution."""
    first, second = split(_key(key))
    x, y = gamma(a, size=size, key=first), gamma(b, size=size, key=second)
    return x / (x + y)


def truncated_normal(lower: float, upper: float, size: Any = (), loc: Any = 0.0, scale: Any = 1.0, key: Any = None) -> Tensor:
    """Draw from a normal distribution, truncated to [lower, upper] standard deviations."""
    return _ops.random_truncated_normal(_key(key), lower, upper, size) * scale + loc


DEFAULT_STREAM = _ops.default_stream()
