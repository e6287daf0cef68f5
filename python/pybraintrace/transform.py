# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions that read and write states: jit, grad, vmap, loops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from . import _core

__all__ = ["checkpoint", "cond", "custom_vjp", "for_loop", "fori_loop", "grad", "hessian", "jacfwd", "jacrev", "jit", "jvp", "pure_callback", "scan",
           "value_and_grad", "vjp", "vmap", "while_loop"]


class Jitted:
    """A function that is traced and compiled once per signature: shapes and types of its arguments, values of static ones."""

    def __init__(self, f: Callable[..., Any], static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()) -> None:
        names = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames)
        self._core = _core.make_jitted(f, () if static_argnums is None else static_argnums, names)
        functools.update_wrapper(self, f, updated=())
        self.__wrapped__ = f

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._core(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def num_traces(self) -> int:
        """How often the function was traced."""
        return self._core.num_traces

    def __reduce__(self) -> Any:
        raise TypeError("a jitted function cannot be pickled; pickle the model and jit again")


def _check_statics(f: Callable[..., Any], numbers: Sequence[int], names: Sequence[str]) -> None:
    import inspect

    if not all(isinstance(n, int) for n in numbers):
        raise TypeError(f"jit: static_argnums are positions, whole numbers; got {numbers!r}. Names go into static_argnames")
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # one that does not tell
        return
    kinds = {p.kind for p in parameters}
    known = [p.name for p in parameters]
    unknown = [n for n in names if n not in known]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ValueError(f"jit: static_argnames names {', '.join(unknown)}; the function takes {', '.join(known) or 'nothing'}")
    most = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    outside = [n for n in numbers if not -most <= n < most]
    if outside and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise ValueError(f"jit: static_argnums names argument {outside[0]}; the function takes {most} by position")


def jit(f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()) -> Any:
    """f as one compiled program. States it reads and writes stay what they are: states.

    >>> import pybraintrace as bt
    >>> double = bt.jit(lambda x: 2 * x)
    >>> double(bt.numpy.arange(3)).tolist()
    [0, 2, 4]
    """
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    if not callable(f):
        raise TypeError(f"jit: expected a function, got {f!r}")
    if static_argnums != () or static_argnames != ():
        _check_statics(f, (static_argnums,) if isinstance(static_argnums, int) else static_argnums,
                       (static_argnames,) if isinstance(static_argnames, str) else static_argnames)
    return Jitted(f, static_argnums, static_argnames)


def _gradients(where: str, f: Callable[..., Any], states: Any, argnums: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    numbers = (0,) if argnums is None and states is None else () if argnums is None else argnums
    many = not isinstance(numbers, int)
    out, of_arguments, of_states = _core.differentiate(where, f, args, kwargs, numbers, states)
    chosen = tuple(of_arguments) if many else of_arguments[0]
    if argnums is None and states is None:
        chosen = of_arguments[0]
    grads = chosen if states is None else of_states if not of_arguments else (of_states, chosen)
    if states is not None and isinstance(states, _core.State):
        grads = next(iter(of_states.values()))
    elif states is not None and isinstance(states, (list, tuple)):
        grads = type(states)(of_states[i,] for i in range(len(states)))
    return out, grads


def grad(f: Callable[..., Any], grad_states: Any = None, argnums: int | Sequence[int] | None = None, has_aux: bool = False, return_value: bool = False) -> Callable[..., Any]:
    """The gradient of a scalar function with respect to states, arguments (the first unless told otherwise), or both.

    Gives `grads`, `(grads, value)`, `(grads, aux)` or `(grads, value, aux)`. Gradients of states are a dict by path.

    >>> import pybraintrace as bt
    >>> float(bt.grad(lambda x: x ** 2)(3.0))
    6.0
    """

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        out, grads = _gradients("grad", f, grad_states, argnums, args, kwargs)
        if has_aux:
            if not (isinstance(out, tuple) and len(out) == 2):
                raise TypeError("grad with has_aux: the function must return (loss, aux)")
            value, aux = out
            return (grads, value, aux) if return_value else (grads, aux)
        return (grads, out) if return_value else grads

    return gradient


def value_and_grad(f: Callable[..., Any], grad_states: Any = None, argnums: int | Sequence[int] | None = None, has_aux: bool = False) -> Callable[..., Any]:
    """Value and gradient: `(value, grads)`, or `((value, aux), grads)` with `has_aux`.

    >>> import pybraintrace as bt
    >>> [float(v) for v in bt.value_and_grad(lambda x: x ** 2)(3.0)]
    [9.0, 6.0]
    """

    @functools.wraps(f)
    def both(*args: Any, **kwargs: Any) -> Any:
        return _gradients("value_and_grad", f, grad_states, argnums, args, kwargs)

    return both


def vmap(f: Callable[..., Any] | None = None, in_axes: Any = 0, out_axes: int = 0, axis_size: int | None = None, in_states: Any = None) -> Any:
    """f, written for one sample, on a batch. `in_states` have one value per sample.

    >>> import pybraintrace as bt
    >>> bt.vmap(lambda x: x.sum())(bt.numpy.ones((3, 2))).tolist()
    [2.0, 2.0, 2.0]
    """
    if f is None:
        return functools.partial(vmap, in_axes=in_axes, out_axes=out_axes, axis_size=axis_size, in_states=in_states)

    @functools.wraps(f)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes if isinstance(in_axes, (int, type(None))) else tuple(in_axes)
        return _core.mapped(f, args, kwargs, axes, out_axes, axis_size, in_states)

    return mapped


def for_loop(f: Callable[..., Any], *xs: Any, length: int | None = None, reverse: bool = False, pbar: Any = None) -> Any:
    """f(xs[t], …) for t = 0, 1, …; results stacked along a new leading axis. States go on from step to step.

    With a progress bar (`pbar=True`, a number of steps, or an object with `update`) it runs in pieces and may be interrupted between them.

    >>> import pybraintrace as bt
    >>> bt.for_loop(lambda x: x + 1, bt.numpy.arange(3)).tolist()
    [1, 2, 3]
    """
    if not xs:
        xs = (_core.ops.arange(0.0, float(length or 0), 1.0, "int32"),)
    if pbar is None or pbar is False:
        return _core.for_loop(f, xs, reverse)
    from .progress import in_pieces

    return in_pieces(lambda part: _core.for_loop(f, part, reverse), xs, pbar)


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False) -> tuple[Any, Any]:
    """(carry, y_t) = f(carry, xs[t]); gives the last carry and all y stacked.

    >>> import pybraintrace as bt
    >>> total, sums = bt.scan(lambda c, x: (c + x, c + x), 0, bt.numpy.arange(4))
    >>> int(total), sums.tolist()
    (6, [0, 1, 3, 6])
    """
    return _core.scan(f, init, xs, -1 if length is None else length, reverse)


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """true_fun(*operands) where pred holds, else false_fun(*operands).

    >>> import pybraintrace as bt
    >>> float(bt.cond(True, lambda x: x + 1, lambda x: x - 1, 1.0))
    2.0
    """
    return _core.cond(pred, true_fun, false_fun, operands)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, max_steps: int = 0) -> Any:
    """value = body_fun(value) as long as cond_fun(value) holds. With `max_steps` it has a reverse derivative.

    >>> import pybraintrace as bt
    >>> int(bt.while_loop(lambda n: n < 10, lambda n: 2 * n, 1))
    16
    """
    return _core.while_loop(cond_fun, body_fun, init_val, max_steps)


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """value = body_fun(i, value) for i = lower … upper-1.

    >>> import pybraintrace as bt
    >>> int(bt.fori_loop(0, 4, lambda i, s: s + i, 0))
    6
    """
    steps = _core.ops.arange(float(lower), float(upper), 1.0, "int32")
    return _core.scan(lambda carry, i: (body_fun(i, carry), None), init_val, steps, -1, False)[0]


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """f at the primals, and its derivative along the tangents.

    >>> import pybraintrace as bt
    >>> [float(v) for v in bt.jvp(lambda x: x ** 2, (3.0,), (1.0,))]
    [9.0, 6.0]
    """
    return _core.jvp(f, tuple(primals), tuple(tangents))


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """f at the primals, and the function from a cotangent of the result to those of the arguments.

    >>> import pybraintrace as bt
    >>> y, back = bt.vjp(lambda x: x ** 2, 3.0)
    >>> float(back(1.0)[0])
    6.0
    """
    return _core.vjp(f, primals)


def jacrev(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The derivative of every result element by every element of an argument, in reverse mode."""
    return lambda *args: _core.jacobian(f, args, argnums, False)


def jacfwd(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The same in forward mode."""
    return lambda *args: _core.jacobian(f, args, argnums, True)


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Second derivatives."""
    return jacfwd(jacrev(f, argnums), argnums)


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """f as it is: programs keep for the way back what is cheaper to keep."""
    return f


class custom_vjp:
    """A function with a reverse derivative of your own: an operation written in Python.

    >>> import pybraintrace as bt
    >>> @bt.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, ct: (ct.clip(-1, 1),))
    >>> float(bt.grad(lambda x: 5 * clipped(x))(2.0))
    1.0
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f, self._rules = f, None
        functools.update_wrapper(self, f, updated=())

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[[Any, Any], tuple[Any, ...]]) -> None:
        """fwd(*args) gives (result, residuals); bwd(residuals, cotangent) one cotangent per argument."""
        self._rules: Any = fwd, bwd

    def __call__(self, *args: Any) -> Any:
        if self._rules is None:
            raise TypeError(f"{self.__name__}: call defvjp(fwd, bwd) first")
        return _core.custom_vjp(self._f, *self._rules, args)


def pure_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any) -> Any:
    """A Python function of NumPy arrays inside a compiled program. It must depend on its arguments alone.

    >>> import pybraintrace as bt, numpy as np
    >>> f = bt.jit(lambda x: bt.pure_callback(np.sort, x, x))
    >>> f(bt.numpy.array([3., 1., 2.])).tolist()
    [1.0, 2.0, 3.0]
    """
    return _core.host_call(callback, result_shape_dtypes, args)
