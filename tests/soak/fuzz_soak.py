# SPDX-License-Identifier: Apache-2.0
"""Millions of fuzz inputs: every target of tests/fuzz runs in rounds, each from another seed and from what the rounds before
it found, until all together have taken the number asked for, and each the least that one must take. Targets that are short
of it run first. What crashed, hung or grew is kept as a file with its target's name.

Usage: fuzz_soak.py BIN_FOLDER [--inputs 10000000] [--least 100000] [--seconds 30] [--seed 1] [--folder FOUND]"""
import argparse
import pathlib
import re
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "corpus"
LONGEST = {"spikes": 32768}  # as in tests/fuzz/CMakeLists.txt


def fuzz_round(program, name, folder, seed, options):
    """Inputs of one round, and whether the target held."""
    found = folder / name
    found.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([program, f"-seed={seed}", f"-max_total_time={options.seconds}", f"-max_len={LONGEST.get(name, 2048)}",
                           "-timeout=30", "-rss_limit_mb=2048", "-verbosity=0", "-print_final_stats=1",
                           f"-artifact_prefix={folder}/{name}-", found, CORPUS / name],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    inputs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    if done.returncode != 0:
        (folder / f"{name}-{seed}.log").write_text(done.stderr)
        print(f"\n{name}, seed {seed}: exit {done.returncode}; see {folder}/{name}-{seed}.log", flush=True)
    return int(inputs[1]) if inputs else 0, done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="folder of the fuzz_ programs, as build/dev/bin")
    parser.add_argument("--inputs", type=int, default=10**7)
    parser.add_argument("--least", type=int, default=10**5, help="of each target")
    parser.add_argument("--seconds", type=int, default=30, help="of one round of one target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("found"), help="for what the targets find")
    options = parser.parse_args()
    programs = {p.name.removeprefix("fuzz_"): p.resolve() for p in sorted(options.bin.glob("fuzz_*"))}
    if not programs:
        sys.exit(f"fuzz_soak: no fuzz_ programs in {options.bin}; build the preset dev with Clang.")
    folder = options.folder.resolve()
    counts, failures, seed = dict.fromkeys(programs, 0), 0, options.seed
    while sum(counts.values()) < options.inputs or min(counts.values()) < options.least:
        short = [name for name in programs if counts[name] < options.least]
        for name in short or programs:
            inputs, held = fuzz_round(programs[name], name, folder, seed, options)
            counts[name] += inputs
            failures += not held
        if not any(counts.values()):
            sys.exit("fuzz_soak: the targets take no input.")
        seed += 1
        print(f"{sum(counts.values())} inputs, {failures} failures: " + ", ".join(f"{n} {c}" for n, c in counts.items()), flush=True)
    sys.exit(failures > 0)


main()
