# SPDX-License-Identifier: Apache-2.0
"""Every public name is used: by a test, by a cell of a notebook, or by an example in a docstring (they all run).

A use is an expression such as `bt.nn.GRUCell`, resolved through the imports of its source; a name that a test is parametrized with; or a
string of a test, for tests that go through lists of names.
"""
import ast
import doctest
import functools
import importlib
import json
import pathlib
import pkgutil

import pytest

import pybraintrace as bt

HERE = pathlib.Path(__file__).parent
MODULES = ["pybraintrace"] + [f"pybraintrace.{m.name}" for m in pkgutil.iter_modules(bt.__path__) if not m.name.startswith("_")]


def public_names():
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", [k for k in vars(module) if not k.startswith("_")]):
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", "").startswith("pybraintrace"):
                yield f"{module_name}.{name}", name, value


def test_sources():
    yield from (path.read_text() for path in sorted(HERE.glob("test_*.py")))


def example_sources():
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        # Lines for the notebook itself, such as %matplotlib, are not Python.
        yield "\n".join(line for c in cells if c["cell_type"] == "code" for line in "".join(c["source"]).splitlines() if not line.lstrip().startswith(("%", "!")))
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module_name in MODULES:
        for test in finder.find(importlib.import_module(module_name)):
            yield "".join(e.source for e in test.examples)


test_sources.__test__ = False


def imported(tree):
    """The modules and names that a source imports, by the names it gives them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("pybraintrace"):
                    yield (alias.asname or "pybraintrace"), importlib.import_module(alias.name if alias.asname else "pybraintrace")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pybraintrace"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                yield (alias.asname or alias.name), getattr(module, alias.name)


def used_values(source):
    tree = ast.parse(source)
    names = dict(imported(tree))
    yield from names.values()

    def resolved(node):
        if isinstance(node, ast.Name):
            return names.get(node.id)
        base = resolved(node.value) if isinstance(node, ast.Attribute) else None
        return getattr(base, node.attr, None) if base is not None else None

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            value = resolved(node)
            if value is not None:
                yield value


def strings(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.split()


def parameters():
    """Names that tests are parametrized with."""
    for path in HERE.glob("test_*.py"):
        if path.stem == pathlib.Path(__file__).stem:
            continue
        for value in vars(importlib.import_module(path.stem)).values():
            for mark in getattr(value, "pytestmark", ()):
                if mark.name == "parametrize":
                    for given in mark.args[1]:
                        yield from (v for v in (given if isinstance(given, tuple) else [given]) if isinstance(v, str))


@functools.cache
def uses():
    values = {id(v) for source in [*test_sources(), *example_sources()] for v in used_values(source)}
    return values, {s for source in test_sources() for s in strings(source)} | set(parameters())


def unused(names):
    values, texts = uses()
    return sorted(full for full, name, value in names if id(value) not in values and name not in texts)


def test_every_public_name_is_used():
    assert unused(public_names()) == []


def test_a_name_that_nobody_uses_is_found():
    assert unused([("pybraintrace.a_" + "new_name", "a_" + "new_name", lambda: None)]) == ["pybraintrace.a_" + "new_name"]
