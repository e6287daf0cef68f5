# SPDX-License-Identifier: Apache-2.0
"""`X.desc(…)`: a part that is made later, where its place and so its size are known."""

from __future__ import annotations

import functools
from typing import Any

from .. import _modules, environ, nn, numpy

Size = tuple[int, ...]


class Desc:
    """A part that is made when its place is known."""

    def __init__(self, make: Any, args: Any, kwargs: Any) -> None:
        self._make, self._args, self._kwargs = make, args, kwargs

    def __call__(self, **size: Any) -> Any:
        return self._make(*self._args, **{**size, **self._kwargs})


class Described:
    """A class or function with `desc`."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._make(*args, **kwargs)

    def desc(self, *args: Any, **kwargs: Any) -> Desc:
        """A description: the part is made where it is used."""
        return Desc(self._make, args, kwargs)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        return (self._make,)


def made(part: Any) -> Any:
    """The part itself, made where it was only described."""
    return part() if isinstance(part, Desc) else part


def sized(layer: Any) -> Any:
    """A layer that fits any size; it also takes the size of its input, and keeps it."""

    @functools.wraps(layer, updated=())
    def make(*args: Any, in_size: Any = None, **kwargs: Any) -> Any:
        result = layer(*args, **kwargs)
        result.in_size = in_size
        return result

    return make


def _input_size(layer: Any) -> Size:
    """The size that a layer was made for, from its attribute or its arguments."""
    args, kwargs = getattr(layer, "_arguments", ((), {}))
    size = layer.in_size if hasattr(layer, "in_size") else kwargs.get("in_size", args[0] if args else None)
    if size is None:
        raise ValueError(f"{type(layer).__name__}: the size of its input is not known; give it in_size=…")
    return tuple(size) if isinstance(size, (list, tuple)) else (size,)


def _output_size(layer: Any, in_size: Size) -> Size:
    """The shape of its answer to zeros, which does not depend on the time step."""
    known = getattr(layer, "out_size", None)
    if known is not None:
        return tuple(known)
    with environ.context(dt=1.0):
        return tuple(numpy.shape(_modules.init_all_states(layer)(numpy.zeros(in_size))))


class Sequential(nn.Sequential):
    """Layers in order; one that is only described is made for what the layer before it returns.

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
        """The size of what it returns for one sample."""
        size = _input_size(self.layers[0])
        for layer in self.layers:
            size = _output_size(layer, size)
        return size
