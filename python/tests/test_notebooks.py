# SPDX-License-Identifier: Apache-2.0
"""Every notebook runs from its first cell to its last, and has its outputs stored."""
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    stored = [bool(c.outputs) for c in notebook.cells if c.cell_type == "code"]
    assert any(stored)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    assert [bool(c.outputs) for c in notebook.cells if c.cell_type == "code"] == stored


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 6
