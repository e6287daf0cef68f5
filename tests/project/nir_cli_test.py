# SPDX-License-Identifier: Apache-2.0
"""braintrace import and export --nir, and weights of files.  Usage: nir_cli_test.py BRAINTRACE ROOT"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BRAINTRACE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
FILES = ROOT / "tests/data/nir"
wrong = []
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


def run(*arguments, status=0, out="", err=""):
    r = subprocess.run([BRAINTRACE, *map(str, arguments)], capture_output=True, text=True)
    if r.returncode != status or out not in r.stdout or err not in r.stderr:
        wrong.append(f"{arguments}: status {r.returncode}, expected {status} with {out!r} and {err!r}\n{r.stdout[-500:]}{r.stderr[-500:]}")
    return r.stdout


run("import", FILES / "snntorch_recurrent.nir", "--dt", "0.1", "-o", "net.json", out="graph of 6 layers")
net = json.loads(pathlib.Path("net.json").read_text())
if net["weights"] != "net.safetensors" or not pathlib.Path("net.safetensors").exists():
    wrong.append("the weights do not lie beside the model")
os.mkdir("elsewhere")
os.chdir("elsewhere")
run("graph", "../net.json", out="'1_w_rec'")
run("export", "../net.json", "--nir", "back.nir", out="8 nodes and 9 edges")
os.chdir("..")
told = json.loads(run("import", "elsewhere/back.nir", "-o", "back.json", "--json"))
if told["parameters"] != 330 or json.loads(pathlib.Path("back.json").read_text())["nodes"][0]["n_in"] != 5:
    wrong.append(f"the way back gives {told}")

# weights of any format
pathlib.Path("gru.json").write_text(json.dumps({"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 4},
                                                                             {"name": "out", "type": "linear", "n_in": 4, "n_out": 2}]}))
MSGPACK = ROOT / "tests/data/weights/gru.msgpack"
run("graph", "gru.json", "--weights", MSGPACK, out="rnn")
run("graph", "gru.json", "--weights", ROOT / "tests/data/weights/gru.npz", status=2, err="missing in the file (8)")
run("graph", "gru.json", "--weights", "none.npz", status=2, err="none.npz")



def parameter(file, name):
    data = pathlib.Path(file).read_bytes()
    n = int.from_bytes(data[:8], "little")
    first, end = json.loads(data[8 : 8 + n])[name]["data_offsets"]
    return data[8 + n + first : 8 + n + end]


# initial weights of a run: learning nothing, it ends where another one began
copy = json.loads((ROOT / "examples/configs/copy_gru_d_rtrl.json").read_text())
copy.update({"steps": 1, "batch": 2, "backend": "reference", "optimizer": {"type": "sgd", "lr": 1e-30}, "validation": {"batches": 1}, "goal": {}, "early_stop": {}, "task": {"type": "copy", "lag": 2, "count": 1, "symbols": 8}})
pathlib.Path("copy.json").write_text(json.dumps(copy))
run("train", "copy.json", "-q", "--set", "output=one", "--set", "seed=1")
found = pathlib.Path("one/checkpoints/step-00000001.safetensors")
run("train", "copy.json", "-q", "--set", "output=two", "--set", "seed=2", "--set", f'init="{found.resolve()}"')
run("train", "copy.json", "-q", "--set", "output=three", "--set", "seed=2")
if wrong:
    sys.exit("\n".join(wrong))
weights = [parameter(f"{name}/checkpoints/step-00000001.safetensors", "model.rnn.Wz.weight.weight") for name in ("one", "two", "three")]
if weights[0] != weights[1] or weights[1] == weights[2]:
    wrong.append("init does not give the initial weights")
run("train", "copy.json", "-q", "--set", "output=four", "--set", f'init="{MSGPACK}"', status=2, err="config.init")
run("eval", "two/checkpoints/step-00000001.safetensors", "--batches", "1", out="loss")

# what cannot be said, or cannot be read
run("export", "lif", "--nir", "a.nir", status=2, err="layer 'cell.neu'")
run("export", "lif", status=2, err="-o FOLDER")
run("export", "lif", "--nir", "a.nir", "-o", "folder", status=2, err="--nir")
run("import", "gru.json", "-o", "a.json", status=2, err="not an HDF5 file")
run("import", FILES / "norse.nir", "-o", "a.txt", status=2, err=".json")
run("import", FILES / "norse.nir", "--dt", "100", "-o", "a.json", status=2, err="exp_euler")
run("import", FILES / "norse.nir", "--dt", "100", "--method", "exp_euler", "-o", "a.json")
run("import", FILES / "norse.nir", "--dt", "-1", "-o", "a.json", status=2, err="dt")
whole = (FILES / "norse.nir").read_bytes()
pathlib.Path("cut.nir").write_bytes(whole[: len(whole) // 2])
run("import", "cut.nir", "-o", "a.json", status=2, err="damaged")
print("\n".join(wrong) or "import, export and weights as described")
sys.exit(bool(wrong))
