# SPDX-License-Identifier: Apache-2.0
"""Random numbers from a global seeded stream, or from explicit keys. They do not depend on the number of threads.

>>> from pybraintrace import random
>>> random.seed(1)
>>> a = random.randn(3); random.seed(1)
>>> bool((a == random.randn(3)).all())
True
"""

from __future__ import annotations

import operator
from contextlib import contextmanager
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from ._core import RandomState, Tensor
from .units import magnitude

_ops = _core.ops


def _checked(seed: Any) -> int:
    number = operator.index(seed)
    if not 0 <= number < 2 ** 64:
        raise ValueError(f"seed: expected an integer from 0 to 2**64 - 1, got {number}")
    return number


def seed(seed: int) -> None:
    """Seed the global stream."""
    _ops.seed(_checked(seed))


def _key(key: Any) -> Any:
    return _ops.next_key() if key is None else PRNGKey(key) if isinstance(key, int) else key


def PRNGKey(seed: int) -> Tensor:
    """Return the key of a seed."""
    return _ops.random_key(_checked(seed))


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


def choice(a: Any, size: Any = (), replace: bool = True, p: Any = None, key: Any = None) -> Tensor:
    """Draw elements of `a`, or integers below `a`.

    Args:
        a: an array, whose rows are drawn, or a number.
        size: shape of the result.
        replace: whether an element may be drawn again.
        p: probability of each element; default: all are equal.
        key: key or seed; default: the global stream.
    """
    n = a if isinstance(a, int) else len(a)
    shape = tuple(np.zeros(() if size is None else size, np.bool_).shape)
    count = int(np.prod(shape))
    logits = None if p is None else _logits_of(p, n)
    if replace:
        drawn = randint(0, n, shape, key) if logits is None else categorical(_ops.asarray(np.broadcast_to(logits, (*shape, n))), key)
    elif count > (n if logits is None else int(np.isfinite(logits).sum())):
        raise ValueError(f"choice: {count} different elements cannot be drawn from {n}")
    elif logits is None:
        drawn = permutation(n, key)[:count].reshape(shape)
    else:  # the largest of logits + Gumbel noise
        drawn = (-(_ops.asarray(logits) + gumbel(size=n, key=key))).argsort(0)[:count].reshape(shape)
    return drawn if isinstance(a, int) else _ops.asarray(a)[drawn]


def _logits_of(p: Any, n: int) -> np.ndarray:
    p = np.asarray(p, float)
    if p.shape != (n,) or not (p >= 0).all() or not abs(p.sum() - 1) < 1e-4:
        raise ValueError(f"choice: p must hold {n} probabilities that add up to 1, got {p}")
    with np.errstate(divide="ignore"):
        return np.log(p)


def exponential(scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from an exponential distribution."""
    return _ops.random_exponential(_key(key), size) * scale


def _above_zero(size: Any, key: Any) -> Tensor:
    return _ops.max(rand(*np.zeros(size, np.bool_).shape, key=key), 1e-30)


def gumbel(loc: Any = 0.0, scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a Gumbel distribution."""
    return loc - scale * _ops.log(-_ops.log(_above_zero(size, key)))


def logistic(loc: Any = 0.0, scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a logistic distribution."""
    u = _above_zero(size, key)
    return loc + scale * (_ops.log(u) - _ops.log1p(-u))


def laplace(loc: Any = 0.0, scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a Laplace distribution."""
    first, second = split(_key(key))
    return loc + scale * (exponential(size=size, key=first) - exponential(size=size, key=second))


def lognormal(mean: Any = 0.0, sigma: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw numbers whose logarithm has a normal distribution."""
    return _ops.exp(normal(mean, sigma, size, key))


def rayleigh(scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a Rayleigh distribution."""
    return scale * _ops.sqrt(2 * exponential(size=size, key=key))


def weibull(a: Any, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a Weibull distribution of scale 1."""
    return exponential(size=size, key=key) ** (1 / a)


def pareto(a: Any, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a Pareto II distribution of scale 1."""
    return _ops.expm1(exponential(size=size, key=key) / a)


def gamma(shape: float, scale: Any = 1.0, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a gamma distribution."""
    return _ops.random_gamma(_key(key), shape, size) * scale


def beta(a: float, b: float, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a beta distribution."""
    first, second = split(_key(key))
    x, y = gamma(a, size=size, key=first), gamma(b, size=size, key=second)
    return x / (x + y)


def chisquare(df: float, size: Any = (), key: Any = None) -> Tensor:
    """Draw from a chi-square distribution."""
    return 2 * gamma(df / 2, size=size, key=key)


def standard_normal(size: Any = (), key: Any = None) -> Tensor:
    """Draw from the standard normal distribution."""
    return normal(size=size, key=key)


def random_sample(size: Any = (), key: Any = None) -> Tensor:
    """Draw uniformly from [0, 1)."""
    return uniform(size=size, key=key)


def truncated_normal(lower: float, upper: float, size: Any = (), loc: Any = 0.0, scale: Any = 1.0, key: Any = None) -> Tensor:
    """Draw from a normal distribution, truncated to [lower, upper] standard deviations."""
    return _ops.random_truncated_normal(_key(key), lower, upper, size) * scale + loc


DEFAULT_STREAM = _ops.default_stream()
