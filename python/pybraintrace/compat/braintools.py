# SPDX-License-Identifier: Apache-2.0
"""`braintools`: optimizers, initializers, losses, surrogates."""

from types import SimpleNamespace
from typing import Any

from .. import init, metric, optim as _optim, surrogate as _surrogate


def _get_figure(row_num: int, col_num: int, row_len: float = 3.0, col_len: float = 6.0) -> Any:
    import matplotlib.pyplot as plt
    from matplotlib.gridspec import GridSpec

    figure = plt.figure(figsize=(col_num * col_len, row_num * row_len), constrained_layout=True)
    return figure, GridSpec(row_num, col_num, figure=figure)


class _Module:
    """A module with further names."""

    def __init__(self, module: Any, **names: Any) -> None:
        self.__dict__.update(names, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._module), *vars(self)})


optim, surrogate = _Module(_optim, RMSprop=_optim.RMSProp), _Module(_surrogate, ERF=_surrogate.Erf)
visualize = SimpleNamespace(get_figure=_get_figure)
__all__ = ["init", "metric", "optim", "surrogate", "visualize"]
