# SPDX-License-Identifier: Apache-2.0
"""How objects look in notebooks: the graph as a page to click through, and as a picture where scripts are dropped."""

from __future__ import annotations

import html
from typing import Any

from . import _core


def framed(page: str, height: int = 520) -> str:
    """A whole page inside a cell."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0"></iframe>'


def as_text(text: str) -> str:
    """Text in a fixed pitch."""
    return f"<pre>{html.escape(text)}</pre>"


def _graph_html(self: Any) -> str:
    return framed(self.to_html())


def _graph_svg(self: Any) -> str:
    return self.to_svg()


setattr(_core.ETraceGraph, "_repr_html_", _graph_html)
setattr(_core.ETraceGraph, "_repr_svg_", _graph_svg)
setattr(_core.OnlineLearner, "_repr_html_", lambda self: _graph_html(self.graph) if self.is_compiled else as_text(repr(self)))
setattr(_core.OnlineLearner, "_repr_svg_", lambda self: self.graph.to_svg() if self.is_compiled else None)
setattr(_core.Module, "_repr_html_", lambda self: as_text(repr(self)))
setattr(_core.CompilationReport, "_repr_html_", lambda self: as_text(self.to_str(2)))
