#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of catalogue.txt in full and prints the table of docs/examples.md.

Usage: measure.py BIN [--quick] [ENTRY...]     BIN: the folder with the built programs
Some run with smaller batches and networks, which the last field of the catalogue gives: minutes each, not hours.
Programs of examples/spiking run shortened with --quick, as the tests run them. Given entries, only those."""
import pathlib
import re
import subprocess
import sys

EPOCH = re.compile(r"^(.*?) +epoch +\d+ +loss ([\d.]+)", re.M)
VERDICT = re.compile(r"^(reached|MISSED): (.*)$", re.M)


def catalogue():
    """(entries, program, flags, what the reference reaches, what is different here, sizes that fit a small machine)"""
    lines = (pathlib.Path(__file__).parent / "catalogue.txt").read_text().splitlines()
    return [tuple(field.strip() for field in (line + "|" * 5).split("|")[:6])
            for line in lines if line and not line.startswith("#")]


def figure(output, sizes=""):
    """First and last loss of every curve, the verdict, and the sizes if they were not those of the program."""
    curves = {}
    for name, loss in EPOCH.findall(output):
        curves.setdefault(name, []).append(loss)
    parts = [f"{name} {losses[0]} → {losses[-1]}" for name, losses in curves.items()]
    verdict = VERDICT.findall(output)
    says = verdict[-1][1] if verdict else "no verdict"
    parts += [says] if "accuracy" in says or not parts else []
    return "; ".join(parts + ([f"with `{sizes}`"] if sizes else []))


def main():
    folder, chosen = pathlib.Path(sys.argv[1]), [a for a in sys.argv[2:] if a != "--quick"]
    short = {p.stem for p in (pathlib.Path(__file__).parent / "spiking").glob("*.cpp")} if "--quick" in sys.argv else set()
    failed = False
    print("| entry | program | flags | reference | here | difference |\n|---|---|---|---|---|---|")
    for entries, program, flags, reference, difference, sizes in catalogue():
        if chosen and not set(chosen) & set(entries.split(", ")):
            continue
        length, sizes = (["--quick"], "--quick") if program in short else (sizes.split(), sizes)
        run = subprocess.run([folder / program, *flags.split(), *length], capture_output=True, text=True)
        failed = failed or run.returncode != 0
        shown = f"`{flags}`" if flags else ""
        got = figure(run.stdout, sizes) if run.returncode in (0, 1) else f"failed: {run.stderr.strip()}"
        missed = "" if run.returncode == 0 else "MISSED: "
        print(f"| {entries} | `{program}` | {shown} | {reference} | {missed}{got} | {difference} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
