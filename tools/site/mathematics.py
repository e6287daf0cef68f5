# SPDX-License-Identifier: Apache-2.0
"""Hook of MkDocs: formulas become MathML when the site is built, which browsers draw without a script."""
import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)


def on_page_content(text, **_):
    return FORMULA.sub(lambda m: convert(html.unescape(m[3]), display="block" if m[2] == "[" else "inline"), text)
