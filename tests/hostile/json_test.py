# SPDX-License-Identifier: Apache-2.0
"""JSON from outside: brackets without end, fields given twice, numbers that no double holds. Each is an error that names
the place, status 2, whichever way it comes in.

Guards: text that is not JSON, in models and records; 120 brackets and 1e999 in records; the sources."""
import re

from support import *

DEEP = "[" * 60000 + "]" * 60000  # deeper than stacks; as long as one argument may be
MANY = "[" * 120 + "]" * 120
# What is wrong with an object that else has the fields `good`, the first of which is `first`; and what is said.
CASES = {"brackets deeper than the stack": ('{good, "z": %s}' % DEEP, "nested brackets"),
         "120 brackets": ('{good, "z": %s}' % MANY, "nested brackets"),
         "a field twice": ("{first, good}", "is given twice"), "1e999": ('{good, "z": 1e999}', "number overflow"),
         "no JSON": ('{good, "z": [1, }', "this is not JSON"), "half a letter": ('{good, "z": "\\ud800"}', "this is not JSON"),
         "a zero byte": ("\0", "this is not JSON")}
OBJECTS = {"model": '"type": "gru", "n_in": 2, "n_rec": 3', "task": '"type": "copy", "lag": 3',
           "options": '"vjp_method": "single-step"', "record": '"x": [1, 2], "y": [1]', "case": '"format": 1', "config": json.dumps(RUN)[1:-1]}


def file_of(text, name):
    path = FOLDER / name
    path.write_text(text)
    return path


for name, (form, words) in CASES.items():
    bad = {k: form.replace("good", o).replace("first", f'{o.split(":")[0]}: 1') for k, o in OBJECTS.items()}
    for command in ("graph", "explain", "advise", "fidelity", "export", "stream"):
        with check(f"{name} in a model, for {command}"):
            output = ["-o", f"exported-{len(form)}"] if command == "export" else []
            expect([command, file_of(bad["model"], "bad_model.json"), *output], 2, err=words)
    if "\0" not in form:
        with check(f"{name} in an argument"):
            expect(["tasks", bad["task"]], 2, err=words)
            expect(["stream", MODEL, "--rule-options", bad["options"]], 2, err=words)
            expect(["train", write_config("good"), "--overwrite", "--set", "task=" + bad["task"]], 2, err=words)
    with check(f"{name} in a task, a configuration, a case"):
        expect(["tasks", file_of(bad["task"], "bad_task.json")], 2, err=words)
        expect(["train", file_of(bad["config"], "bad_config.json"), "--overwrite"], 2, err=words)
        expect(["verify", file_of(bad["case"], "case.json")], 2, err=words)
    with check(f"{name} in a record: it is rejected, and the stream goes on"):
        good = "{%s}\n" % OBJECTS["record"]
        record = bad["record"].replace('"x": [1, 2], "y": [1], "z"', '"y": [1], "x"')
        o = expect(["stream", MODEL, "--max-bytes", 1 << 20], 0, text=good + record + "\n" + good)
        assert o.out.count("prediction") == 2 and "record 2" in o.err, o

with check("settings and names on the command line"):
    expect(["train", write_config("good"), "--set", ".".join("a" * 20000) + "=1"], 2, err="nested")
    expect(["train", write_config("good"), "--set", b"name=\xff\xfe"], 2, err="UTF-8")
    expect(["tasks", b"\xff\xfe"], 2, err="there is no task")

with check("a stored graph is read by the same reader"):
    expect(["graph", file_of('{"schema": "braintrace-graph/1", "schema": 1}', "stored.json")], 2, err="given twice")

# About the sources, not the command.
with check("nothing else parses JSON, and nothing asks the locale how numbers and letters look"):
    FORBIDDEN = {r"json::(parse|sax_parse|accept)\(": {"json.cpp"},
                 r"\{:[^}]*a\}|\bstrto(d|f|ld)\b|\bsto(d|f|ld)\(|\bis(alnum|alpha|digit|space|upper|lower)\b|\bto(upper|lower)\(": set()}
    for path in [*SOURCE.glob("braintrace/**/*"), *SOURCE.glob("cli/*")]:
        if path.suffix not in (".cpp", ".h") or path.name.endswith("_test.cpp"):
            continue
        for pattern, allowed in FORBIDDEN.items():
            found = path.name not in allowed and re.search(pattern, path.read_text())
            assert not found, f"{path}: {found}"
