# SPDX-License-Identifier: Apache-2.0
"""`jax`: the transforms, `jax.nn`, `jax.random`, `jax.lax` and trees, as far as models need them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as _np

from .. import _core, nn as _nn, numpy, random as _random, transform as _transform, tree
from .._core import Tensor as Array
from ..transform import checkpoint, custom_vjp, hessian, jacfwd, jacrev, jvp, vjp, vmap
from ._options import jit, scan

_ops = _core.ops
remat, jacobian = checkpoint, jacrev


class ShapeDtypeStruct:
    """Shape and dtype of an array that does not exist yet."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = tuple(shape), dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> _np.ndarray:
        """Return zeros, for use as an example input."""
        return _np.broadcast_to(_np.zeros((), self.dtype if dtype is None else dtype), self.shape)


def grad(f: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes the gradient by arguments; `(grads, aux)` with `has_aux`."""
    return _transform.grad(f, argnums=argnums, has_aux=has_aux)


def value_and_grad(f: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function that computes (value, grads)."""
    return _transform.value_and_grad(f, argnums=argnums, has_aux=has_aux)


def devices(backend: str | None = None) -> list[str]:
    """Return the available devices."""
    return [f"{default_backend()}:0"]


def default_backend() -> str:
    """Return the platform that runs programs: 'cpu' or 'gpu'."""
    return "gpu" if _core.default_backend().startswith("cuda") else "cpu"


def block_until_ready(x: Any) -> Any:
    """Return x; results are always ready when they are returned."""
    return x


def device_put(x: Any, device: Any = None) -> Any:
    """Convert a tree to tensors."""
    return tree.map(numpy.array, x)


def device_get(x: Any) -> Any:
    """Convert a tree to NumPy arrays."""
    return tree.map(lambda leaf: leaf.numpy() if isinstance(leaf, Array) else leaf, x)


def pure_callback(callback: Any, result_shape_dtypes: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a Python function of NumPy arrays from a compiled program."""
    return _transform.pure_callback(callback, result_shape_dtypes, *args, **kwargs)


def _dynamic_update_slice(x: Any, update: Any, starts: Any) -> Any:
    """Return x with `update` written at start indices, which may be traced."""
    shape = numpy.shape(update)
    places = [(start + numpy.arange(n)).reshape([-1 if j == i else 1 for j in range(len(shape))]) for i, (start, n) in enumerate(zip(starts, shape))]
    return x.at[tuple(places)].set(update)


def _dynamic_slice(x: Any, starts: Any, sizes: Any) -> Any:
    """Return a block of given sizes at start indices, which may be traced."""
    for axis, (start, n) in enumerate(zip(starts, sizes)):
        x = numpy.take(x, numpy.clip(start, 0, x.shape[axis] - n) + numpy.arange(n), axis)
    return x


def _glu(x: Any, axis: int = -1) -> Any:
    """a σ(b) of the halves a and b of x"""
    a, b = numpy.split(x, 2, axis)
    return a * _nn.sigmoid(b)


def _standardize(x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: float = 1e-5) -> Any:
    """(x - mean)/√(variance + ε)"""
    mean = x.mean(axis, keepdims=True) if mean is None else mean
    variance = ((x - mean) ** 2).mean(axis, keepdims=True) if variance is None else variance
    return (x - mean) * _ops.rsqrt(variance + epsilon)


def _normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    return _ops.random_normal(key, shape, dtype)


def _uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    return _ops.random_uniform(key, shape, minval, maxval, dtype)


random = SimpleNamespace(PRNGKey=_random.PRNGKey, key=_random.PRNGKey, split=_random.split, normal=_normal, uniform=_uniform,
                         bernoulli=lambda key, p=0.5, shape=None: _ops.random_bernoulli(key, p, shape),
                         randint=lambda key, shape, minval, maxval: _ops.random_randint(key, shape, minval, maxval),
                         categorical=lambda key, logits: _ops.random_categorical(key, logits),
                         choice=lambda key, a, shape=(), replace=True, p=None: _random.choice(a, shape, replace, p, key),
                         truncated_normal=lambda key, lower, upper, shape=(): _random.truncated_normal(lower, upper, shape, key=key),
                         gamma=lambda key, a, shape=(): _random.gamma(a, size=shape, key=key),
                         **{name: lambda key, shape=(), draw=getattr(_random, name): draw(size=shape, key=key)
                            for name in ("exponential", "gumbel", "laplace", "logistic")},
                         permutation=lambda key, x: _ops.random_permutation(key, x))
nn = SimpleNamespace(**{n: getattr(_nn, n) for n in (
    "relu relu6 sigmoid tanh softplus silu swish elu selu celu gelu leaky_relu log_sigmoid hard_sigmoid hard_silu hard_tanh softmax "
    "log_softmax logsumexp one_hot").split()}, standardize=_standardize, glu=_glu, hard_swish=_nn.hard_silu, identity=lambda x: x,
    soft_sign=lambda x: x / (1 + numpy.abs(x)), mish=lambda x: x * numpy.tanh(_nn.softplus(x)),
    squareplus=lambda x, b=4: 0.5 * (x + numpy.sqrt(x * x + b)))
lax = SimpleNamespace(scan=scan, cond=_transform.cond, switch=_transform.switch, dynamic_slice=_dynamic_slice, while_loop=_transform.while_loop, fori_loop=_transform.fori_loop,
                      stop_gradient=_ops.stop_gradient, select=numpy.where, rsqrt=_ops.rsqrt, top_k=_ops.top_k, dynamic_update_slice=_dynamic_update_slice)
tree_util = SimpleNamespace(tree_map=tree.map, tree_leaves=tree.leaves, tree_flatten=tree.flatten, tree_unflatten=tree.unflatten,
                            tree_structure=tree.structure, tree_reduce=tree.reduce)
config = SimpleNamespace(update=lambda name, value: _core.environ_set(precision="float64" if value else "float32")
                         if name == "jax_enable_x64" else None)
