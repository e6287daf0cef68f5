# SPDX-License-Identifier: Apache-2.0
"""Display of objects in notebooks: graphs as interactive pages, or as pictures where scripts are disabled."""

from __future__ import annotations

from typing import Any

from . import _core


def framed(page: str, height: int = 520) -> str:
    """Return an iframe that shows a page in a notebook cell."""
    from html import escape

    return f'<iframe srcdoc="{escape(page)}" style="width:100%;height:{height}px;border:0"></iframe>'


def as_text(text: str) -> str:
    """Return text as preformatted HTML."""
    from html import escape

    return f"<pre>{escape(text)}</pre>"


def _graph_html(self: Any) -> str:
    return framed(self.to_html())


def _graph_svg(self: Any) -> str:
    return self.to_svg()


def _learner_html(self: Any) -> str:
    return _graph_html(self.graph) if self.is_compiled else as_text(repr(self))


def _learner_svg(self: Any) -> str | None:
    return self.graph.to_svg() if self.is_compiled else None


def _module_html(self: Any) -> str:
    return as_text(repr(self))


def _report_html(self: Any) -> str:
    return as_text(self.to_str(2))


def _fidelity_html(self: Any) -> str:
    return self.to_svg() + as_text(self.table())


for _kind, _methods in {
    _core.ETraceGraph: {"_repr_html_": _graph_html, "_repr_svg_": _graph_svg},
    _core.OnlineLearner: {"_repr_html_": _learner_html, "_repr_svg_": _learner_svg},
    _core.Module: {"_repr_html_": _module_html},
    _core.CompilationReport: {"_repr_html_": _report_html},
    _core.FidelityReport: {"_repr_html_": _fidelity_html, "_repr_svg_": _graph_svg},
    _core.Advice: {"_repr_html_": _module_html},
}.items():
    for _name, _method in _methods.items():
        setattr(_kind, _name, _method)
