# SPDX-License-Identifier: Apache-2.0
"""Progress bars for long runs, which can be interrupted between pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core, tree


class ProgressBar:
    """Settings of a progress bar.

    Args:
        freq: update the bar every `freq` steps.
        count: number of updates in total, default 20; ignored if `freq` is given.
        desc: text before the bar.
    """

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


def in_pieces(run: Callable[[tuple[Any, ...]], Any], xs: tuple[Any, ...], pbar: Any, reverse: bool = False) -> Any:
    """Call `run` on slices of the leading axis, with a progress bar; Ctrl-C takes effect between slices.

    Args:
        run: function from a slice of `xs` to its results.
        xs: trees of arrays with the same leading axis.
        pbar: True, steps per update, a ProgressBar, or an object with a method `update`.
        reverse: from the last slice to the first.

    Returns:
        The results, concatenated along the leading axis.
    """
    if not isinstance(pbar, (int, ProgressBar)) and not hasattr(pbar, "update"):
        raise TypeError(f"pbar: expected True, a number of steps, a ProgressBar, or an object with a method `update`, got {pbar!r}")
    sizes = {_core.ops.asarray(x).shape[:1] for x in tree.leaves(xs)}
    if len(sizes) != 1 or sizes & {(), (0,)}:
        return run(xs)  # which says what is wrong, or has nothing to do
    length = sizes.pop()[0]
    step = pbar if isinstance(pbar, int) and not isinstance(pbar, bool) else getattr(pbar, "freq", None)
    step = max(1, int(step or length // (getattr(pbar, "count", None) or 20) or 1))
    bar, pieces, starts = _bar(length, pbar), {}, range(0, length, step)
    try:
        for start in reversed(starts) if reverse else starts:
            pieces[start] = run(tree.map(lambda x: _core.ops.asarray(x)[start:start + step], xs))
            if bar is not None:
                bar.update(min(step, length - start))
    finally:
        if bar is not None and bar is not pbar:
            bar.close()
    return tree.map(lambda *parts: _core.ops.concat(list(parts), 0), *(pieces[start] for start in starts))
