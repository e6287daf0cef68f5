# SPDX-License-Identifier: Apache-2.0
"""JSON from outside: brackets without end, fields given twice, numbers that no double holds. Each is an error that names
the place, status 2, whichever way it comes in."""
import re

from support import *

DEEP = "[" * 16000 + "]" * 16000
MANY = "[" * 120 + "]" * 120
CASES = {"{\"x\":" + DEEP + "}": "brackets inside each other", "{\"x\":" + MANY + "}": "brackets inside each other",
         '{"x": 1, "x": 2}': "'x' is given twice", '{"x": 1e999}': "number overflow", '{"x": [1, }': "this is not JSON",
         '{"x": "\\ud800"}': "this is not JSON", "\0": "this is not JSON"}


def file_of(text, name):
    path = FOLDER / name
    path.write_text(text)
    return path


for text, words in CASES.items():
    model = file_of(text, "bad_model.json")
    for command in ("graph", "explain", "advise", "fidelity"):
        expect([command, model], 2, err=words)
    expect(["export", model, "-o", "exported"], 2, err=words)
    expect(["stream", model], 2, err=words)
    if "\0" not in text:
        expect(["tasks", text], 2, err=words)
        expect(["stream", MODEL, "--rule-options", text], 2, err=words)
        expect(["train", write_config("good"), "--set", "task=" + text], 2, err=words)
    expect(["tasks", file_of(text, "bad_task.json")], 2, err=words)
    expect(["train", file_of(text, "bad_config.json")], 2, err=words)
    expect(["verify", file_of(text, "case.json")], 2, err=words)
    # A record that cannot be read is refused, and the stream goes on.
    good = '{"x":[1,2],"y":[1]}\n'
    o = expect(["stream", MODEL, "--max-bytes", 1 << 20], 0, text=good + text + "\n" + good)
    assert o.out.count("prediction") == 2 and ("record 2" in o.err), o

expect(["train", write_config("good"), "--set", ".".join("a" * 20000) + "=1"], 2, err="inside each other")
expect(["train", write_config("good"), "--set", b"name=\xff\xfe"], 2, err="UTF-8")
expect(["tasks", b"\xff\xfe"], 2, err="there is no task")
# A stored graph is read by the same reader.
expect(["graph", file_of('{"schema": "braintrace-graph/1", "schema": 1}', "stored.json")], 2, err="given twice")

# There is no other way in: nothing else parses JSON, and nothing asks the locale how numbers and letters look.
FORBIDDEN = {r"json::(parse|sax_parse|accept)\(": {"json.cpp"},
             r"\{:[^}]*a\}|\bstrto(d|f|ld)\b|\bsto(d|f|ld)\(|\bis(alnum|alpha|digit|space|upper|lower)\b|\bto(upper|lower)\(": set()}
for path in [*SOURCE.glob("braintrace/**/*"), *SOURCE.glob("cli/*")]:
    if path.suffix not in (".cpp", ".h") or path.name.endswith("_test.cpp"):
        continue
    for pattern, allowed in FORBIDDEN.items():
        found = path.name not in allowed and re.search(pattern, path.read_text())
        assert not found, f"{path}: {found}"
