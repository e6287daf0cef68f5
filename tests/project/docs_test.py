# SPDX-License-Identifier: Apache-2.0
"""Code shown in the documents is code that is compiled and run, and links lead somewhere.  Usage: docs_test.py ROOT

A block that follows a line `<!-- FILE -->` must appear, line for line, in that file."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
BLOCK = re.compile(r"<!-- (\S+) -->\n```cpp\n(.*?)```", re.S)
CODE = re.compile(r"```.*?```", re.S)
LINK = re.compile(r"\]\(([^)#:]+)\)")

blocks, wrong = 0, []
for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
    text = page.read_text()
    for name, code in BLOCK.findall(text):
        blocks += 1
        if code not in (ROOT / name).read_text():
            wrong.append(f"{page.name}: this is not in {name}:\n{code}")
    links = LINK.findall(CODE.sub("", text))
    wrong += [f"{page.name}: no such file: {link}" for link in links if not (page.parent / link).exists()]
print("\n".join(wrong) or f"{blocks} code blocks match their files")
sys.exit(bool(wrong) or blocks < 4)
