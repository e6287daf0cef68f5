# SPDX-License-Identifier: Apache-2.0
"""`X.desc(…)`: a part that is created later, when its size is known."""

from __future__ import annotations

import functools
from typing import Any

from .. import _modules, environ, nn, numpy

Size = tuple[int, ...]


class Desc:
    """A part that is created when its size is known."""

    def __init__(self, make: Any, args: Any, kwargs: Any) -> None:
        self._make, self._args, self._kwargs = make, args, kwargs

    def __call__(self, **size: Any) -> Any:
        return self._make(*self._args, **{**size, **self._kwargs})


class Described:
    """A class or function with a method `desc`."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._make(*args, **kwargs)

    def desc(self, *args: Any, **kwargs: Any) -> Desc:
        """Return a description; the part is created where it is used."""
        return Desc(self._make, args, kwargs)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        return (self._make,)


def made(part: Any) -> Any:
    """Return the part, created if it is a description."""
    return part() if isinstance(part, Desc) else part


def sized(layer: Any) -> Any:
    """Let the constructor of a layer also take and keep `in_size`."""

    @functools.wraps(layer, updated=())
    def make(*args: Any, in_size: Any = None, **kwargs: Any) -> Any:
        result = layer(*args, **kwargs)
        result.in_size = in_size
        return result

    return make


def _input_size(layer: Any) -> Size:
    """Return the input size of a layer, from its attribute or its arguments."""
    args, kwargs = getattr(layer, "_arguments", ((), {}))
    size = layer.in_size if hasattr(layer, "in_size") else kwargs.get("in_size", args[0] if args else None)
    if size is None:
        raise ValueError(f"{type(layer).__name__}: the input size is unknown; pass in_size=…")
    return tuple(size) if isinstance(size, (list, tuple)) else (size,)


def _output_size(layer: Any, in_size: Size) -> Size:
    """Return the shape of the output for zeros, which does not depend on the time step."""
    known = getattr(layer, "out_size", None)
    if known is not None:
        return tuple(known)
    with environ.context(dt=1.0):
        return tuple(numpy.shape(_modules.init_all_states(layer)(numpy.zeros(in_size))))


class Sequential(nn.Sequential):
    """Apply layers in order. A described layer is created for the output size of the previous one.

    >>> from pybraintrace.compat import brainpy, brainstate
    >>> net = brainstate.nn.Sequential(brainstate.nn.Linear(3, 4), brainpy.state.IF.desc(tau=5.0), brainstate.nn.Flatten.desc())
    >>> net.out_size
    (4,)
    """

    def __init__(self, first: Any, *layers: Any) -> None:
        super().__init__(first)
        for layer in layers:
            self.layers.append(layer(in_size=self.out_size) if isinstance(layer, Desc) else layer)

    @property
    def out_size(self) -> Size:
        """Output size for one sample."""
        size = _input_size(self.layers[0])
        for layer in self.layers:
            size = _output_size(layer, size)
        return size
