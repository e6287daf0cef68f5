#!/usr/bin/env python3
"""Mutation testing: do the tests notice small changes of the code?

    tools/mutate.py --count 200 --seed 1 --report mutants.json

Samples places in the sources of some layers, changes one operator, constant or condition at a time, rebuilds, and runs
the suites that cover the layer until one fails. A mutant that no suite notices has survived: it needs a test, or a reason.
Mutants that do not compile, and those whose machine code is unchanged, do not count.

The sources are changed in place and put back. Run it in a clone of its own. A report that exists is continued. With
`--part 1/2` and `--part 2/2` two clones share the work. With `--again`, survivors of the report are judged once more, after
tests were written for them.
"""
import argparse
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import time

# The suites that cover a layer, cheapest first; after a colon, a filter of their tests.
RECORDED = ["all_golden:*Graphs*:*ReverseMode*", "all_golden:*Numbers*"]
RULES = ["algorithms", "all_oracle", "all_algorithms"]
SUITES = {
    "compiler": ["compiler", "all_compiler", *RULES, *RECORDED],
    "executor": [*RULES, *RECORDED],
    "algorithms": [*RULES, *RECORDED],
    "control": ["all_functions", "all_transforms", "all_etp", "all_compiler", "all_oracle", "all_algorithms", "all_codegen"],
    "codegen": ["codegen", "export", "all_codegen", "all_golden:*Compile*"],
}
LARGEST = 8 << 30  # bytes of a suite: a mutant may ask for any amount of memory

# What is changed: a pattern, and what may replace it. Spaces tell operators from types and templates.
CHANGES = [
    (r" < ", [" <= "]), (r" <= ", [" < "]), (r" > ", [" >= "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" + "]), (r" / ", [" * "]), (r" % ", [" / "]),
    (r" \+= ", [" = "]), (r" \|= ", [" = "]), (r" &= ", [" = "]),
    (r"(?<=[ (])!(?=[a-z(])", [""]), (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"\bstd::min\b", ["std::max"]), (r"\bstd::max\b", ["std::min"]),
    (r"\bany_of\b", ["all_of"]), (r"\ball_of\b", ["any_of"]),
    (r"(?<=[ (\[{])0(?=[,;)\]} ])", ["1"]), (r"(?<=[ (\[{])1(?=[,;)\]} ])", ["0", "2"]), (r"(?<=[ (\[{])2(?=[,;)\]} ])", ["1", "3"]),
    (r"\bcontinue;", ["break;"]), (r"\bif \((?!(?:const|auto) )(?=[a-z!(])", ["if (!", "if (false && "]),
    (r"::Same\b", ["::Moved"]), (r"::Moved\b", ["::Same"]),
]


def code_lines(text):
    """Lines of the text with comments, strings and what only declares or complains taken out, same columns."""
    blank = lambda m: re.sub(r"[^\n]", "\0", m.group())
    text = re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    sampled_until = None  # the brace that ends a function of samples: test data, any will do
    for line in text.split("\n"):
        indent = re.match(r"\s*", line).group()
        if sampled_until is None and re.search(r"\bsample\b\s*=|_sample\(", line) and not line.rstrip().endswith((",", ";", "}")):
            sampled_until = indent + "}"
        elif sampled_until is not None and line.startswith(sampled_until):
            sampled_until = None
        if sampled_until is not None:
            yield ""
            continue
        declares = re.match(r"\s*(#|template|using|static_assert|require\(|ensure\(|fail\(|namespace|class |struct )", line)
        yield "" if declares else line


def places(root, layer):
    """All mutants of a layer as (file, line number, column, old text, new text)."""
    for path in sorted((root / "braintrace" / layer).rglob("*")):
        if path.suffix not in (".cpp", ".h") or path.name.endswith("_test.cpp"):
            continue
        for number, line in enumerate(code_lines(path.read_text())):
            for pattern, replacements in CHANGES:
                for m in re.finditer(pattern, line):
                    for new in replacements:
                        yield str(path.relative_to(root)), number, m.start(), m.group(), new


def sampled(root, layers, seed):
    """The mutants of all layers in random order, taken from the layers in turn."""
    shuffled = []
    for layer in layers:
        shuffled.append(list(places(root, layer)))
        random.Random(seed).shuffle(shuffled[-1])
    return [m for turn in itertools.zip_longest(*shuffled) for m in turn if m]


def target_of(suite):
    return f"test_{suite.partition(':')[0]}"


class Build:
    def __init__(self, root, folder, jobs, suites):
        self.folder, self.jobs = folder, jobs
        if not (folder / "build.ninja").exists():
            subprocess.run(["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON",
                            "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS", "-DBRAINTRACE_TESTS=unit;long", "-DBRAINTRACE_PRECOMPILE=ON",
                            "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON"], check=True, stdout=subprocess.DEVNULL)
        listed = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
        self.targets = sorted({t for t in map(target_of, suites) if f"{t}:" in listed})
        self.environment = dict(os.environ, BRAINTRACE_BACKEND="reference", GTEST_FAIL_FAST="1",
                                BRAINTRACE_CACHE_DIR=str(folder / "compiled"), CCACHE_DISABLE="1")
        self.limits = {}

    def make(self):
        """True if everything compiles."""
        done = subprocess.run(["ninja", "-C", self.folder, f"-j{self.jobs}", *self.targets], capture_output=True, env=self.environment)
        return done.returncode == 0

    def fingerprint(self):
        digest = hashlib.sha256((self.folder / "libbraintrace.so").read_bytes())
        for target in self.targets:
            digest.update((self.folder / "bin" / target).read_bytes())
        return digest.hexdigest()

    def passes(self, suite):
        """True if the suite passes within ten times the seconds it took unchanged."""
        if target_of(suite) not in self.targets:
            return True
        start = time.time()
        run = subprocess.Popen([self.folder / "bin" / target_of(suite), f"--gtest_filter={suite.partition(':')[2] or '*'}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment, process_group=0,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST)))
        try:
            passed = run.wait(timeout=self.limits.get(suite)) == 0
        except subprocess.TimeoutExpired:
            passed = False
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
        self.limits.setdefault(suite, 30 + 10 * (time.time() - start))
        return passed


def judge(build, suites, unchanged):
    if not build.make():
        return "does not compile"
    if build.fingerprint() == unchanged:
        return "same code"
    for suite in suites:
        if not build.passes(suite):
            return f"killed by {suite}"
    return "survived"


def mutate(root, mutant, build, unchanged):
    name, number, column, old, new = mutant
    path = root / name
    text = path.read_text()
    lines = text.split("\n")
    lines[number] = lines[number][:column] + new + lines[number][column + len(old):]
    if new.startswith("if ("):  # the condition ends at the matching parenthesis; one that spans lines does not compile
        depth, at = 0, column + 3
        for at in range(column + 3, len(lines[number])):
            depth += {"(": 1, ")": -1}.get(lines[number][at], 0)
            if depth == 0:
                break
        inner = lines[number][column + len(new):at]
        lines[number] = lines[number][:column] + new + "(" + inner + ")" + lines[number][at:]
    result = with_line(root, name, number, lines[number], build, unchanged)
    return {"file": name, "line": number + 1, "was": text.split("\n")[number].strip(), "is": lines[number].strip(), "result": result}


def with_line(root, name, number, line, build, unchanged):
    """The verdict while one line is another."""
    path = root / name
    text = path.read_text()
    lines = text.split("\n")
    lines[number] = line
    try:
        path.write_text("\n".join(lines))
        return judge(build, SUITES[name.split("/")[1]], unchanged)
    finally:
        path.write_text(text)


def judge_again(root, report, build, unchanged):
    """Survivors of a report, found by the text of their line."""
    results = json.loads(report.read_text())
    for r in results:
        lines = [line.strip() for line in (root / r["file"]).read_text().split("\n")]
        if r["result"] != "survived" or r["was"] not in lines:
            continue
        number = min((i for i, line in enumerate(lines) if line == r["was"]), key=lambda i: abs(i + 1 - r["line"]))
        r["result"] = with_line(root, r["file"], number, r["is"], build, unchanged)
        print(f"{r['file']}:{r['line']}  {r['result']}", flush=True)
        report.write_text(json.dumps(results, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="mutants that count (default 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", nargs="+", default=list(SUITES), choices=list(SUITES))
    parser.add_argument("--part", default="1/1", help="which share of the mutants, as 1/2")
    parser.add_argument("--build", type=pathlib.Path, default=None, help="build folder (default build/mutants)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="SUITE", help="suites not to run, to look for candidates quickly")
    parser.add_argument("--sources-only", action="store_true", help="leave headers out, which many files include and take long to rebuild")
    parser.add_argument("--again", action="store_true", help="judge the survivors of the report once more")
    parser.add_argument("--report", type=pathlib.Path, required=True, help="JSON file of all results")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate: stopped"))  # puts the sources back

    root = pathlib.Path(__file__).resolve().parent.parent
    dirty = subprocess.run(["git", "status", "--porcelain", "--", "braintrace"], cwd=root, capture_output=True, text=True).stdout
    if dirty:
        sys.exit(f"mutate: these files have changes; commit them first:\n{dirty}")
    for layer in options.layers:
        SUITES[layer] = [s for s in SUITES[layer] if s.partition(":")[0] not in options.leave_out]
    suites = sorted({s for layer in options.layers for s in SUITES[layer]})
    build = Build(root, options.build or root / "build" / "mutants", options.jobs, suites)
    if not build.make():
        sys.exit("mutate: the unchanged sources do not compile; run ninja in the build folder to see why.")
    unchanged = build.fingerprint()
    for suite in suites:
        if not build.passes(suite):
            sys.exit(f"mutate: the suite {suite} fails on unchanged sources.")

    if options.again:
        return judge_again(root, options.report, build, unchanged)
    part, parts = map(int, options.part.split("/"))
    sample = [m for m in sampled(root, options.layers, options.seed) if not (options.sources_only and m[0].endswith(".h"))]
    results = json.loads(options.report.read_text()) if options.report.exists() else []
    counted = sum(r["result"] == "survived" or r["result"].startswith("killed") for r in results)
    for mutant in sample[part - 1::parts][len(results):]:
        if counted >= options.count:
            break
        result = mutate(root, mutant, build, unchanged)
        results.append(result)
        options.report.write_text(json.dumps(results, indent=1))
        if result["result"] == "survived" or result["result"].startswith("killed"):
            counted += 1
            print(f"{counted:4} {result['file']}:{result['line']}  {result['result']}\n       - {result['was']}\n       + {result['is']}", flush=True)
    killed = sum(r["result"].startswith("killed") for r in results)
    print(f"\n{killed} of {counted} mutants were noticed ({100 * killed / max(1, counted):.0f} %).")
    for r in results:
        if r["result"] == "survived":
            print(f"  survived: {r['file']}:{r['line']}\n    - {r['was']}\n    + {r['is']}")


if __name__ == "__main__":
    main()
