# SPDX-License-Identifier: Apache-2.0
"""`braintools`: optimizers, initializers, losses, surrogates."""

from types import SimpleNamespace
from typing import Any

from .. import init, metric, optim, surrogate


def _get_figure(row_num: int, col_num: int, row_len: float = 3.0, col_len: float = 6.0) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.gridspec import GridSpec

    figure = plt.figure(figsize=(col_num * col_len, row_num * row_len), constrained_layout=True)
    return figure, GridSpec(row_num, col_num, figure=figure)


visualize = SimpleNamespace(get_figure=_get_figure)
__all__ = ["init", "metric", "optim", "surrogate", "visualize"]
