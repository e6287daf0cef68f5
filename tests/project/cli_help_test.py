# SPDX-License-Identifier: Apache-2.0
"""Help, errors about arguments, --quiet, manual pages and shell completions.  Usage: cli_help_test.py BINARY"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())


def run(*args, **env):
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, env={**os.environ, **env})


def expect(args, status, out="", err=""):
    r = run(*args)
    ok = r.returncode == status and out in r.stdout and err in r.stderr and bool(err) == bool(r.stderr)
    assert ok, f"{args}: exit {r.returncode}\nstdout: {r.stdout}\nstderr: {r.stderr}"
    return r.stdout


# Four ways to the same help.
top = expect(["--help"], 0, out="Exit status:")
assert top == expect([], 0) == expect(["help"], 0) == expect(["-h"], 0)
assert expect(["-V"], 0) == expect(["--version"], 0)
commands = re.findall(r"^  (\w+) ", top.split("Commands:")[1].split("Options:")[0], re.M)
assert len(commands) >= 16 and commands == sorted(commands), commands

# Each command: help both ways, examples, exit status, --quiet, lines that fit the terminal.
for command in commands:
    for width in (40, 80):
        text = run("help", command, COLUMNS=str(width)).stdout
        assert text == run(command, "--help", COLUMNS=str(width)).stdout, command
        assert text.startswith(f"Usage: braintrace {command} [OPTIONS]"), text
        prose, examples = text.split("\nExamples:\n")
        examples, status = examples.split("\nExit status:\n")
        long = [line for line in (prose + status).splitlines() if len(line) > width]
        assert not long, f"{command} at {width} columns: {long}"
        one_line = re.sub(r" \\\n +", " ", examples)
        assert one_line == run("help", command, COLUMNS="100").stdout.split("\nExamples:\n")[1].split("\nExit status:")[0], examples
        assert "braintrace" in examples and all(len(e) <= width for e in examples.splitlines() if e.count(" ") > 7), examples
        assert "-q, --quiet" in prose and "bug" in status, text
    for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", examples):  # examples use options that exist
        assert option in prose or option == "--help", f"{command}: {option} in the examples"
assert max(map(len, run("--help", COLUMNS="40").stdout.splitlines())) <= 40
listing = run("tasks", COLUMNS="60").stdout
assert "`" not in listing and max(map(len, listing.splitlines())) <= 60 and "lag = 10, count = 10" in listing, listing
assert run("graph", "--help", COLUMNS="50").stdout != run("graph", "--help", COLUMNS="80").stdout
assert run("--help", COLUMNS="nonsense").stdout == top

# An older name still works and is not shown.
assert "--part validation|test" in run("help", "eval").stdout and "--set" not in run("help", "eval").stdout
expect(["eval", "x", "--set", "none"], 2, err="validation")

# Errors lead to the help of the command at hand, with the nearest name.
expect(["graph"], 2, err="See braintrace graph --help.")
expect(["graph", "gru", "--jsn"], 2, err="did you mean '--json'?\n  See braintrace graph --help.")
expect(["graph", "gru", "lif"], 2, err="unexpected argument lif")
expect(["help", "trian"], 2, err="did you mean 'train'?")
expect(["trian"], 2, err="did you mean 'train'?")
expect(["--versoin"], 2, err="has no option --versoin; did you mean '--version'?\n  See braintrace --help.")
expect(["stream", "gru", "--loss", "x"], 2, err="--loss: expected mse or cross_entropy, got 'x'.\n")
expect(["stream", "gru", "--format", "x"], 2, err="--format: expected auto, jsonl or csv, got 'x'.\n")
expect(["train", "x.json", "--set"], 2, err="--set needs a value: FIELD=VALUE.\n")
expect(["stream", "gru", "--lr", "x y"], 2, err="--lr: expected a number, got 'x y'.\n")
expect(["stream", "gru", "--members", "3"], 2, err="--members needs --fleet.\n")
expect(["schedule", "gru", "--batch", "0"], 2, err="--batch: expected an integer ≥ 1, got '0'.\n")
expect(["stream", "gru", "--udp", "70000"], 2, err="expected an integer from 0 to 65535, got '70000'.\n")
# So do errors of our own checks, and names of files that are not there; but no error about what is in a file.
for args in (["export", "gru"], ["graph", "gru", "-o", "x.pdf"], ["fidelity", "gru", "-o", "x.pdf"], ["schedule"],
             ["train", "none.json"], ["train", "none.json", "--set", "x"], ["eval", FOLDER / "none"]):
    expect(args, 2, err=f"\n  See braintrace {args[0]} --help.\n")
(FOLDER / "empty.json").write_text("")
assert "--help" not in run("train", FOLDER / "empty.json").stderr

# The extension of a file is its format, or an error; nothing is written then.
for name in ("x.pdf", "x.png", "x.JSON"):
    expect(["graph", "gru", "-o", FOLDER / name], 2, err="Use .txt, .json, .dot, .svg or .html")
    assert not (FOLDER / name).exists()
expect(["graph", "gru", "-o", FOLDER / "x.pdf", "--format", "text"], 0)  # who says the format gets it
expect(["graph", "gru", "-o", FOLDER / "plain"], 0)
expect(["graph", "gru", "-o", FOLDER / "x.txt"], 0)
assert (FOLDER / "plain").read_text() == (FOLDER / "x.txt").read_text() == expect(["graph", "gru"], 0)

# --quiet: nothing but errors and what --json asks for.
for args in (["info"], ["graph", "gru"], ["explain", "gru"], ["tasks"], ["cache"], ["schedule", "lif"],
             ["advise", "lif", "--rules", "D_RTRL"], ["bench", "--list"], ["man"], ["help"]):
    assert expect([*args, "--quiet"], 0) == "", args
json.loads(expect(["info", "-q", "--json"], 0))
expect(["graph", "none", "-q"], 2, err="none")
stream = subprocess.run([BINARY, "stream", "simple_rnn", "--quiet"], input=",".join("abcdefghij") + "\n", capture_output=True,
                        text=True)
assert (stream.returncode, stream.stdout, stream.stderr) == (0, "", ""), stream

# Manual pages and completions, one of each for what is installed.
expect(["man", "--install", FOLDER / "share"], 0)
pages = sorted(p.name for p in (FOLDER / "share/man/man1").iterdir())
assert pages == sorted(["braintrace.1", *(f"braintrace-{c}.1" for c in commands)]), pages
for page in pages:
    text = (FOLDER / "share/man/man1" / page).read_text()
    assert text.startswith(".TH ") and "\n.SH EXIT STATUS\n" in text and "\n.SH EXAMPLES\n" in text, text
    requests = {line.split()[0] for line in text.splitlines() if line.startswith(".")}
    assert requests <= {".TH", ".SH", ".TP", ".nf", ".fi"}, requests
assert expect(["man", "train"], 0) == (FOLDER / "share/man/man1/braintrace-train.1").read_text()
if shutil.which("groff"):
    r = subprocess.run(["groff", "-man", "-ww", "-Tutf8", FOLDER / "share/man/man1/braintrace-train.1"], capture_output=True, text=True)
    assert r.returncode == 0 and not r.stderr and "--resume" in r.stdout, r
expect(["completion", "tcsh"], 2, err="tcsh")
(FOLDER / "file").write_text("")
expect(["man", "--install", FOLDER / "file"], 2, err="file/man/man1: cannot create this folder")
expect(["man", "trian"], 2, err="did you mean 'train'?")


def completed(*words):
    """What bash offers after `braintrace WORDS`, the last of which is being typed."""
    script = f"""source {FOLDER}/share/bash-completion/completions/braintrace
COMP_WORDS=(braintrace {' '.join(f"'{w}'" for w in words)}) COMP_CWORD={len(words)}
_braintrace; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-uc", script], capture_output=True, text=True, check=True, cwd=FOLDER / "share").stdout.split()


assert completed("gr") == ["graph"] and completed("graph", "--fo") == ["--format"], completed("gr")
assert set(completed("")) == {*commands, "--help", "--version"}, completed("")
for words, values in ((("stream", "gru", "--loss"), {"mse", "cross_entropy"}), (("export", "gru", "--dtype"), {"f32", "f64"}),
                      (("export", "gru", "--loss"), {"mse", "cross_entropy"}), (("eval", "x", "--part"), {"validation", "test"}),
                      (("train", "x", "--backend"), {"cpu", "reference", "cuda", "auto"}), (("stream", "gru", "--lr"), set()),
                      (("completion",), {"bash", "zsh", "fish"}), (("help",), set(commands))):
    assert set(completed(*words, "")) == values, (words, completed(*words, ""))  # and no files
assert {"D_RTRL", "BPTT"} < set(completed("stream", "gru", "--rule", "")) and "man" not in completed("stream", "gru", "--rule", "")
assert {"auto", "man"} <= set(completed("train", "x", "--resume", "")), completed("train", "x", "--resume", "")
assert "man" in completed("graph", "gru", "-o", "") and "TEXT" not in "".join(run("help", c).stdout for c in commands)
assert "gru" in completed("graph", "") and "man" in completed("graph", ""), completed("graph", "")  # names and files
assert completed("advise", "gru", "--rules", "D_") == ["D_RTRL"] and completed("tasks", "cop") == ["copy"]
assert completed("graph", "gru", "--json", "--qu") == ["--quiet"]  # a flag takes no value
for shell, file in (("zsh", "zsh/site-functions/_braintrace"), ("fish", "fish/vendor_completions.d/braintrace.fish")):
    text = (FOLDER / "share" / file).read_text()
    assert text == expect(["completion", shell], 0) and all(c in text for c in [*commands, "cross_entropy"]), text
    # A fixed set of values, and no files; a function for every name that is used.
    assert ("--loss[Loss]:value:(mse cross_entropy)" if shell == "zsh" else "-l loss -a 'mse cross_entropy' -r -f") in text, text
    assert set(re.findall(r":(_braintrace_\w+)", text)) == set(re.findall(r"^(_braintrace_\w+)\(\)", text, re.M)), text
    if shutil.which(shell):
        subprocess.run([shell, "-n", FOLDER / "share" / file], check=True)
shutil.rmtree(FOLDER)
