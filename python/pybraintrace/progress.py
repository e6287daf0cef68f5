# SPDX-License-Identifier: Apache-2.0
"""Progress bars, and a place to stop between pieces of long runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core, tree


class ProgressBar:
    """How often a bar moves: every `freq` steps, or `count` times in all."""

    def __init__(self, freq: int | None = None, count: int | None = None, desc: str | None = None) -> None:
        self.freq, self.count, self.desc = freq, count, desc


def _bar(total: int, pbar: Any) -> Any:
    if hasattr(pbar, "update") and not isinstance(pbar, ProgressBar):
        return pbar
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=getattr(pbar, "desc", None))


def in_pieces(run: Callable[[tuple[Any, ...]], Any], xs: tuple[Any, ...], pbar: Any) -> Any:
    """run(piece) over stretches of the leading axis, with a bar; Ctrl-C takes effect between them."""
    length = len(tree.leaves(xs)[0])
    step = pbar if isinstance(pbar, int) and not isinstance(pbar, bool) else getattr(pbar, "freq", None)
    step = max(1, int(step or length // (getattr(pbar, "count", None) or 20) or 1))
    bar, pieces = _bar(length, pbar), []
    for start in range(0, length, step):
        pieces.append(run(tree.map(lambda x: _core.ops.asarray(x)[start:start + step], xs)))
        if bar is not None:
            bar.update(min(step, length - start))
    if bar is not None and bar is not pbar:
        bar.close()
    return tree.map(lambda *parts: _core.ops.concat(list(parts), 0), *pieces)
