# SPDX-License-Identifier: Apache-2.0
"""Every shell command shown in a block of the documents runs, or its block says why not; and commands shown in a sentence have the
options they use.  Usage: docs_commands_test.py ROOT BINARY

A command runs in bash as it is written, in a folder that looks like a clone and has the files that readers bring (config.json, net.nir,
sensors that send records, …). Its networks are small, and programs run in the interpreter. A block after a line `<!-- not run: WHY -->`
does not run."""
import functools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from mpi_ranks import ENVIRONMENT

ROOT, BINARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"(?:<!-- not run: (?P<why>[^\n]+) -->\n)?"
                   r"(?:^```(?P<language>\w*)\n(?P<fenced>.*?)^```|(?P<indented>(?:^ {4}\S[^\n]*\n)+))", re.S | re.M)
COMMAND = re.compile(r"\s*(?:\$ )?((?:[A-Z_]+=\S+ )*(?:[\w.-]*/[\w./-]+|apt|apt-get|braintrace|cmake|ctest|dnf|docker|git|mkdir|mpirun|"
                     r"pip|python3|rm|sensors?|srun|sudo)(?: .*)?)")


def commands(text):
    """Pairs (command, why it does not run) of a page."""
    for block in BLOCK.finditer(text):
        if block["language"] in (None, "", "bash", "sh"):
            for line in (block["fenced"] or block["indented"] or "").splitlines():
                if shown := COMMAND.fullmatch(line):
                    yield shown[1], block["why"]


@functools.cache
def help_of(command):
    return subprocess.run([BINARY, "help", command], capture_output=True, text=True).stdout


def unknown_options(text):
    """Options of commands in backquotes that the help of the command does not list."""
    for command, rest in re.findall(r"`braintrace ([a-z]+)\b([^`\n]*)`", text):
        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", help_of(command)):
                yield f"braintrace {command}{rest}: there is no option {option}"


MODEL = json.loads((ROOT / "docs/img/gru_6.json").read_text())  # 3 inputs, 2 outputs
TABLE = {"type": "csv", "file": "table.csv", "inputs": "a,b,c", "targets": "d,e", "length": 5, "validation": 0.2, "test": 0.2}
CONFIG = {"model": MODEL, "task": TABLE, "batch": 4, "steps": 2}
SPIKING = {"type": "chain", "layers": [{"name": "in", "type": "linear", "n_in": 3, "n_out": 2},
                                       {"name": "lif", "type": "lif", "n": 2, "spk_reset": "hard"}]}
# Two of the commands take minutes on the built-in models; their own tests check what they compute.
BRAINTRACE = f"""#!/bin/sh
case $* in
  *--steps*) ;;
  fidelity*) set -- "$@" --steps 2 --rules D_RTRL,BPTT ;;
  advise*) set -- "$@" --rules D_RTRL,BPTT ;;
esac
exec '{BINARY}' "$@"
"""
SENSOR = """#!/bin/sh
for i in 1 2 3; do echo '{"x": [0.1, 0.2, 0.3], "y": [1, 0]}'; done
"""


def series(path, classes=9, inputs=12, steps=8):
    """A file of labeled time series; docs/real_data.md downloads such files."""
    rows = [":".join([",".join(f"{(c + k + t) % 5}" for t in range(steps)) for k in range(inputs)] + [f"{c}"])
            for c in range(classes) for _ in range(3)]
    path.write_text(f"@problemName vowels\n@univariate false\n@dimensions {inputs}\n@equalLength true\n@seriesLength {steps}\n"
                    f"@classLabel true {' '.join(map(str, range(classes)))}\n@data\n" + "\n".join(rows) + "\n")


def zeros_npz(path, shapes):
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in shapes.items():
            about = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}".ljust(117) + "\n"
            size = 4
            for n in shape:
                size *= n
            archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(about)) + about.encode() + bytes(size))


def brought(folder):
    """Fills a folder with what the commands of the documents need."""
    def written(name, content, mode=0o644):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        file.chmod(mode)

    def run(*words):
        subprocess.run([BINARY, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)

    for name in ("docs", "tests", "tools"):
        (folder / name).symlink_to(ROOT / name)
    for name, script in (("braintrace", BRAINTRACE), ("sensor", SENSOR), ("sensors", SENSOR.replace('{"x"', '{"id": "pump '"'$i'"'", "x"'))):
        written(f"build/bin/{name}", script, 0o755)
    copy = json.loads((ROOT / "examples/configs/copy_gru_d_rtrl.json").read_text())
    copy["task"]["lag"], copy["goal"] = 2, {"accuracy": 0}
    written("examples/configs/copy_gru_d_rtrl.json", copy | {"steps": 2, "batch": 2, "validation": {"every": 2, "batches": 1}})
    written("model.json", MODEL)
    written("spiking.json", SPIKING)
    for name in ("config.json", "CONFIG", "NAME.json"):
        written(name, CONFIG)
    table = "a,b,c,d,e\n" + "".join(f"{i % 3},{i % 5},{i % 7},{i % 2},1\n" for i in range(100))
    written("table.csv", table)
    written("new.csv", table)
    page = (ROOT / "docs/real_data.md").read_text()
    written("vowels.json", re.search(r"```json\n(.*?)```", page, re.S)[1])
    for part in ("TRAIN", "TEST"):
        series(folder / f"JapaneseVowels_{part}.ts")
    run("train", "NAME.json", "--quiet")
    run("train", "CONFIG", "--quiet")
    shutil.copy(folder / "runs/CONFIG/checkpoints/best.safetensors", folder / "FILE")
    run("export", "spiking.json", "--nir", "net.nir")
    run("graph", "model.json", "--format", "json", "-o", "graph.json")
    graph = json.loads((folder / "graph.json").read_text())
    zeros_npz(folder / "weights.npz", {f"{w['path']}.{leaf['name']}": leaf["type"]["shape"] for w in graph["weights"] for leaf in w["leaves"]})


seen = list(commands("\n<!-- not run: b -->\n```\nbraintrace a\n```\ntext\n\n    $ A=1 build/bin/braintrace c -o d   # e\n    said\n\n    x | y\n"
                     "```cpp\ngit\n```\n```sh\nsensor | braintrace f\n```\n"))
assert seen == [("braintrace a", "b"), ("A=1 build/bin/braintrace c -o d   # e", None), ("sensor | braintrace f", None)], seen
assert [*unknown_options("`braintrace graph gru -o x --outptu y` and `other --z`")] == [
    "braintrace graph gru -o x --outptu y: there is no option --outptu"]
pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "python/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
wrong, run, marked, skipped = [], 0, 0, 0
with tempfile.TemporaryDirectory() as name:
    environment = {**ENVIRONMENT, "BRAINTRACE_BACKEND": "reference", "BRAINTRACE_CUDA": "emulation", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "BRAINTRACE_CACHE_DIR": name + "/cache", "PATH": "build/bin:" + os.environ["PATH"]}
    supplies = pathlib.Path(name) / "supplies"
    supplies.mkdir()
    brought(supplies)
    for page in pages:
        wrong += [f"{page.name}: {problem}" for problem in unknown_options(page.read_text())]
        folder = pathlib.Path(name) / "_".join(page.relative_to(ROOT).parts)  # a command may use what an earlier one of its page wrote
        shutil.copytree(supplies, folder, symlinks=True)
        for command, why in commands(page.read_text()):
            if why:
                marked += 1
                continue
            if command.startswith("mpirun") and not shutil.which("mpirun"):
                skipped += 1
                continue
            run += 1
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120)
            if done.returncode != 0:
                wrong.append(f"{page.name}: {command}: exit code {done.returncode}\n{done.stderr or done.stdout}")
print("\n".join(wrong) or f"{run} commands of the documents run, {marked} are marked as not run, {skipped} are skipped without mpirun")
sys.exit(bool(wrong) or run < 40)
