# SPDX-License-Identifier: Apache-2.0
"""MkDocs hook: converts formulas to MathML, which browsers draw without a script, and h_t and h_{t-1} in text to letters with
subscripts."""
import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)
NOT_TEXT = re.compile(r"(<(pre|code|math|h\d)\b.*?</\2>|<[^>]*>)", re.S)
SUBSCRIPT = re.compile(r"(?<![\w`])([^\W\d_]'?|∇)_(?:\{([^}<]+)\}|(\w(?:,\w)*)(?!\w))")


def with_subscripts(text):
    at, out = 0, ""
    for skipped in NOT_TEXT.finditer(text):
        out += SUBSCRIPT.sub(lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", text[at:skipped.start()]) + skipped[0]
        at = skipped.end()
    return out + text[at:]


def on_page_content(text, **_):
    formulas = lambda m: convert(html.unescape(m[3]), display="block" if m[2] == "[" else "inline")
    return with_subscripts(FORMULA.sub(formulas, text))
