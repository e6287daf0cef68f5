# SPDX-License-Identifier: Apache-2.0
"""Code shown in the documents is code that is compiled and run, what it prints is shown as it is printed, and links
lead somewhere. The first entry of CHANGELOG.md has the version of the library, and CITATION.cff its version and date.
Usage: docs_test.py ROOT BIN

A block that follows a line `<!-- FILE -->` must appear, line for line, in that file; one that follows
`<!-- output of PROGRAM -->` in what BIN/PROGRAM prints. A picture docs/img/NAME.svg is what BIN/NAME prints, to a pixel. Every
page of docs/ is linked from another page or the README. A path in backquotes, such as `tests/golden` or `ir/op.h`, exists. The speeds of the
README are those of docs/performance.md."""
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, BIN = map(pathlib.Path, sys.argv[1:])
CODE_BLOCK = re.compile(r"<!-- (\S+) -->\n```(?:cpp|python)\n(.*?)```", re.S)
OUTPUT_BLOCK = re.compile(r"<!-- output of (\w+) -->\n```\n(.*?)```", re.S)
CODE = re.compile(r"```.*?```", re.S)
LINK = re.compile(r"\]\(([^)#:]+)\)")
PLACES = [ROOT, ROOT / "braintrace"]  # paths in backquotes start in one of them
FOLDERS = [f.name for place in PLACES for f in place.iterdir() if f.is_dir() and f.name != "build"]
PATH = re.compile(rf"`((?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*-]+)`")


@functools.cache
def output_of(program):
    return subprocess.run([BIN / program], check=True, capture_output=True, text=True).stdout


def drawing(picture):
    if picture != "fidelity_gru":
        return output_of(picture)
    with tempfile.TemporaryDirectory() as folder:  # the command of docs/rules.md
        file = pathlib.Path(folder) / "fidelity.svg"
        args = [BIN / "braintrace", "fidelity", ROOT / "docs/img/gru_6.json", "-o", file]
        subprocess.run(args, check=True, capture_output=True)
        return file.read_text()


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def same_picture(a, b):
    """The same text, and every number within one: C libraries round functions differently on other processors."""
    apart = zip(NUMBER.findall(a), NUMBER.findall(b))
    return NUMBER.sub("", a) == NUMBER.sub("", b) and all(abs(float(x) - float(y)) <= 1 for x, y in apart)


code, outputs, wrong, linked = 0, 0, [], set()
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "python/README.md")]
for page in [*TOP, *sorted((ROOT / "docs").rglob("*.md"))]:
    text = page.read_text()
    for name, block in CODE_BLOCK.findall(text):
        code += 1
        if block not in (ROOT / name).read_text():
            wrong.append(f"{page.name}: this is not in {name}:\n{block}")
    for program, block in OUTPUT_BLOCK.findall(text):
        outputs += 1
        if block not in output_of(program):
            wrong.append(f"{page.name}: {program} does not print this:\n{block}")
    links = LINK.findall(CODE.sub("", text))
    linked |= {(page.parent / link).resolve() for link in links} - {page.resolve()}
    wrong += [f"{page.name}: no such file: {link}" for link in links if not (page.parent / link).exists()]
    paths = [] if page.name == "CHANGELOG.md" else PATH.findall(text)  # which may name what is gone
    wrong += [f"{page.name}: no such path: {path}" for path in paths if not any(any(p.glob(path)) for p in PLACES)]
performance = (ROOT / "docs/performance.md").read_text()
speeds = re.findall(r"\| (\S+) \| (\S+) \| (\S+) × \|", (ROOT / "README.md").read_text())
wrong += [f"README.md: {s} is not in performance.md" for s in speeds if f"| {' | '.join(s)} |" not in performance]
version = re.search(r'version = "([^"]+)"', (ROOT / "braintrace/base/version.h").read_text())[1]
newest, date = re.search(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M).groups()
if newest != version:
    wrong.append(f"CHANGELOG.md: its first entry is {newest}, the library is {version}")
if f"\nversion: {version}\ndate-released: {date}\n" not in (ROOT / "CITATION.cff").read_text():
    wrong.append(f"CITATION.cff: its version is not {version}, or its date not that of CHANGELOG.md, {date}")
pictures = list((ROOT / "docs/img").glob("*.svg"))
wrong += [f"{p.name} is not what draws it" for p in pictures if not same_picture(p.read_text(), drawing(p.stem))]
wrong += [f"no page links to {p.relative_to(ROOT)}" for p in (ROOT / "docs").rglob("*.md") if p.resolve() not in linked]
found = f"{code} code blocks match their files, {outputs} outputs and {len(pictures)} picture(s) their programs"
print("\n".join(wrong) or found)
sys.exit(bool(wrong) or not speeds or code < 15 or outputs < 8 or not pictures)
