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
import textwrap

import cpp_reference

ROOT, COMMAND, OUT = map(pathlib.Path, sys.argv[1:])
DOCS = ROOT / "docs"
COPIED = {".md", ".png", ".svg", ".json"}  # from docs; other files are copied if a page links to them
TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)


def place_of(file):
    """Where a file of the repository is in the site."""
    inside = file.relative_to(ROOT.resolve())
    if inside.parts[0] == "docs" and inside.suffix in COPIED:
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
        if file.suffix not in COPIED:
            continue
        page = OUT / file.relative_to(DOCS)
        page.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            page.write_text(with_links(file.read_text(), file, page))
        else:
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
    arguments = re.sub(r"^self(, )?(/, |/)?", "", ast.unparse(node.args))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
    return f"{node.name}{'' if is_property else f'({arguments})'}{returns}"


def plain(text):
    """Text in which Markdown sees no markup but code."""
    return "".join(p if i % 2 else p.replace("*", r"\*").replace("<", "&lt;") for i, p in enumerate(CODE.split(text)))


def entries(lines):
    """The items of a section such as Args, "name: text" each; longer ones continue with more indentation."""
    out = []
    for line in lines:
        name, colon, text = line.partition(": ")
        if colon and not line.startswith(" ") and re.fullmatch(r"\w+", name):
            out.append(f"- `{name}`: {plain(text)}")
        elif out:
            out[-1] += " " + plain(line.strip())
        else:
            out.append(plain(line))
    return "\n".join(out)


def markdown(doc):
    """A docstring as Markdown: sections (Args, Returns, Raises) as lists, examples as code."""
    out = []
    for block in re.split(r"\n\s*\n", doc):
        lines = block.split("\n")
        if lines[0].strip().startswith(">>>"):
            out.append(f"```python\n{textwrap.dedent(block)}\n```")
        elif re.fullmatch(r"\s*(Args|Returns|Raises):", lines[0]):
            out.append(f"**{lines[0].strip()[:-1]}**\n\n{entries(textwrap.dedent(chr(10).join(lines[1:])).split(chr(10)))}")
        elif block.startswith("    "):
            out.append(block)
        else:
            out.append(plain(block))
    return "\n\n".join(out)


def described(node):
    doc = ast.get_docstring(node)
    return f"\n{markdown(doc)}\n" if doc else ""


def python_class(node):
    """A class: its constructor and methods without words as code, then its other methods with their words."""
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and (m.name == "__init__" or not m.name.startswith("_"))]
    bases = ", ".join(map(ast.unparse, node.bases))
    head = "".join(f"    {signature(m)}\n" for m in methods if not ast.get_docstring(m))
    out = f"\n#### `{node.name}`\n\n```python\nclass {node.name}({bases})\n{head}```\n{described(node)}"
    for m in methods:
        if ast.get_docstring(m):
            out += f"\n-   `{signature(m)}`\n{textwrap.indent(described(m), '    ')}"
    return out


def python_module(path):
    """The docstring of a module, its functions, and its classes with their methods, as far as they have a docstring."""
    tree = ast.parse(path.read_text())
    out = ""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_") or not ast.get_docstring(node):
            continue
        if isinstance(node, ast.ClassDef):
            out += python_class(node)
        else:
            out += f"\n#### `{node.name}`\n\n```python\n{signature(node)}\n```\n{described(node)}"
    return described(tree) + out if out else ""


def python_reference():
    package = ROOT / "python/pybraintrace"
    out = "# Python reference\n\nGenerated from the sources and stubs of `pybraintrace`. See also the [guide](../python.md).\n"
    public = [p for p in [*package.glob("*.py"), *package.glob("*.pyi")] if p.stem == "__init__" or not p.stem.startswith("_")]
    for path in [*sorted(public), *sorted((package / "_core").glob("*.pyi"))]:
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
