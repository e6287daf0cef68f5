#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy with the rules of .clang-tidy, over sources of a Clang build with compile_commands.json.

    tools/tidy.py build/dev            uncommitted files and those of recent commits, at most 40
    tools/tidy.py build/dev --all      everything: some ten minutes on two cores
    tools/tidy.py build/dev FILE…      these

A header is read with the source of its name. Exit status 1 when there are findings."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST, COMMITS = 40, 30  # files and commits of a short run


def recent():
    """Names of changed files, the newest first; without git, all by their time."""
    try:
        git = ["git", "-C", ROOT, "-c", f"safe.directory={ROOT}"]
        asked = [["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"],
                 ["log", f"-n{COMMITS}", "--name-only", "--format="]]
        texts = [subprocess.run([*git, *a], check=True, capture_output=True, text=True).stdout for a in asked]
        return [line for text in texts for line in text.splitlines() if line]
    except (OSError, subprocess.CalledProcessError):
        files = [p for p in ROOT.glob("*/**/*.cpp") if "build" not in p.parts]
        return [str(p.relative_to(ROOT)) for p in sorted(files, key=lambda p: -p.stat().st_mtime)]


def commands_of(build):
    """The commands of a build by source; where it compiles the sources of a folder as one, each has the command of all."""
    out = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(command["file"])
        sources = re.findall(r'^#include "(.+)"', file.read_text(), re.M) if file.parent.name == "Unity" else [command["file"]]
        for source in sources:
            out[source] = {**command, "file": source, "command": command["command"].replace(command["file"], source)}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tidy = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tidy:
        sys.exit("tidy: there is no clang-tidy; install the Debian package clang-tidy-14.")
    commands = commands_of(options.build)
    known = {pathlib.Path(source) for source in commands}
    known = {str(f.relative_to(ROOT)) for f in known if f.is_relative_to(ROOT) and not f.is_relative_to(options.build)}
    wanted = sorted(known) if options.all else options.files or recent()
    files = list(dict.fromkeys(f for f in (re.sub(r"\.h$", ".cpp", w) for w in wanted) if f in known))
    if not (options.all or options.files):
        files = files[:MOST]

    folder = tempfile.TemporaryDirectory()
    (pathlib.Path(folder.name) / "compile_commands.json").write_text(json.dumps(list(commands.values())))

    def findings(file):
        done = subprocess.run([tidy, "--quiet", "-p", folder.name, ROOT / file], capture_output=True, text=True)
        return done.stdout.strip() or (done.stderr if done.returncode else "")

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, text in zip(files, pool.map(findings, files)):
            if text:
                failed += 1
                print(f"{file}\n{text}\n", flush=True)
    print(f"{len(files)} files read, {failed} with findings")
    sys.exit(1 if failed or not files else 0)


main()
