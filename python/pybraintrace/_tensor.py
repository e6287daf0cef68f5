# SPDX-License-Identifier: Apache-2.0
"""Python part of Tensor: printing, iteration, exchange with array libraries, x.at[i].set(v)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _core
from ._arrays import from_pickle

Tensor = _core.Tensor


class _At:
    """Indexed updates of a tensor: x.at[key]."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __getitem__(self, key: Any) -> _Update:
        return _Update(self._tensor, key)


class _Update:
    """Updates of a tensor at an index; each returns a new tensor."""

    def __init__(self, tensor: Tensor, key: Any) -> None:
        self._tensor, self._key = tensor, key

    def get(self) -> Tensor:
        """Return x[key]."""
        return self._tensor[self._key]

    def set(self, value: Any) -> Tensor:
        """Return a copy with x[key] = value."""
        return self._tensor._set_at(self._key, value, "set")

    def add(self, value: Any) -> Tensor:
        """Return a copy with `value` added at x[key]; repeated indices accumulate."""
        return self._tensor._set_at(self._key, value, "add")

    def subtract(self, value: Any) -> Tensor:
        """Return a copy with `value` subtracted at x[key]; repeated indices accumulate."""
        return self.add(-_core.ops.asarray(value))

    def power(self, value: Any) -> Tensor:
        """Return a copy with x[key] raised to the power `value`; repeated indices count once."""
        return self.set(self.get() ** value)

    def apply(self, function: Callable[[Tensor], Any]) -> Tensor:
        """Return a copy with function(x[key]) at x[key]; repeated indices count once."""
        return self.set(function(self.get()))

    def multiply(self, value: Any) -> Tensor:
        """Return a copy with x[key] multiplied by `value`; repeated indices accumulate."""
        return self._tensor._set_at(self._key, value, "multiply")

    mul = multiply

    def divide(self, value: Any) -> Tensor:
        """Return a copy with x[key] divided by `value`; repeated indices accumulate."""
        return self._tensor._set_at(self._key, value, "divide")

    def min(self, value: Any) -> Tensor:
        """Return a copy with the minimum of x[key] and `value`; repeated indices accumulate."""
        return self._tensor._set_at(self._key, value, "min")

    def max(self, value: Any) -> Tensor:
        """Return a copy with the maximum of x[key] and `value`; repeated indices accumulate."""
        return self._tensor._set_at(self._key, value, "max")


def _repr(self: Tensor) -> str:
    if self.is_traced:
        return f"Tensor<traced {self.dtype}{list(self.shape)}>"
    return f"Tensor({np.array2string(self.numpy(), separator=', ', prefix='Tensor(')}, dtype={self.dtype})"


def _str(self: Tensor) -> str:
    return repr(self) if self.is_traced else str(self.numpy())


def _format(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if spec else str(self)


def _iter(self: Tensor) -> Iterator[Tensor]:
    return (self[i] for i in range(len(self)))


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"a tensor of dtype {array.dtype} cannot become an array of {dtype} without a copy; pass copy=True or None")
        return array.astype(dtype)
    return array.copy() if copy else array


def _dlpack(self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
    """Export a copy, because consumers may write to it; with `copy=False`, the memory itself, marked read-only (DLPack 1.0)."""
    if dl_device is not None and tuple(dl_device) != _dlpack_device(self):
        raise BufferError(f"the tensor is on the CPU, DLPack device {_dlpack_device(self)}; it cannot be exported to device {tuple(dl_device)}")
    if stream is not None:
        raise BufferError(f"expected stream=None for a tensor on the CPU, got {stream!r}")
    shares = copy is False
    if shares and (max_version is None or max_version[0] < 1):
        raise BufferError("tensors are read-only, which DLPack before version 1.0 cannot express; use a copy")
    return self._dlpack_of(shares).__dlpack__(max_version=max_version)


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    return 1, 0


def _deepcopy(self: Tensor, memo: Any) -> Tensor:
    return self


def _copy(self: Tensor) -> Tensor:
    return self


def _reduce(self: Tensor) -> Any:
    if self.is_traced:
        raise TypeError("a traced tensor cannot be pickled or copied: it has no elements yet")
    return from_pickle, (np.array(self.numpy()), str(self.dtype))


def _elements(value: Any) -> Any:
    """Return the arrays of tensors, also in sequences and dicts."""
    if isinstance(value, Tensor):
        return value.numpy()
    if type(value) in (list, tuple):
        return type(value)(_elements(v) for v in value)
    return {k: _elements(v) for k, v in value.items()} if type(value) is dict else value


def _is_known(value: Any) -> bool:
    """Whether NumPy can compute with the value; a quantity of another package has operators of its own."""
    return isinstance(value, (Tensor, np.ndarray, np.generic, int, float, complex, list, tuple))


def _array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    from . import numpy as namespace

    # Functions of the same name in other packages may mean something else.
    function = getattr(namespace, ufunc.__name__, None) if getattr(np, ufunc.__name__, None) is ufunc else None
    if method == "__call__" and function is not None and not kwargs:
        return function(*inputs)
    if not all(map(_is_known, inputs)):
        return NotImplemented
    return getattr(ufunc, method)(*_elements(inputs), **_elements(kwargs))


def _array_function(self: Tensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    from . import numpy as namespace

    name, places = func.__name__, {"numpy": (np, namespace), "numpy.linalg": (np.linalg, namespace.linalg)}
    theirs, ours = places.get(func.__module__, (None, None))
    function = getattr(ours, name, None) if getattr(theirs, name, None) is func else None
    if function is not None:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if _has_traced(args) or _has_traced(kwargs):
                raise
    # What this package lacks, NumPy computes with the elements.
    if not all(issubclass(t, (Tensor, np.ndarray)) for t in types):
        return NotImplemented
    return func(*_elements(args), **_elements(kwargs))


def _has_traced(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_traced, value))
    return any(map(_has_traced, value.values())) if isinstance(value, dict) else isinstance(value, Tensor) and value.is_traced


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    raise TypeError("a tensor cannot be changed; x = x.at[key].set(value) makes an updated copy")


def _contains(self: Tensor, value: Any) -> bool:
    return bool((self == value).any())


def _round(self: Tensor, ndigits: int | None = None) -> Any:
    from . import numpy as namespace

    return round(self.item()) if ndigits is None else namespace.round(self, ndigits)


def _divmod(self: Tensor, other: Any) -> tuple[Any, Any]:
    return self // other, self % other


def _rdivmod(self: Tensor, other: Any) -> tuple[Any, Any]:
    return other // self, other % self


def _array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    from . import numpy as namespace

    return namespace


for _name, _method in {
    "__contains__": _contains, "__repr__": _repr, "__str__": _str, "__format__": _format, "__iter__": _iter, "__array__": _array,
    "__dlpack__": _dlpack, "__dlpack_device__": _dlpack_device, "__reduce__": _reduce,
    "__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__array_namespace__": _array_namespace,
    "__deepcopy__": _deepcopy, "__copy__": _copy, "__setitem__": _setitem, "__round__": _round, "__divmod__": _divmod, "__rdivmod__": _rdivmod,
}.items():
    setattr(Tensor, _name, _method)
