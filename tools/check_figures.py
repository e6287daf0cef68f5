#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a document shows measured figures and does not say where they come from.  Usage: check_figures.py [ROOT]

A section (from one heading to the next) that has a table of measured numbers, or a sentence such as "takes 3.4 ms", needs a line

    *Figures: the test `NAME` checks them.*            NAME: a test of ctest, a Google Test suite, or a file
    *Figures: one run on 2026-11-16, WHERE, `COMMAND`.*

or such a line before its first section, which then holds for the whole page. Code blocks are not looked at: what they show has tests of
its own (docs_test.py)."""
import pathlib
import re
import sys

CODE = re.compile(r"```.*?```|^(?: {4}\S[^\n]*\n)+", re.S | re.M)
HEADING = re.compile(r"^#{1,3} (.*)$", re.M)
SOURCE = re.compile(r"^\*Figures: (.*?)\*$", re.S | re.M)
CELL = re.compile(r"\| *\**[-–]?\d[\d,]*\.\d+[^|\d]*(?=\|)|\| *\d[\d,]* ?(?:ms|µs|s|kB|MB|KiB|MiB|%)? *(?=\|)|\d → \d|\d ± \d")
UNIT = r"(?:ms|µs|microseconds|s|seconds|minutes|kB|MB|GB|KiB|MiB|GiB|GB/s|Gflop/s|Mflop|%|times)"
SAYS = re.compile(r"\b(?i:takes?|took|reach(?:es|ed)?|measured|costs?|accuracy|faster|slower|pays?|are|is)\b[^.|]{0,60}?\b\d[\d.,]* ?" + UNIT
                  + r"(?![\w-])")
# Written and checked by the program that they describe, history, and numbers that define something.
LEFT_OUT = {"docs/models.md", "docs/tasks.md", "docs/notation.md", "docs/bibliography.md"}
NAMES = re.compile(r"`([\w./-]+)`")


def sections(text):
    """(title, text) of the part before the first section, and of each section, without code."""
    text = CODE.sub("", text)
    heads = list(HEADING.finditer(text))
    ends = [h.start() for h in heads[1:]] + [len(text)]
    return [(h[1], text[h.end():end]) for h, end in zip(heads, ends)]


def figures(text):
    """The first measured figure of a section, or None."""
    rows = [line for line in text.splitlines() if line.startswith("|") and (len(CELL.findall(line)) >= 2 or "±" in line)]
    if len(rows) >= 2:
        return rows[0]
    found = SAYS.search(SOURCE.sub("", text))
    return found[0] if found else None


def known_names(root):
    tests = "".join(p.read_text() for p in [*root.glob("tests/**/CMakeLists.txt"), *root.glob("cmake/*.cmake")])
    ctest = set(re.findall(r"add_test\(NAME (\w+)", tests))
    suites = {m for p in [*root.glob("braintrace/**/*_test.cpp"), *root.glob("tests/**/*.cpp")]
              for m in re.findall(r"\bTEST(?:_F|_P)?\((\w+)", p.read_text())}
    return ctest | suites


def wrong_source(source, root, names):
    """What is wrong with the words of a source, or None."""
    if re.search(r"\d{4}-\d{2}-\d{2}", source):
        return None if "`" in source else "no command"
    named = [n for n in NAMES.findall(source) if n.split(".")[0] in names or (root / n).is_file()]
    return None if named else "neither a date nor a test or file that exists"


def problems(root):
    names = known_names(root)
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for page in pages:
        name = str(page.relative_to(root))
        if name in LEFT_OUT:
            continue
        parts = sections(page.read_text())
        whole = SOURCE.search(parts[0][1]) if parts else None
        for title, text in parts:
            source = SOURCE.search(text) or whole
            shown = figures(text)
            if source and (wrong := wrong_source(source[1], root, names)):
                yield f"{name}, {title}: {wrong}: {source[1][:80]}"
            if shown and not source:
                yield f"{name}, {title}: where is this from?  {shown.strip()[:110]}"


if __name__ == "__main__":
    found = list(dict.fromkeys(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))))
    print("\n".join(found) or "every section with figures says where they come from")
    sys.exit(bool(found))
