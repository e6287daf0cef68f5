# SPDX-License-Identifier: Apache-2.0
"""Names of layers go into C, pages, drawings, JSON, paths and the terminal. A model is made only of names that are harmless
everywhere; what comes from elsewhere (stored graphs, names of files) is escaped where it goes.

Guards: no name; names of files in graph; stored graphs as DOT and SVG."""
from support import *

PROOF = FOLDER / "touched"
INJECTIONS = ['x", 0, 0, 0), system("touch touched"), compare("y', "*/ int evil; /*", 'a"b', "a\\b", "a\nb", "a.b", "..", "",
              "a/b", "\x1b[31mred", "a b", "ä", "a" * 101, "<script>alert(1)</script>", "</svg>", "%s%n", "??/"]


def model_named(name, file="named.json"):
    path = FOLDER / file
    layers = [{"name": name, "type": "gru", "n_in": 2, "n_rec": 3}, {"name": "out", "type": "linear", "n_in": 3, "n_out": 1}]
    path.write_text(json.dumps({"type": "chain", "layers": layers}))
    return path


for i, name in enumerate(INJECTIONS):
    with check(f"a layer named {name[:30]!r}"):
        o = expect(["graph", model_named(name)], 2, err="layers[0].name")
        assert "\x1b" not in o.err + o.out, o
        expect(["export", model_named(name), "-o", f"exported-{i}"], 2, err="layers[0].name")

with check("`a` that holds `b`, beside `a.b`: one of the two would be lost in a file"):
    layer = {"type": "gru", "n_in": 2, "n_rec": 2}
    (FOLDER / "dots.json").write_text(json.dumps({"type": "chain", "layers": [
        {"name": "a", "type": "chain", "layers": [{"name": "b", **layer}]}, {"name": "a.b", **layer}]}))
    expect(["stream", FOLDER / "dots.json", "--save", "dots.safetensors"], 2, err="layers[1].name")

# The name of the file is the name of the network: it may hold anything that a path may.
strange = 'x*\\";system("touch touched");*\x1b[2J.json'
with check("such a name in exported C"):
    expect(["export", model_named("rnn", strange), "-o", "exported"], 0)
    text = "".join((FOLDER / "exported" / f).read_text() for f in ("model.h", "model.c", "test_main.c", "CMakeLists.txt"))
    assert "\x1b" not in text
    built = subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "model.c", "test_main.c", "-lm",
                            "-o", "test"], cwd=FOLDER / "exported", capture_output=True, text=True, timeout=LONGEST)
    assert built.returncode == 0, built.stderr
    assert subprocess.run(["./test"], cwd=FOLDER / "exported", capture_output=True, timeout=LONGEST).returncode == 0
    assert not PROOF.exists() and not (FOLDER / "exported/touched").exists()
for command in (["graph"], ["graph", "--format", "dot"], ["advise", "--rules", "D_RTRL"], ["fidelity", "--rules", "D_RTRL"]):
    with check(f"such a name in {' '.join(command)}"):
        o = expect([*command, FOLDER / strange], 0)
        assert "\x1b" not in o.out + o.err, o

with check("names of files that are not UTF-8"):
    os.rename(MODEL, os.fsencode(FOLDER) + b"/\xff\xfe.json")
    expect(["graph", b"\xff\xfe.json", "--json"], 0, out='"schema"')
    expect(["advise", b"\xff\xfe.json", "--rules", "D_RTRL", "--json"], 0, out='"rule')
    expect(["graph", b"\xff\xff.json"], 2, err="No such file")

# A stored graph carries whatever its writer put into it: nothing of it reaches the terminal as a control sequence.
stored = json.loads(expect(["graph", model_named("rnn"), "--json"], 0).out)
stored["program"] = "\x1b]0;title\x07" + stored["program"]
stored["model"] = "\x1b[31m\u009b2J"
(FOLDER / "stored.json").write_text(json.dumps(stored))
for form in ("json", "dot", "svg", "html", "program"):
    with check(f"a stored graph as {form}"):
        o = expect(["graph", FOLDER / "stored.json", "--format", form], 0)
        assert not any(ord(c) < 32 and c not in "\n\t" or 0x7f <= ord(c) < 0xa0 for c in o.out), form
