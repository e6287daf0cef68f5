# SPDX-License-Identifier: Apache-2.0
"""braintrace schedule: kernels, passes, bad input."""
import pathlib
import subprocess
import sys

BINARY = sys.argv[1]
DOCUMENT = pathlib.Path(__file__).parents[2] / "docs/performance.md"


def run(*args, status=0):
    r = subprocess.run([BINARY, "schedule", *args], capture_output=True, text=True)
    assert r.returncode == status, (args, r.returncode, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


text = run("gru")
assert "function 0:" in text and "loop nest" in text and "bytes of working memory" in text, text
assert "operations and" in text.splitlines()[-1], text
assert "time loop of 5 steps" in run("gru", "--window", "5", "--batch", "2")
assert text.count("[") < run("gru", "--without", "fuse").count("["), "more kernels without fusion"

listed = dict(line.split(maxsplit=1) for line in run("--list").splitlines())
passes = list(listed)
assert passes[:4] == ["rotate", "indices", "expand", "products"] and "fuse" in passes, passes
rows = [line.strip("| ").split(" | ") for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
described = {row[0]: row[2] for row in rows if len(row) == 3 and row[0] in listed}
assert list(described.items()) == list(listed.items()), "docs/performance.md and --list differ"
times = run("gru", "--time-passes").splitlines()
assert times[0].split() == ["pass", "runs", "ms"], times
assert [line.split()[0] for line in times[1:]] == passes + ["kernels", "total"], times
for model in (["gru"], ["gru", "--window", "20"]):  # most of a window is in the bodies of its loops, which count once
    ms = [float(line.split()[-1]) for line in run(*model, "--time-passes").splitlines()[1:]]
    assert min(ms) >= 0 and abs(sum(ms[:-1]) - ms[-1]) < 0.001 * len(ms), ms
dump = run("gru", "--dump", "products")
assert "// before products, depth 0" in dump and "// after products" in dump, dump
for name in passes:  # every pass has a time and a dump
    shown = run("gru", "--window", "5", "--batch", "32", "--dump", name)
    assert f"// {name} changes nothing" in shown or f"// after {name}\n" in shown or f"// with {name}\n" in shown, shown
    assert name not in ("hoist", "split") or f"// after {name}\n" in shown, shown
    assert name not in ("fuse", "reuse") or f"// without {name}\nfunction 0:" in shown, shown
times = run("gru", "--window", "5", "--batch", "32", "--time-passes").splitlines()
assert all(int(line.split()[1]) > 0 for line in times[1:-2]), times
assert run("gru", "--dump", "split") == "// split changes nothing\n"
assert "--without leaves fuse out" in run("gru", "--dump", "fuse", "--without", "fuse", status=2)

assert "int32_t bt_f0_entry(" in run("gru", "--c")
portable = run("gru", "--c", "--portable")
assert "f->host" not in portable and "bt_frame" in portable, portable

assert "MODEL is required" in run(status=2)
assert "there is no pass 'fusse'" in run("gru", "--without", "fusse", status=2)
assert "there is no pass 'x'" in run("gru", "--dump", "x", status=2)
assert "batch" in run("gru", "--batch", "0", status=2)
assert "needs a synthesizer" in run("gru", "--rule", "DNI", status=2)
assert "time loop" in run("gru", "--rule", "DNI", "--window", "3")
assert "needs a modulator" in run("gru", "--rule", "ThreeFactor", "--window", "3", status=2)
print("ok")
