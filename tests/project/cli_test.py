# SPDX-License-Identifier: Apache-2.0
"""The command line: output, exit status, and which stream says what.  Usage: cli_test.py BINARY VERSION"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY, VERSION = sys.argv[1:]


def run(*args, stdout=subprocess.PIPE):
    return subprocess.run([BINARY, *args], stdout=stdout, stderr=subprocess.PIPE, text=True)


def expect(args, status, out="", err=""):
    r = run(*args)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout}\nstderr: {r.stderr}"
    assert "\033" not in r.stdout + r.stderr, f"{args}: color without a terminal"
    return r.stdout


expect(["--help"], 0, out="info")
assert expect(["--version"], 0) == f"braintrace {VERSION}\n"
expect(["info", "--help"], 0, out="--json")
expect(["info"], 0, out="reference")
expect(["info", "--ops"], 0, out="tanh")
expect(["info", "--algorithms"], 0, out="pp_prop")
expect([], 0, out="Usage: braintrace COMMAND")
expect(["imfo"], 2, err="did you mean 'info'?")
expect(["info", "--jason"], 2, err="--jason")

info = json.loads(expect(["info", "--json", "--ops"], 0))
assert info["version"] == VERSION and info["backends"] == ["reference", "cpu", "cuda"], info
assert info["num_ops"] == len(info["ops"]) > 10 and "bf16" in info["dtypes"], info
assert not {"ops", "algorithms"} & json.loads(expect(["info", "--json"], 0)).keys()
assert "D_RTRL" in [a["name"] for a in json.loads(expect(["info", "--json", "--algorithms"], 0))["algorithms"]]

# Backends: names that mean nothing, and a GPU that is not there.
steps = ["fidelity", "single_layer_rnn", "--steps", "2", "--rules", "D_RTRL"]
expect(steps + ["--backend", "cudda"], 2, err="there is no backend 'cudda'")
expect(steps + ["--precision", "f8"], 2, err="f32, tf32 or bf16")
if not info["gpu"]["devices"]:
    expect(steps + ["--backend", "cuda"], 2, err=info["gpu"]["problem"])
    r = subprocess.run([BINARY, "stream", "gru", "--backend", "cuda"], input='{"x": [0,0,0,0,0,0,0,0,0,0], "y": [0,0,0,0,0]}\n' * 3,
                       capture_output=True, text=True)
    assert r.returncode == 2 and info["gpu"]["problem"] in r.stderr and "undone" not in r.stderr, r
    expect(steps + ["--backend", "auto"], 0, out="D_RTRL", err="run on the CPU")
expect(steps + ["--backend", "cuda-emulation"], 0, out="D_RTRL")
os.environ["BRAINTRACE_CUDA"] = "emulate"
expect(steps, 2, err="BRAINTRACE_CUDA is 'emulate': expected emulation")
os.environ["BRAINTRACE_CUDA"] = "emulation"
expect(steps + ["--backend", "cuda"], 0, out="D_RTRL")
del os.environ["BRAINTRACE_CUDA"]

# The second command prints more than a buffer. A closed pipe is not an error.
for command in ("info", "completion bash"):
    for output, status, err in ((">/dev/full", 2, "error: the output could not be written: No space left on device.\n"),
                                (">&-", 2, "error: the output could not be written: Bad file descriptor.\n"), ("| true", 0, "")):
        r = subprocess.run(["bash", "-c", f"set -o pipefail; trap '' PIPE; {BINARY} {command} {output}"], stderr=subprocess.PIPE, text=True)
        assert (r.returncode, r.stderr) == (status, err), (command, output, r)

expect(["tasks"], 0, out="evidence")
assert "copy" in [t["type"] for t in json.loads(expect(["tasks", "--json"], 0))]
expect(["tasks", "copy"], 0, out="30 steps")
assert json.loads(expect(["tasks", '{"type": "copy", "lag": 3}', "--json"], 0))["length"] == 23
with tempfile.TemporaryDirectory() as folder:
    picture = pathlib.Path(folder) / "copy.svg"
    expect(["tasks", "copy", "-o", str(picture)], 0, out="train")
    assert picture.read_text().startswith("<svg"), picture.read_text()[:100]
    expect(["tasks", "copy", "-o", folder + "/none/copy.svg"], 2, out="train", err="none/copy.svg")
    expect(["tasks", "copy", "-o", folder + "/copy.png"], 2, err="copy.png: give a name that ends in .svg.")
    assert not pathlib.Path(folder, "copy.png").exists()
expect(["tasks", "copi"], 2, err="did you mean 'copy'?")
assert "did you mean" not in run("tasks", "nope").stderr
expect(["tasks", '{"type": "copy", "lagg": 3}'], 2, err="task.lagg")

# The cache: a folder that others can read is used; one that they can write to is not, and both commands say why.
with tempfile.TemporaryDirectory() as folder:
    cache = pathlib.Path(folder) / "cache"
    cache.mkdir(mode=0o755)
    os.environ["BRAINTRACE_CACHE_DIR"] = str(cache)
    expect(steps + ["--backend", "cpu"], 0, out="D_RTRL")
    assert json.loads(expect(["cache", "--json"], 0))["files"] > 0
    cache.chmod(0o777)
    expect(["cache"], 2, err=f"other users can write to {cache}")
    told = run(*steps, "--backend", "cpu").stderr
    assert told.count("warning: compiled code is not kept") == 1 and str(cache) in told, told
    os.environ["BRAINTRACE_CACHE_DIR"] = folder + "/file"
    pathlib.Path(folder, "file").write_text("")
    expect(["cache"], 2, err="is not a folder")
