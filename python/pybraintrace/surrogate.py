# SPDX-License-Identifier: Apache-2.0
"""Surrogate gradients of the spike function. Each has a constructor (`ReluGrad`) and a function (`relu_grad`).

>>> from pybraintrace import surrogate
>>> surrogate.ReluGrad(alpha=0.3)
relu_grad(alpha=0.3, width=1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core.spiking import Surrogate, register_surrogate, surrogates


def _class_name(name: str) -> str:
    special = {"s2nn": "S2NN"}
    return special.get(name, "".join(part.capitalize() for part in name.split("_")))


def _constructor(kind: str, doc: str, defaults: dict[str, float]) -> Callable[..., Surrogate]:
    def make(*args: float, **kwargs: float) -> Surrogate:
        values = dict(defaults)
        values.update(zip(defaults, args))
        unknown = set(kwargs) - set(defaults)
        if unknown:
            raise TypeError(f"{make.__name__}: unknown parameters {sorted(unknown)}; known: {list(defaults)}")
        if len(args) > len(defaults) or set(kwargs) & set(list(defaults)[:len(args)]):
            raise TypeError(f"{make.__name__}: expected each of {list(defaults)} at most once, got {args} and {kwargs}")
        values.update(kwargs)
        return Surrogate(kind, [float(v) for v in values.values()])

    make.__name__ = make.__qualname__ = _class_name(kind)
    make.__doc__ = f"{doc}; parameters: {', '.join(f'{k}={v:g}' for k, v in defaults.items()) or 'none'}."
    return make


def _function(kind: str, make: Callable[..., Surrogate]) -> Callable[..., Any]:
    def spike(x: Any, **kwargs: float) -> Any:
        return make(**kwargs)(x)

    spike.__name__ = spike.__qualname__ = kind
    spike.__doc__ = f"Return 1 where x >= 0, else 0; derivative: {make.__doc__}"
    return spike


__all__ = ["Surrogate", "register_surrogate", "surrogates"]
for _kind, _doc, _defaults in surrogates():
    _make = _constructor(_kind, _doc, _defaults)
    globals()[_make.__name__] = _make
    globals()[_kind] = _function(_kind, _make)
    __all__ += [_make.__name__, _kind]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"unknown surrogate '{name}'; known: {sorted(n for n in __all__ if n[0].isupper())}")
