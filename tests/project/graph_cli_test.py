# SPDX-License-Identifier: Apache-2.0
"""The commands graph and explain.  Usage: graph_cli_test.py BINARY"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.dom.minidom

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())


def expect(args, status, out="", err=""):
    r = subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout[-2000:]}\nstderr: {r.stderr[-2000:]}"
    return r.stdout


# Every format, for the three models of the tutorial; the same bytes each time.
for model in ("single_layer_rnn", "two_layer_rnn", "conv_rnn", "simple_rnn"):
    text = expect(["graph", model], 0, out="The hidden groups are:")
    assert text.startswith("The hidden groups are:\n"), text
    data = expect(["graph", model, "--json"], 0)
    assert data == expect(["graph", model, "--format", "json"], 0)
    graph = json.loads(data)
    assert graph["schema"] == "braintrace-graph/1" and graph["model"] == model and graph["groups"], graph.keys()
    xml.dom.minidom.parseString(expect(["graph", model, "--format", "svg"], 0))
    xml.dom.minidom.parseString(expect(["graph", model, "--format", "program-svg"], 0))
    expect(["graph", model, "--format", "dot"], 0, out="digraph")
    expect(["graph", model, "--format", "program-dot"], 0, out="digraph")
    expect(["graph", model, "--format", "program"], 0, out="return")
    expect(["graph", model, "--format", "html"], 0, out="<!doctype html>")

# A stored graph is shown without its model, with the same bytes.
expect(["graph", "gru", "-o", FOLDER / "gru.json"], 0)
stored = expect(["graph", FOLDER / "gru.json", "--format", "svg"], 0)
assert stored == expect(["graph", "gru", "--format", "svg"], 0)
assert expect(["graph", FOLDER / "gru.json", "--json"], 0) == (FOLDER / "gru.json").read_text()
expect(["graph", FOLDER / "gru.json"], 2, err="a stored graph has no model")
expect(["graph", "gru", "--format", "json,svg,html", "-o", FOLDER / "all"], 0)
assert all((FOLDER / f"all.{e}").stat().st_size for e in ("json", "svg", "html"))

# Batch, reference mode, input.
batched = json.loads(expect(["graph", "gru", "--batch", "4", "--json"], 0))
assert batched["groups"][0]["varshape"][0] == 4 and batched["inputs"][0]["type"]["shape"][0] == 4, batched["groups"]
reference = json.loads(expect(["graph", "gru", "--reference", "--json"], 0))
assert len(reference["relations"]) == 2 and len(json.loads(expect(["graph", "gru", "--json"], 0))["relations"]) == 3

# Explain.
expect(["explain", "gru"], 0, out="relation_included")
expect(["explain", "gru", "--weight", "rnn.Wr.weight"], 0, out="only through another product (rnn.Wh.weight)")
expect(["explain", "gru", "--hidden", "rnn.h"], 0, out="rnn.Wz.weight")
records = json.loads(expect(["explain", "gru", "--kind", "relation_included", "--json"], 0))
assert records and all(r["kind"] == "relation_included" for r in records), records
expect(["explain", "gru", "--kind", "scan_unrolled"], 0, out="no matching record")

# Bad input: exit 2, what is wrong, the nearest name.
(FOLDER / "bad.json").write_text('{"type": "chain", "layers": [{"name": "rnn", "type": "grv", "n_in": 3, "n_rec": 4}]}')
(FOLDER / "broken.json").write_text('{"type": ')
(FOLDER / "graph.json").write_text('{"schema": "braintrace-graph/1"}')
expect(["graph", FOLDER / "bad.json"], 2, err="did you mean 'gru'?")
expect(["graph", FOLDER / "broken.json"], 2, err="not JSON")
expect(["graph", FOLDER / "graph.json"], 2, err="$: the field")
expect(["graph", FOLDER / "missing.json"], 2, err="missing.json: cannot open the file: No such file")
expect(["graph", FOLDER], 2, err="expected a regular file, got a folder")
(FOLDER / "other.json").write_text('{"a": 1}')
expect(["graph", FOLDER / "other.json"], 2, err="other.json: model: needs a string field 'type'")
expect(["graph", "gruu"], 2, err="did you mean 'gru'?")
expect(["graph", "gru", "--format", "svgg"], 2, err="did you mean 'svg'?")
expect(["graph", "gru", "--format", "svg,dot"], 2, err="-o NAME")
expect(["graph", "gru", "--input", "f33[10]"], 2, err="no element type 'f33'")
expect(["graph", "gru", "--weights", "none.npz"], 2, err="error: none.npz: cannot open the file")
expect(["graph", "gru", "--input", "ten"], 2, err="expected a type such as")
expect(["graph", "gru", "-o", FOLDER / "no" / "folder.svg"], 2, err="no/folder.svg")
expect(["explain", "gru", "--weight", "rnn.Wx.weight"], 2, err="did you mean 'rnn.W")
expect(["explain", "gru", "--hidden", "rnn.g"], 2, err="did you mean 'rnn.h'?")
expect(["explain", "gru", "--kind", "relation_include"], 2, err="did you mean 'relation_included'?")
