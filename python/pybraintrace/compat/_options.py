# SPDX-License-Identifier: Apache-2.0
"""Transforms with the options of the JAX package that change nothing here: the compiler plans memory and loops itself."""

from __future__ import annotations

import functools
from typing import Any

from .. import transform


def jit(f: Any = None, *, static_argnums: Any = (), static_argnames: Any = (), donate_argnums: Any = None, donate_argnames: Any = None,
        keep_unused: bool = False, inline: bool = False) -> Any:
    """Like `pybraintrace.jit`; the other options have no effect."""
    static = {"static_argnums": () if static_argnums is None else static_argnums, "static_argnames": () if static_argnames is None else static_argnames}
    return functools.partial(transform.jit, **static) if f is None else transform.jit(f, **static)


def for_loop(f: Any, *xs: Any, length: int | None = None, reverse: bool = False, unroll: int | bool = 1, pbar: Any = None) -> Any:
    """Like `pybraintrace.for_loop`; `unroll` has no effect."""
    return transform.for_loop(f, *xs, length=length, reverse=reverse, pbar=pbar)


def scan(f: Any, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: int | bool = 1, pbar: Any = None) -> Any:
    """Like `pybraintrace.scan`; `unroll` has no effect."""
    return transform.scan(f, init, xs, length, reverse, pbar)
