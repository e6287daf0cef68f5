# SPDX-License-Identifier: Apache-2.0
"""Every `braintrace` command shown in a block of the documents runs, and those shown in a sentence have the options they use.
Usage: docs_commands_test.py ROOT BINARY

A command is a line of a block that starts with `braintrace` or `build/bin/braintrace`. It runs as it is written, in a folder with
examples/, docs/ and the files that readers bring (model.json, config.json), made short by the options of SHORT, in the
interpreter. A block after a line `<!-- not run: WHY -->` does not run."""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT, BINARY = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
BLOCK = re.compile(r"(?:<!-- not run: (?P<why>[^\n]+) -->\n)?(?:```\w*\n(?P<fenced>.*?)```|(?P<indented>(?:^ {4}\S[^\n]*\n)+))",
                   re.S | re.M)
# Few updates, short runs; what a command computes is checked by its own tests.
TRAINING = ("--quiet --set steps=2 --set batch=2 --set task.lag=2 "
            "--set validation.every=2 --set validation.batches=1 --set goal.accuracy=0")
SHORT = {"train": TRAINING,
         "sweep": TRAINING,
         "eval": "--batches 1 --quiet",
         "fidelity": "--steps 2 --rules D_RTRL,BPTT"}
MODEL = (ROOT / "docs/img/gru_6.json").read_text()
CONFIG = """{"model": MODEL, "rule": "D_RTRL", "task": {"type": "working_memory", "width": 2, "length": 5},
"optimizer": {"type": "adam", "lr": 0.003}, "batch": 2, "steps": 2, "output": "runs/mine"}"""


def commands(text):
    """Pairs (command, why it does not run) of a page."""
    for block in BLOCK.finditer(text):
        for line in (block["fenced"] or block["indented"] or "").splitlines():
            if shown := re.match(r"\s*(?:build/bin/)?braintrace (.*)", line):
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


def arguments(command):
    words = shlex.split(command, comments=True)
    if words[0] == "fidelity" and "--steps" in words:
        return words
    return words + shlex.split(SHORT.get(words[0], ""))


seen = list(commands("\n<!-- not run: b -->\n```\nbraintrace a\n```\ntext\n\n    build/bin/braintrace c -o d   # e\n    other\n"))
assert seen == [("a", "b"), ("c -o d   # e", None)], seen  # the blocks are found
assert [*unknown_options("`braintrace graph gru -o x --outptu y` and `other --z`")] == [
    "braintrace graph gru -o x --outptu y: there is no option --outptu"]
pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
environment = {**os.environ, "BRAINTRACE_BACKEND": "reference"}
wrong, run, marked = [], 0, 0
for page in pages:
    wrong += [f"{page.name}: {problem}" for problem in unknown_options(page.read_text())]
    with tempfile.TemporaryDirectory() as name:  # a command may use what an earlier one of its page wrote
        folder = pathlib.Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "docs").symlink_to(ROOT / "docs")
        (folder / "model.json").write_text(MODEL)
        (folder / "config.json").write_text(CONFIG.replace("MODEL", MODEL))
        environment["BRAINTRACE_CACHE_DIR"] = str(folder / "cache")
        for command, why in commands(page.read_text()):
            if why:
                marked += 1
                continue
            run += 1
            done = subprocess.run([BINARY, *arguments(command)], cwd=folder, env=environment, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=120)
            if done.returncode != 0:
                wrong.append(f"{page.name}: braintrace {command}: exit code {done.returncode}\n{done.stderr or done.stdout}")
print("\n".join(wrong) or f"{run} commands of the documents run, {marked} are marked as not run")
sys.exit(bool(wrong) or run < 20)
