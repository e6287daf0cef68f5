# SPDX-License-Identifier: Apache-2.0
"""Documents of the JAX package: their code runs with only the imports changed."""
import contextlib
import io
import json
import pathlib

DATA = pathlib.Path(__file__).parent / "data"
IMPORTS = "from pybraintrace.compat import braintrace, brainstate, braintools, jax, jnp"


def with_our_imports(source):
    lines = ["" if line.startswith("import ") else line for line in source.splitlines()]
    return "\n".join(lines)


def cells(path):
    return ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]


def test_the_notebook_runs_with_other_imports(recwarn):
    names = {}
    exec(IMPORTS, names)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in cells(DATA / "graph_visualization.ipynb"):
            exec(with_our_imports(cell), names)
    text = printed.getvalue()
    assert "Group 0: 1 state(s), shape (32,)" in text
    assert "Paths: [('rnn', 'h')]" in text
    assert "Weight path: ('rnn', 'W', 'weight')" in text
    assert "Number of hidden groups: 2" in text
    assert [line.strip() for line in text.splitlines()[-6:]] == [
        "module_info", "hidden_groups", "hid_path_to_group", "hidden_param_op_relations", "hidden_perturb", "diagnostics"]


CORE_CONCEPTS = (DATA / "core_concepts.py").read_text()


def test_core_concepts_run_with_other_imports(recwarn):
    names = {}
    exec(IMPORTS, names)
    exec(with_our_imports(CORE_CONCEPTS), names)
    grads = names["grads"]
    assert ("rnn", "Wz", "weight") in grads and ("readout", "weight") in grads
    assert grads["rnn", "Wz", "weight"]["weight"].shape == (74, 64)
    assert "readout=Linear(" in repr(names["model"])
    warned = [str(w.message) for w in recwarn]
    assert any("readout.weight" in w for w in warned)


def test_simple_rnn_of_core_concepts_learns_its_recurrent_weight():
    names = {}
    exec(IMPORTS, names)
    exec(with_our_imports(CORE_CONCEPTS), names)
    model = names["SimpleRNN"](3, 4, 2)
    learner = names["braintrace"].D_RTRL(model)
    learner.compile_graph(names["jnp"].zeros(3))
    assert [r.weight_path for r in learner.graph.hidden_param_op_relations] == [("w_rec",)]


def test_the_first_program_of_the_readme_learns():
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0]
    names = {}
    exec(program, names)
    assert float(names["loss"]) < 0.1
