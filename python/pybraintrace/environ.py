# SPDX-License-Identifier: Apache-2.0
"""Settings that many parts share: the time step, the precision, and any keys of your own.

>>> from pybraintrace import environ
>>> with environ.context(dt=0.1, phase='test'):
...     environ.get_dt(), environ.get('phase')
(0.1, 'test')
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _core
from .units import magnitude

_process: dict[str, Any] = {}
_missing = object()
_process_keys: Any = None  # of _process, as _keys_of gives them; _missing where a value may change unseen


class _Local(threading.local):
    def __init__(self) -> None:
        self.stack: list[dict[str, Any]] = []


_local = _Local()


def _dtype(precision: Any) -> Any:
    """64, 32, 16, 'bf16', or an element type."""
    return {64: "float64", 32: "float32", 16: "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}.get(precision, precision)


def _split(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    known = {k: settings[k] for k in ("dt", "precision", "training") if settings.get(k) is not None}
    if "fit" in settings:
        known["training"] = bool(settings["fit"])
    if "dt" in known:
        known["dt"] = magnitude(known["dt"])
    if "precision" in known:
        known["precision"] = _dtype(known["precision"])
    free = {k: v for k, v in settings.items() if k not in ("precision", "training")}
    return known, free


def set(**settings: Any) -> None:
    """Settings of the whole process: dt (ms), precision (16, 32, 64), training, and keys of your own."""
    global _process_keys
    known, free = _split(settings)
    _core.environ_set(**known)
    _process.update(free)
    _process_keys = _keys_of(_process) if builtins.all(map(_is_hashable, _process.values())) else _missing


@contextmanager
def context(**settings: Any) -> Iterator[dict[str, Any]]:
    """Settings of this thread inside a `with`."""
    known, free = _split(settings)
    _core.environ_enter(**known)
    _local.stack.append(free)
    try:
        yield all()
    finally:
        _local.stack.pop()
        _core.environ_leave()


@contextmanager
def backend_scope(name: str) -> Iterator[None]:
    """Another backend for programs of this thread inside a `with`.

    >>> import pybraintrace as bt
    >>> with bt.backend_scope('reference'):
    ...     bt.default_backend()
    'reference'
    """
    _core.backend_enter(name)
    try:
        yield
    finally:
        _core.backend_leave()


def all() -> dict[str, Any]:
    """All keys and their values."""
    merged = dict(_process)
    for frame in _local.stack:
        merged.update(frame)
    return merged


def get(key: str, default: Any = _missing) -> Any:
    """The value of a key."""
    if key == "precision":
        return _core.environ_precision()
    if key in ("training", "fit"):
        return _core.environ_training()
    for frame in reversed(_local.stack):
        if key in frame:
            return frame[key]
    if key in _process:
        return _process[key]
    if default is _missing:
        raise KeyError(f"the environment has no '{key}'; set it with environ.set({key}=…) or environ.context({key}=…)")
    return default


def get_dt() -> Any:
    """The time step, as it was given; in ms."""
    return get("dt", None) if get("dt", None) is not None else _core.environ_dt()


def get_precision() -> int:
    """Bits of the default float type."""
    return int(np.dtype(_core.environ_precision()).itemsize * 8)


def dftype() -> Any:
    """The default float type."""
    return _core.environ_precision()


def ditype() -> Any:
    """The default integer type."""
    return np.dtype("int64" if get_precision() == 64 else "int32")


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _keys_of(settings: dict[str, Any]) -> Any:
    """Keys and values, without tensors."""
    pairs = [(k, v if _is_hashable(v) else repr(v)) for k, v in sorted(settings.items()) if not isinstance(v, _core.Tensor)]
    return tuple(pairs) or None


def _static_keys() -> Any:
    """Keys that are part of the signature of jitted functions: those whose values are not tensors."""
    return _keys_of(all()) if _local.stack or _process_keys is _missing else _process_keys
