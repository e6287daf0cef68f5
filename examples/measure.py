#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of catalogue.txt and prints the table of docs/examples.md.

Usage: measure.py BIN [--all] [ENTRY...]     BIN: the folder with the built programs
Programs run shortened, as the tests run them; with --all, in full. Given entries, only those."""
import pathlib
import re
import subprocess
import sys

EPOCH = re.compile(r"^(.*?) +epoch +\d+ +loss ([\d.]+)", re.M)
VERDICT = re.compile(r"^(reached|MISSED): (.*)$", re.M)


def catalogue():
    """(entries, program, flags, what the reference reaches, what is different here)"""
    lines = (pathlib.Path(__file__).parent / "catalogue.txt").read_text().splitlines()
    return [tuple(field.strip() for field in line.split("|")) for line in lines if line and not line.startswith("#")]


def figure(output):
    """First and last loss of every curve, and the verdict."""
    curves = {}
    for name, loss in EPOCH.findall(output):
        curves.setdefault(name, []).append(loss)
    parts = [f"{name} {losses[0]} → {losses[-1]}" for name, losses in curves.items()]
    verdict = VERDICT.findall(output)
    says = verdict[-1][1] if verdict else "no verdict"
    return "; ".join(parts + ([says] if "accuracy" in says or not parts else []))


def main():
    folder, chosen = pathlib.Path(sys.argv[1]), [a for a in sys.argv[2:] if a != "--all"]
    shortened = [] if "--all" in sys.argv else ["--quick"]
    failed = False
    print("| entry | program | flags | reference | here | difference |\n|---|---|---|---|---|---|")
    for entries, program, flags, reference, difference in catalogue():
        if chosen and not set(chosen) & set(entries.split(", ")):
            continue
        run = subprocess.run([folder / program, *flags.split(), *shortened], capture_output=True, text=True)
        failed = failed or run.returncode != 0
        shown = f"`{flags}`" if flags else ""
        got = figure(run.stdout) if run.returncode in (0, 1) else f"failed: {run.stderr.strip()}"
        missed = "" if run.returncode == 0 else "MISSED: "
        print(f"| {entries} | `{program}` | {shown} | {reference} | {missed}{got} | {difference} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
