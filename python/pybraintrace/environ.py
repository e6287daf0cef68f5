# SPDX-License-Identifier: Apache-2.0
"""Shared settings: the time step, the precision, and custom keys.

>>> from pybraintrace import environ
>>> with environ.context(dt=0.1, phase='test'):
...     environ.get_dt(), environ.get('phase')
(0.1, 'test')
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import _core
from .units import magnitude

_process: dict[str, Any] = {}
_missing = object()
_process_keys: Any = None  # _keys_of(_process); _missing if a value may change unnoticed


class _Frame:
    """Settings of one `context`, and the asyncio task that entered it."""

    def __init__(self, known: dict[str, Any], free: dict[str, Any]) -> None:
        self.known, self.free, self.task = known, free, _running_task()


class _Local(threading.local):
    def __init__(self) -> None:
        self.stack: list[_Frame] = []


_local = _Local()


def _running_task() -> Any:
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio.current_task() if asyncio else None
    except RuntimeError:  # no loop runs
        return None


def _enter(frame: _Frame) -> None:
    _core.environ_enter(**frame.known)
    _local.stack.append(frame)


def _leave(frame: _Frame) -> None:
    """Leave a frame but keep those above it: a generator may leave later than a context that it entered before."""
    at = _local.stack.index(frame)
    above = _local.stack[at + 1:]
    for _ in range(len(above) + 1):
        _core.environ_leave()
    del _local.stack[at:]
    for other in above:
        _enter(other)


def _dtype(precision: Any) -> Any:
    """Return the dtype of a precision: 64, 32, 16, 'bf16', or a dtype."""
    known = {64: "float64", 32: "float32", 16: "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    if isinstance(precision, int) and precision not in known:
        raise ValueError(f"precision: expected 64, 32, 16, 'bf16' or an element type, got {precision}")
    return known.get(precision, precision)


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
    """Set settings of the process.

    Args:
        settings: `dt` (ms), `precision` (64, 32, 16, 'bf16' or a dtype), `training`, and custom keys.
    """
    global _process_keys
    known, free = _split(settings)
    _core.environ_set(**known)
    _process.update(free)
    _process_keys = _keys_of(_process) if builtins.all(map(_is_fixed, _process.values())) else _missing


@contextmanager
def context(**settings: Any) -> Iterator[dict[str, Any]]:
    """Context manager that sets settings of the current thread; arguments are those of `set`.

    asyncio tasks share a thread, so two of them cannot be inside a context at the same time.

    Raises:
        StateError: another asyncio task is inside a context.
    """
    frame = _Frame(*_split(settings))
    if frame.task is not None and builtins.any(f.task not in (None, frame.task) for f in _local.stack):
        raise _core.StateError("environ.context: another asyncio task of this thread is inside a context, and tasks share the settings of their thread; "
                               "leave it before await, or set it around asyncio.run")
    _enter(frame)
    try:
        yield all()
    finally:
        _leave(frame)


@contextmanager
def backend_scope(name: str) -> Iterator[None]:
    """Context manager that sets the backend of the current thread.

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
    """Return all keys and values that were set."""
    merged = dict(_process)
    for frame in _local.stack:
        merged.update(frame.free)
    return merged


def get(key: str, default: Any = _missing) -> Any:
    """Return the value of a key, or `default` if it is not set.

    Raises:
        KeyError: the key is not set and there is no default.
    """
    if key == "precision":
        return _core.environ_precision()
    if key in ("training", "fit"):
        return _core.environ_training()
    for frame in reversed(_local.stack):
        if key in frame.free:
            return frame.free[key]
    if key in _process:
        return _process[key]
    if default is _missing:
        raise KeyError(f"environ: '{key}' is not set; set it with environ.set({key}=…) or environ.context({key}=…)")
    return default


def get_dt() -> Any:
    """Return the time step (ms), as it was set."""
    return get("dt", None) if get("dt", None) is not None else _core.environ_dt()


def get_precision() -> int:
    """Return the number of bits of the default float type."""
    return int(np.dtype(_core.environ_precision()).itemsize * 8)


def dftype() -> Any:
    """Return the default float type."""
    return _core.environ_precision()


def ditype() -> Any:
    """Return the default integer type."""
    return np.dtype("int64" if get_precision() == 64 else "int32")


def _is_fixed(value: Any) -> bool:
    """Whether a value stays equal to itself: Python compares it, and it holds no tensor."""
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, (_core.Tensor, tuple))


def _key_of(value: Any) -> Any:
    """Return what identifies a value in signatures: elements of arrays, entries of lists and dicts, and otherwise the value itself."""
    if type(value) in (float, int, bool, str):  # these first, because they are frequent
        return type(value), value
    if isinstance(value, _core.Tensor):
        return _core.Tensor if value.is_traced else _key_of(value.numpy())  # traced: the outer program has it as an operand
    if isinstance(value, np.ndarray) and value.dtype != object:
        return np.ndarray, value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "mantissa") and hasattr(value, "unit"):  # a quantity
        return type(value), _key_of(value.mantissa), repr(value.unit)
    if isinstance(value, (list, tuple)):
        return type(value), *map(_key_of, value)
    if isinstance(value, dict):
        return type(value), *((_key_of(k), _key_of(v)) for k, v in value.items())
    return (type(value), value) if _is_fixed(value) else repr(value)


def _keys_of(settings: dict[str, Any]) -> Any:
    """Return the keys with what identifies their values."""
    return tuple((k, _key_of(v)) for k, v in sorted(settings.items())) or None


def _static_keys() -> Any:
    """Return the settings that are part of the signature of jitted functions."""
    return _keys_of(all()) if _local.stack or _process_keys is _missing else _process_keys
