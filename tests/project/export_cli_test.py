# SPDX-License-Identifier: Apache-2.0
"""The command export: C that compiles without a warning, and does what the interpreter did.

Usage: export_cli_test.py BINARY [--all]

Models and rules are paired so that each occurs; --all takes every pair (conv_rnn, with 400 000 weights, has two rules).
Where a compiler for ARM and its emulator are installed, one network runs on an emulated Cortex-M too.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fwrapv", "-fno-strict-aliasing"]
RULES = {"D_RTRL": [], "ES_D_RTRL": ["--decay", "0.9"], "EProp": ["--rule-options", '{"kappa_filter_decay": 0.5}'],
         "OSTLRecurrent": [], "OSTLFeedforward": [], "SnAp": [], "UORO": [], "RTRL": []}


def run(*args):
    return subprocess.run(list(map(str, args)), capture_output=True, text=True)


def export(model, *args):
    folder = FOLDER / f"{len(list(FOLDER.iterdir()))}"
    return folder, run(BINARY, "export", model, "-o", folder, *args)


def compiled(folder, compiler, *flags):
    """Compiles with every warning an error; the program's path."""
    program = folder / f"test_{pathlib.Path(compiler).name}"
    r = run(compiler, *STRICT, *flags, "-o", program, folder / "model.c", folder / "test_main.c", "-lm")
    assert r.returncode == 0, f"{compiler} {folder}:\n{r.stderr[-4000:]}"
    return program


def worst_ulp(text):
    return float(re.search(r"worst error (\S+) ulp", text).group(1))


def replayed(folder, what, compiler="cc", *flags):
    r = run(compiled(folder, compiler, *flags))
    assert r.returncode == 0 and r.stdout.startswith("pass"), f"{what}: {r.stdout}{r.stderr}"
    return worst_ulp(r.stdout)


def refused(args, *words):
    folder, r = export(*args)
    assert r.returncode == 2 and all(w in r.stderr for w in words), f"{args}: {r.returncode} {r.stdout}{r.stderr}"
    assert not folder.exists(), f"{args}: something was written"


# Models with rules.
help_text = run(BINARY, "export", "--help").stdout
models = re.search(r"built-in one:\s+(.*?)\n\n", help_text, re.S).group(1).replace(",", " ").split()
assert {"gru", "lif", "conv_rnn"} <= set(models), models
rules = list(RULES)
if "--all" in sys.argv:
    pairs = [(m, r) for m in models for r in rules if m != "conv_rnn" or r in ("D_RTRL", "ES_D_RTRL")]
else:
    pairs = [(m, rules[i % len(rules)]) for i, m in enumerate(m for m in models if m != "conv_rnn")]
worst, left_out = {}, {}
for model, rule in pairs:
    folder, r = export(model, "--rule", rule, *RULES[rule])
    if r.returncode == 2:  # the rule does not serve this model, as everywhere
        left_out[model, rule] = r.stderr.splitlines()[0]
        continue
    assert r.returncode == 0, f"{model} {rule}: {r.stderr}"
    worst[model, rule] = replayed(folder, f"{model} {rule}")
    shutil.rmtree(folder)
    folder.mkdir()
for pair, ulp in sorted(worst.items(), key=lambda item: -item[1])[:5]:
    print(*pair, f"{ulp:.3g} ulp")
for pair, reason in left_out.items():
    print("left out:", *pair, reason)
assert len(worst) > 0.9 * len(pairs), left_out
assert {r for m, r in worst} == set(rules), worst

# Where a last bit grows from step to step, in f32 and f64 alike, the recorded sequence ends before it grows too far.
shorter = 0
for args in ([], ["--dtype", "f64"], ["--seed", "4"]):
    folder, r = export("lru", *args)
    assert r.returncode == 0, f"{args}: {r.returncode} {r.stderr}"
    shorter += " of 20 steps" in r.stderr
    replayed(folder, f"lru {args}")
assert shorter > 0
folder, r = export("gru")
assert r.returncode == 0 and not r.stderr and "#define STEPS 20\n" in (folder / "test_data.h").read_text(), r.stderr

# Rounding errors of deep networks are larger; the limit follows them, and a wrong result is still seen.
deep = FOLDER / "deep.json"
deep.write_text(json.dumps({"type": "chain", "layers": [{"name": f"l{i}", "type": "gru", "n_in": 8, "n_rec": 8} for i in range(20)]}))
folder, r = export(deep)
data = (folder / "test_data.h").read_text()
limit = float(re.search(r"#define LIMIT_ULP (\S+)", data).group(1))
assert r.returncode == 0 and not r.stderr and "#define STEPS 20\n" in data and 64 < limit <= 1024, f"{limit} {r.stderr}"
replayed(folder, "20 layers")
first = re.search(r"double ys\[\d+\] = \{\s*([^,\s]+)", data)
(folder / "test_data.h").write_text(data[:first.start(1)] + "0.01 + " + data[first.start(1):])
r = run(compiled(folder, "cc"))
assert r.returncode == 1 and "(y, step 0)" in r.stdout, r.stdout

# The build files that come along, under names that CMake and the C library keep to themselves.
for name in ("test", "all", "m"):
    model = FOLDER / f"{name}.json"
    model.write_text('{"type": "gru", "n_in": 1, "n_rec": 1}')
    folder, r = export(model)
    assert r.returncode == 0, r.stderr
    for args in (["-S", folder, "-B", folder / "build"], ["--build", folder / "build"]):
        r = run("cmake", *args)
        assert r.returncode == 0, f"{name}: {r.stdout}{r.stderr}"
    r = run("ctest", "--test-dir", folder / "build")
    assert r.returncode == 0 and "100% tests passed" in r.stdout, f"{name}: {r.stdout}{r.stderr}"

# Both compilers, optimized; Adam, cross entropy, f64.
small = FOLDER / "small.json"
small.write_text('{"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 6}, '
                 '{"name": "out", "type": "linear", "n_in": 6, "n_out": 3}]}')
for args in ([], ["--optimizer", "adam", "--lr", "0.001"], ["--loss", "cross_entropy"], ["--dtype", "f64"]):
    folder, r = export(small, *args)
    assert r.returncode == 0, r.stderr
    for compiler in ("cc", "clang-14"):
        if shutil.which(compiler):
            replayed(folder, args, compiler, "-O2")

# No heap, no threads: the object asks for nothing but mathematics and memory functions.
def asked(file):
    run("cc", *STRICT, "-O1", "-c", "-o", FOLDER / "one.o", folder / file)
    return {line.split()[-1] for line in run("nm", "-u", FOLDER / "one.o").stdout.splitlines()}


allowed = {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
foreign = [a for a in asked("model.c") if a not in allowed and not re.fullmatch(r"(sqrt|pow|fma|rint)f?", a)]
assert not foreign and any("printf" in a for a in asked("test_main.c")), foreign

# The replay can fail: a changed weight is seen.
text = (folder / "model.c").read_text()
changed = re.sub(r"(initial_rnn_\w+\[\d+\] = \{\s*)(-?[\d.]+)", r"\g<1>0.5 + \2", text, count=1)
assert changed != text
(folder / "model.c").write_text(changed)
r = run(compiled(folder, "cc"))
assert r.returncode == 1 and r.stdout.startswith("FAIL"), r.stdout

# Sizes, with the project file that comes along.
folder, r = export("gru", "--json")
sizes = json.loads(r.stdout)
assert sizes["ram"]["all"] >= sizes["ram"]["states"] + sizes["ram"]["arena"] > 0, sizes
assert sizes["flash"]["constants"] > 4 * 32 * 42 and sorted(sizes["files"]) == sorted(p.name for p in folder.iterdir())
r = run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build")
assert r.returncode == 0, r.stderr
r = run("cmake", "--build", folder / "build")
assert r.returncode == 0, r.stdout + r.stderr
r = run("ctest", "--test-dir", folder / "build")
assert r.returncode == 0, r.stdout

# A Cortex-M4 with its own C library, where they are installed.
tools = ["arm-none-eabi-gcc", "qemu-system-arm"]
if all(map(shutil.which, tools)):
    folder, r = export(small)
    here, elf = pathlib.Path(__file__).parent, folder / "model.elf"
    r = run("arm-none-eabi-gcc", *STRICT, "-O2", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard",
            "-mfpu=fpv4-sp-d16", "--specs=rdimon.specs", "-T", here / "cortex_m.ld", "-nostartfiles", "-o", elf,
            here / "cortex_m_start.c", folder / "model.c", folder / "test_main.c", "-lm")
    assert r.returncode == 0, r.stderr
    r = subprocess.run(["qemu-system-arm", "-machine", "mps2-an386", "-cpu", "cortex-m4", "-nographic",
                        "-semihosting-config", "enable=on,target=native", "-kernel", elf], capture_output=True,
                       text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert r.returncode == 0 and r.stdout.startswith("pass"), r
    print("Cortex-M4:", r.stdout.strip())
else:
    print("no Cortex-M:", *[t for t in tools if not shutil.which(t)], "not installed")

# Bad input.
refused(["gru", "--rule", "d_rtlr"], "did you mean 'D_RTRL'")
refused(["gru", "--rule", "BPTT"], "whole sequence", "D_RTRL")
refused(["gru", "--rule", "ThreeFactor"], "more than a loss")
for option in (["--n", "2"], ["--rule-options", '{"n": 2}']):
    refused(["gru", *option], "D_RTRL: it has no option n, which is for SnAp")
refused(["gru", "--optimizer", "adm"], "did you mean 'adam'")
refused(["gru", "--loss", "mae"], "Known: mse, cross_entropy")
refused(["gru", "--dtype", "f16"], "f32 or f64")
refused(["gru", "--lr", "0"], "must be positive")
refused(["gru", "--lr", "1e30"], "no longer finite", "learning rate")
refused(["gru", "--batch", "2"], "--batch")
refused(["gru", "--ram", "1000"], "bytes of RAM", "1000")
refused(["gru", "--flash", "1000"], "bytes of flash", "1000")
refused(["gru", "--test-steps", "0"], "--test-steps", "expected an integer ≥ 1")
r = run(BINARY, "export", "gru", "-o", folder)
assert r.returncode == 2 and "not empty" in r.stderr, r
r = run(BINARY, "export", "gru", "-o", small)
assert r.returncode == 2 and "this is a file" in r.stderr, r
r = run(BINARY, "export", "gru", "-o", "/proc/nowhere")
assert r.returncode == 2 and "cannot create the folder" in r.stderr, r
shutil.rmtree(FOLDER)
