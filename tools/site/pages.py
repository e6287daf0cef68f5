# SPDX-License-Identifier: Apache-2.0
"""Collects the pages of the site.  Usage: pages.py ROOT COMMAND OUT

The pages are those of docs/, README, CHANGELOG, CONTRIBUTING and SECURITY; links to source files lead to copies of the files.
The reference is generated from the public headers (cpp_reference.py), the stubs of the Python package and --help."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys

import cpp_reference

ROOT, COMMAND, OUT = map(pathlib.Path, sys.argv[1:])
DOCS = ROOT / "docs"
TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)


def place_of(file):
    """Where a file of the repository is in the site."""
    inside = file.relative_to(ROOT.resolve())
    if inside.parts[0] == "docs":
        return OUT / inside.relative_to("docs")
    if str(inside) in TOP:
        return OUT / TOP[str(inside)]
    place = OUT / "source" / inside.with_name(inside.name + ".txt")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, place)
    return place


def relative(target, page):
    return pathlib.Path(*[".."] * len(page.parent.relative_to(OUT).parts), target.relative_to(OUT)).as_posix()


def with_links(text, origin, page):
    def moved(m):
        target = (origin.parent / m[2]).resolve()
        return m[1] + relative(place_of(target), page) + m[3] if target.is_file() else m[0]

    parts = CODE.split(text)
    return "".join(p if i % 2 else LINK.sub(moved, p) for i, p in enumerate(parts))


def copy_pages():
    for file in DOCS.rglob("*"):
        if file.suffix == ".md":
            page = OUT / file.relative_to(DOCS)
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(with_links(file.read_text(), file, page))
        elif file.suffix in (".png", ".svg", ".json"):
            page = OUT / file.relative_to(DOCS)
            page.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, page)
    for name, page in TOP.items():
        (OUT / page).write_text(with_links((ROOT / name).read_text(), ROOT / name, OUT / page))


def command_line():
    def said(*args):
        return subprocess.run([COMMAND, *args], check=True, capture_output=True, text=True, env={"COLUMNS": "100"}).stdout

    top = said("--help")
    out = f"# Command line\n\n```\n{top}```\n"
    for name in re.findall(r"^  (\w+) ", top.split("Commands:")[1].split("Options:")[0], re.M):
        out += f"\n## {name}\n\n```\n{said(name, '--help')}```\n"
    return out


def signature(node):
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def described(node):
    doc = ast.get_docstring(node)
    return f"\n{doc}\n" if doc else ""


def python_module(path):
    """Functions, and classes with their methods, that have a docstring."""
    out = ""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and ast.get_docstring(node):
            out += f"\n#### `{node.name}`\n\n```python\n{signature(node)}\n```\n{described(node)}"
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node):
            bases = ", ".join(map(ast.unparse, node.bases))
            out += f"\n#### `{node.name}`\n\n```python\nclass {node.name}({bases})\n"
            out += "".join(f"    {signature(m)}\n" for m in node.body
                           if isinstance(m, ast.FunctionDef) and (m.name == "__init__" or not m.name.startswith("_")))
            out += f"```\n{described(node)}"
    return out


def python_reference():
    package = ROOT / "python/pybraintrace"
    out = "# Python reference\n\nGenerated from the sources and stubs of `pybraintrace`. See also the [Python guide](../python.md).\n"
    public = [p for p in [*package.glob("*.py"), *package.glob("*.pyi")] if p.stem == "__init__" or not p.stem.startswith("_")]
    for path in sorted([*public, *(package / "_core").glob("*.pyi")]):
        text = python_module(path)
        name = f"pybraintrace.{path.parent.name + '.' if path.parent != package else ''}{path.stem}".replace(".__init__", "")
        if text:
            out += f"\n## {name}{' (types)' if path.suffix == '.pyi' else ''}\n{text}"
    return out


copy_pages()
reference = OUT / "reference"
reference.mkdir()
(reference / "command_line.md").write_text(command_line())
(reference / "python.md").write_text(python_reference())
(reference / "cpp.md").write_text(cpp_reference.page(ROOT))
