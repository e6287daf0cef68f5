# SPDX-License-Identifier: Apache-2.0
"""Transforms of functions that may read and write states: jit, grad, vmap, loops."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import _core, tree

__all__ = ["checkpoint", "cond", "custom_vjp", "for_loop", "fori_loop", "grad", "hessian", "jacfwd", "jacrev", "jit", "jvp", "pure_callback", "scan",
           "switch", "value_and_grad", "vjp", "vmap", "while_loop"]


class Jitted:
    """A function that is traced and compiled once per signature: shapes and dtypes of its arguments, and values of static ones."""

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
        """Number of times the function was traced."""
        return self._core.num_traces

    def __repr__(self) -> str:
        return f"<jitted {getattr(self.__wrapped__, '__qualname__', repr(self.__wrapped__))}>"

    def __reduce__(self) -> Any:
        raise TypeError("a jitted function cannot be pickled; pickle the model and jit it again")


def _statics_of(f: Callable[..., Any], numbers: Sequence[int], names: Sequence[str]) -> tuple[Sequence[int], Sequence[str]]:
    """Check static arguments, and complete them: an argument is static by position and by name, however it is passed."""
    import inspect

    if not all(isinstance(n, int) for n in numbers):
        raise TypeError(f"jit: expected static_argnums to be integers, got {numbers!r}; pass names as static_argnames")
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # without a signature
        return numbers, names
    kinds = {p.kind for p in parameters}
    known = [p.name for p in parameters]
    unknown = [n for n in names if n not in known]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise ValueError(f"jit: static_argnames contains {', '.join(unknown)}; parameters of the function: {', '.join(known) or 'none'}")
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = len(by_position)
    outside = [n for n in numbers if not -most <= n < most]
    if outside and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise ValueError(f"jit: static_argnums contains {outside[0]}; the function has {most} positional parameters")
    named = {by_position[n].name for n in numbers if -most <= n < most and by_position[n].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD}
    numbered = {i for i, p in enumerate(by_position) if p.name in names}
    # With *args, positions count from the end of the arguments of a call.
    counted = {n % most if n < 0 and inspect.Parameter.VAR_POSITIONAL not in kinds else n for n in numbers}
    return sorted(counted | numbered), sorted(named | {*names})


def jit(f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()) -> Any:
    """Compile f into one program; it may read and write states.

    Args:
        f: the function; without it, return a decorator.
        static_argnums: positions of static arguments, however they are passed; f is traced for each of their values.
        static_argnames: names of static arguments, however they are passed.

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
        static_argnums, static_argnames = _statics_of(f, (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums or ()),
                                                      (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames or ()))
    return Jitted(f, static_argnums, static_argnames)


def _states_by_path(where: str, states: Any) -> tuple[Any, Callable[[dict[Any, Any]], Any]]:
    """Return states by path, and a function that gives their gradients the structure of `states`."""
    is_known = states is None or isinstance(states, _core.Module)
    if is_known or isinstance(states, dict) and all(isinstance(p, tuple) and isinstance(s, _core.State) for p, s in states.items()):
        return states, lambda gradients: gradients
    if not isinstance(states, dict) and hasattr(states, "__iter__") and not isinstance(states, (list, tuple)):
        states = list(states)
    leaves, structure = tree.flatten(states)
    for leaf in leaves:
        if not isinstance(leaf, _core.State):
            raise TypeError(f"{where}: expected states to differentiate, got {leaf!r}")
    return leaves, lambda gradients: structure.unflatten([gradients[i,] for i in range(len(leaves))])


def _gradients(where: str, f: Callable[..., Any], states: Any, argnums: Any, has_aux: bool, args: Any, kwargs: Any) -> tuple[Any, Any]:
    by_path, rebuild = states
    numbers = (0,) if argnums is None and by_path is None else () if argnums is None else argnums
    many = not isinstance(numbers, int)
    out, of_arguments, of_states = _core.differentiate(where, f, args, kwargs, numbers, by_path)
    if has_aux and not (isinstance(out, tuple) and len(out) == 2 and isinstance(out[0], _core.Tensor)):
        raise TypeError(f"{where}: with has_aux, the function must return (loss, aux)")
    if not has_aux and not isinstance(out, _core.Tensor):
        raise TypeError(f"{where}: the function must return one scalar, got a {type(out).__name__}; set has_aux=True if it returns (loss, aux)")
    chosen = tuple(of_arguments) if many else of_arguments[0]
    if argnums is None and by_path is None:
        chosen = of_arguments[0]
    if by_path is None:
        return out, chosen
    return out, (rebuild(of_states), chosen) if of_arguments else rebuild(of_states)


def grad(f: Callable[..., Any], grad_states: Any = None, argnums: int | Sequence[int] | None = None, has_aux: bool = False, return_value: bool = False) -> Callable[..., Any]:
    """Return a function that computes the gradient of f.

    Args:
        f: function that returns a scalar loss.
        grad_states: states by path, one state, or a tree of states; their gradients have the same structure.
        argnums: positions of arguments to differentiate; default: the first if there are no `grad_states`.
        has_aux: whether f returns (loss, aux).
        return_value: whether to return the value of f as well.

    Returns:
        A function that returns `grads`, `(grads, value)`, `(grads, aux)` or `(grads, value, aux)`. With both `grad_states` and `argnums`,
        `grads` is (gradients of states, gradients of arguments).

    >>> import pybraintrace as bt
    >>> float(bt.grad(lambda x: x ** 2)(3.0))
    6.0
    """

    states = _states_by_path("grad", grad_states)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        out, grads = _gradients("grad", f, states, argnums, has_aux, args, kwargs)
        if has_aux:
            value, aux = out
            return (grads, value, aux) if return_value else (grads, aux)
        return (grads, out) if return_value else grads

    return gradient


def value_and_grad(f: Callable[..., Any], grad_states: Any = None, argnums: int | Sequence[int] | None = None, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the value and the gradient of f.

    Arguments are those of `grad`. The function returns `(value, grads)`, or `((value, aux), grads)` with `has_aux`.

    >>> import pybraintrace as bt
    >>> [float(v) for v in bt.value_and_grad(lambda x: x ** 2)(3.0)]
    [9.0, 6.0]
    """

    states = _states_by_path("value_and_grad", grad_states)

    @functools.wraps(f)
    def both(*args: Any, **kwargs: Any) -> Any:
        return _gradients("value_and_grad", f, states, argnums, has_aux, args, kwargs)

    return both


def _axes_of_leaves(where: str, axes: Any, value: Any) -> list[int | None]:
    """Return the axis of each leaf of a tree; `axes` is an axis for all, or holds one for each part of the tree."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(tree.leaves(value))
    if isinstance(axes, dict) and isinstance(value, dict) and axes.keys() == value.keys():
        return [a for key in tree.leaves({k: k for k in value}) for a in _axes_of_leaves(where, axes[key], value[key])]
    if isinstance(axes, (list, tuple)) and isinstance(value, (list, tuple)) and len(axes) == len(value):
        return [a for axis, part in zip(axes, value) for a in _axes_of_leaves(where, axis, part)]
    raise TypeError(f"vmap: {where} must hold axes (integers or None) in the structure of what they map; got {axes!r} for {tree.structure(value)}")


def vmap(f: Callable[..., Any] | None = None, in_axes: Any = 0, out_axes: Any = 0, axis_size: int | None = None, in_states: Any = None) -> Any:
    """Vectorize f, which is written for one sample, over a batch.

    Args:
        f: the function; without it, return a decorator.
        in_axes: batch axis of each argument, or one for all; None for arguments without a batch axis. For an argument that is a tree, a tree
            of axes, or one axis for all its leaves.
        out_axes: batch axis of the results, or a tree of axes.
        axis_size: size of the batch; needed if no argument has a batch axis.
        in_states: states with one value per sample, along their first axis.

    >>> import pybraintrace as bt
    >>> bt.vmap(lambda x: x.sum())(bt.numpy.ones((3, 2))).tolist()
    [2.0, 2.0, 2.0]
    """
    if f is None:
        return functools.partial(vmap, in_axes=in_axes, out_axes=out_axes, axis_size=axis_size, in_states=in_states)

    axes = in_axes if isinstance(in_axes, (int, type(None))) else tuple(in_axes)
    if axis_size is None and in_states is None and (axes is None or isinstance(axes, tuple) and all(a is None for a in axes)):
        raise ValueError("vmap: the size of the batch is unknown; pass in_axes, in_states or axis_size")

    def mapped(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(axes, tuple) or all(a is None or isinstance(a, int) for a in axes):
            return _core.mapped(f, args, kwargs, axes, front, axis_size, in_states)
        leaves, structure = tree.flatten(args)
        return _core.mapped(lambda *own, **named: f(*structure.unflatten(list(own)), **named), tuple(leaves), kwargs,
                            tuple(_axes_of_leaves("in_axes", axes, args)), front, axis_size, in_states)

    front = out_axes if isinstance(out_axes, int) else 0

    @functools.wraps(f)
    def placed(*args: Any, **kwargs: Any) -> Any:
        out = mapped(*args, **kwargs)
        if isinstance(out_axes, int):
            return out
        leaves, structure = tree.flatten(out)
        to = _axes_of_leaves("out_axes", out_axes, out)
        if None in to:
            raise TypeError("vmap: expected integers in out_axes, got None; every result has a batch axis")
        return structure.unflatten([_core.ops.moveaxis(leaf, 0, axis) for leaf, axis in zip(leaves, to)])

    return placed


def _steps(where: str, length: Any) -> int:
    n = operator.index(length)
    if n < 0:
        raise ValueError(f"{where}: expected a number of steps that is not negative, got {n}")
    return n


def for_loop(f: Callable[..., Any], *xs: Any, length: int | None = None, reverse: bool = False, pbar: Any = None) -> Any:
    """Call f on the slices of the leading axis in order, and stack the results. States carry over from step to step.

    Args:
        f: function of one slice of each of `xs`.
        xs: trees of arrays with the same leading axis.
        length: number of steps if there are no `xs`; f then gets the step.
        reverse: run from the last slice to the first.
        pbar: progress bar: True, steps per update, a ProgressBar, or an object with a method `update`. The loop then runs in pieces, and
            Ctrl-C takes effect between them.

    >>> import pybraintrace as bt
    >>> bt.for_loop(lambda x: x + 1, bt.numpy.arange(3)).tolist()
    [1, 2, 3]
    """
    if not xs:
        if length is None:
            raise TypeError("for_loop: the number of steps is unknown; pass arrays or length")
        xs = (_core.ops.arange(0.0, float(_steps("for_loop", length)), 1.0, "int32"),)
    if pbar is None or pbar is False:
        return _core.for_loop(f, xs, reverse)
    from .progress import in_pieces

    return in_pieces(lambda part: _core.for_loop(f, part, reverse), xs, pbar, reverse)


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False,
         pbar: Any = None) -> tuple[Any, Any]:
    """Run a loop with a carried value: (carry, y_t) = f(carry, xs[t]).

    Args:
        f: function of (carry, x) that returns (carry, y).
        init: initial carry.
        xs: tree of arrays with the same leading axis, or None.
        length: number of steps; needed without `xs`.
        reverse: run from the last slice to the first.
        pbar: progress bar, as for `for_loop`.

    Returns:
        The last carry, and all y stacked.

    >>> import pybraintrace as bt
    >>> total, sums = bt.scan(lambda c, x: (c + x, c + x), 0, bt.numpy.arange(4))
    >>> int(total), sums.tolist()
    (6, [0, 1, 3, 6])
    """
    if xs is None and length is None:
        raise TypeError("scan: the number of steps is unknown; pass xs or length")
    steps = -1 if length is None else _steps("scan", length)
    if pbar is None or pbar is False:
        return _core.scan(f, init, xs, steps, reverse)
    from .progress import in_pieces

    carry = init

    def run(part: tuple[Any, ...]) -> Any:
        nonlocal carry
        carry, ys = _core.scan(f if xs is not None else lambda c, _: f(c, None), carry, part[0], -1, reverse)
        return ys

    ys = in_pieces(run, (_core.ops.arange(0.0, float(steps), 1.0, "int32") if xs is None else xs,), pbar, reverse)
    return carry, ys


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Return true_fun(*operands) if `pred` is true, else false_fun(*operands).

    Both functions must return the same structure, shapes and dtypes.

    >>> import pybraintrace as bt
    >>> float(bt.cond(True, lambda x: x + 1, lambda x: x - 1, 1.0))
    2.0
    """
    return _core.cond(pred, true_fun, false_fun, operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions, whose results have the same structure; beyond the ends of the list, the first or the last.

    >>> import pybraintrace as bt
    >>> float(bt.switch(1, [lambda x: x, lambda x: 2 * x, lambda x: 3 * x], 5.0))
    10.0
    """
    if not branches:
        raise ValueError("switch: expected at least one function")
    if len(branches) == 1:
        return branches[0](*operands)
    half = len(branches) // 2
    return cond(_core.ops.asarray(index) < half, lambda *xs: switch(index, branches[:half], *xs), lambda *xs: switch(index - half, branches[half:], *xs), *operands)


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, max_steps: int = 0) -> Any:
    """Repeat value = body_fun(value) while cond_fun(value) is true.

    Args:
        cond_fun: function from the value to a boolean.
        body_fun: function from the value to the next value, of the same structure.
        init_val: initial value.
        max_steps: limit of the number of steps, which reverse-mode derivatives need; 0 for no limit.

    >>> import pybraintrace as bt
    >>> int(bt.while_loop(lambda n: n < 10, lambda n: 2 * n, 1))
    16
    """
    return _core.while_loop(cond_fun, body_fun, init_val, max_steps)


def fori_loop(lower: int, upper: int, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Repeat value = body_fun(i, value) for i in range(lower, upper). With traced bounds, it is a while_loop.

    >>> import pybraintrace as bt
    >>> int(bt.fori_loop(0, 4, lambda i, s: s + i, 0))
    6
    """
    if any(isinstance(bound, _core.Tensor) and bound.is_traced for bound in (lower, upper)):
        first = _core.ops.asarray(lower, "int32")
        return while_loop(lambda carry: carry[0] < upper, lambda carry: (carry[0] + 1, body_fun(*carry)), (first, init_val))[1]
    steps = _core.ops.arange(float(operator.index(lower)), float(operator.index(upper)), 1.0, "int32")
    return _core.scan(lambda carry, i: (body_fun(i, carry), None), init_val, steps, -1, False)[0]


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Compute a Jacobian-vector product (forward mode).

    Args:
        f: the function.
        primals: arguments of f.
        tangents: direction, of the same structure.

    Returns:
        f(*primals), and its derivative along the tangents.

    >>> import pybraintrace as bt
    >>> [float(v) for v in bt.jvp(lambda x: x ** 2, (3.0,), (1.0,))]
    [9.0, 6.0]
    """
    return _core.jvp(f, tuple(primals), tuple(tangents))


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Compute a vector-Jacobian product (reverse mode).

    Returns:
        f(*primals), and a function from a cotangent of the result to a tuple of cotangents of the arguments.

    >>> import pybraintrace as bt
    >>> y, back = bt.vjp(lambda x: x ** 2, 3.0)
    >>> float(back(1.0)[0])
    6.0
    """
    return _core.vjp(f, primals)


def jacrev(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of f by one argument, in reverse mode.

    >>> import pybraintrace as bt
    >>> bt.jacrev(lambda x: x ** 2)(bt.numpy.ones(2)).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    return lambda *args: _core.jacobian(f, args, argnums, False)


def jacfwd(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of f by one argument, in forward mode."""
    return lambda *args: _core.jacobian(f, args, argnums, True)


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of f by one argument."""
    return jacfwd(jacrev(f, argnums), argnums)


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return f unchanged: the compiler itself decides which values to recompute in the backward pass."""
    return f


def _without_parts(x: Any) -> Any:
    """Return a leaf, but None for models, states and functions, which have no cotangent."""
    return None if isinstance(x, (_core.Module, _core.State)) or callable(x) else x


def _zeros_like(x: Any) -> Any:
    if _without_parts(x) is None:
        return None
    x = _core.ops.asarray(x)
    return _core.ops.full(x.shape, 0.0, x.dtype)


def _cotangent(number: int, part: Any, argument: Any) -> Any:
    """Return the cotangent of an argument; None stands for zeros."""
    zeros = tree.map(_zeros_like, argument)
    if part is None:
        return zeros
    if tree.structure(part) != tree.structure(zeros):
        raise ValueError(f"custom_vjp: the cotangent of argument {number} must have the structure {tree.structure(zeros)}; got {tree.structure(part)}")
    return part


class _Depths(threading.local):
    def __init__(self) -> None:
        self.of: dict[int, int] = {}


_depths = _Depths()  # how many of its own rules each custom_vjp that is being called is inside of
_DEEPEST = 2  # calls inside of rules have derivatives up to here: those of the rules of the outermost call are at depth 1


class custom_vjp:
    """A function with a custom reverse-mode derivative, which `defvjp` sets.

    Args:
        f: the function.
        nondiff_argnums: positions of arguments without a derivative.

    >>> import pybraintrace as bt
    >>> @bt.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda residuals, ct: (ct.clip(-1, 1),))
    >>> float(bt.grad(lambda x: 5 * clipped(x))(2.0))
    1.0
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        self._f, self._rules, self._fixed = f, None, tuple(operator.index(n) for n in nondiff_argnums)
        functools.update_wrapper(self, f, updated=())

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., tuple[Any, ...]]) -> None:
        """Set the derivative. The rules may call the function itself.

        Args:
            fwd: function from the arguments to (result, residuals).
            bwd: function from (residuals, cotangent of the result) to a tuple with one cotangent per argument, or None for zero. Arguments
                without a derivative come before the residuals, and have no cotangent.
        """
        self._rules: Any = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._rules is None:
            raise TypeError(f"{self.__name__}: call defvjp(fwd, bwd) first")
        args = self._by_position(args, kwargs)
        depth = _depths.of.get(id(self), 0)
        fwd, bwd = self._rules if depth < _DEEPEST else (self._last_forward, self._last_backward)
        fixed = {n % len(args): args[n] for n in self._fixed}
        moving = [i for i in range(len(args)) if i not in fixed]

        def joined(xs: tuple[Any, ...]) -> list[Any]:
            values = {**fixed, **dict(zip(moving, xs))}
            return [values[i] for i in range(len(args))]

        def one_deeper(rule: Callable[..., Any], *given: Any) -> Any:
            _depths.of[id(self)] = depth + 1
            try:
                return rule(*given)
            finally:
                _depths.of[id(self)] = depth
                if depth == 0:
                    del _depths.of[id(self)]

        def cotangents(residuals: Any, ct: Any) -> Any:
            out = one_deeper(bwd, *(fixed[n % len(args)] for n in self._fixed), residuals, ct)
            if not isinstance(out, (list, tuple)) or len(out) != len(moving):
                return out
            return tuple(_cotangent(i, part, args[i]) for i, part in zip(moving, out))

        return _core.custom_vjp(lambda *xs: self._f(*joined(xs)), lambda *xs: one_deeper(fwd, *joined(xs)), cotangents, tuple(args[i] for i in moving))

    def _by_position(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments, also those with defaults."""
        import inspect

        try:
            signature = inspect.signature(self._f)
        except (TypeError, ValueError):  # without a signature
            if kwargs:
                raise TypeError(f"{self.__name__}: expected arguments by position, got {', '.join(kwargs)}=") from None
            return args
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        if given.kwargs:
            raise TypeError(f"{self.__name__}: keyword-only arguments are not supported: {', '.join(given.kwargs)}")
        return given.args

    def _last_forward(self, *args: Any) -> Any:
        fixed = {n % len(args) for n in self._fixed}
        return self._f(*args), [tree.map(_without_parts, arg) for i, arg in enumerate(args) if i not in fixed]

    def _last_backward(self, *given: Any) -> Any:
        *_, args, ct = given

        def refuse(*_: Any) -> Any:
            raise _core.UserError(f"{self.__name__}: its rules call it, so it has first and second derivatives only")

        return tuple(tree.map(lambda leaf: pure_callback(refuse, leaf, tree.leaves(ct)[0]), tree.map(_zeros_like, arg)) for arg in args)


def pure_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any) -> Any:
    """Call a Python function of NumPy arrays from a compiled program.

    Args:
        callback: the function; its result must depend only on its arguments.
        result_shape_dtypes: tree of objects with the shapes and dtypes of the results.
        args: arguments of the callback.

    >>> import pybraintrace as bt, numpy as np
    >>> f = bt.jit(lambda x: bt.pure_callback(np.sort, x, x))
    >>> f(bt.numpy.array([3., 1., 2.])).tolist()
    [1.0, 2.0, 3.0]
    """
    if not callable(callback):
        raise TypeError(f"pure_callback: expected a function, got {callback!r}")
    for leaf in tree.leaves(result_shape_dtypes):
        if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
            raise TypeError(f"pure_callback: expected result_shape_dtypes to hold objects with a shape and a dtype, such as arrays, got {leaf!r}")
    return _core.host_call(callback, result_shape_dtypes, args)
