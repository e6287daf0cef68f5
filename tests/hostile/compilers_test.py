# SPDX-License-Identifier: Apache-2.0
"""C compilers that hang, are interrupted or killed, and the folder of what they made.

Guards: a compiler that fails leaves nothing."""
from support import *

CACHE, TEMPORARY = FOLDER / "cache", FOLDER / "temporary"
ENV = {"BRAINTRACE_CACHE_DIR": str(CACHE), "BRAINTRACE_BACKEND": "cpu", "TMPDIR": str(TEMPORARY)}
TEMPORARY.mkdir()
RECORDS = "".join('{"x":[1,2],"y":[1]}\n' for _ in range(3))
CHILD = FOLDER / "child"


def compiler(name, script):
    path = FOLDER / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return {**ENV, "BRAINTRACE_CC": str(path)}


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def child(file=CHILD):
    within(60, lambda: file.exists() and file.read_text().strip(), "the compiler's own process")
    pid = int(file.read_text())
    file.unlink()
    return pid


def files(pattern="*"):
    return sorted(p.name for p in CACHE.glob(pattern))


def left_over():
    """Of compilers: what is in the cache and no machine code, and anything among temporary files."""
    return [p for p in CACHE.glob("*") if p.suffix not in (".so", ".sum")] + list(TEMPORARY.iterdir())


def empty():
    shutil.rmtree(CACHE, ignore_errors=True)
    shutil.rmtree(TEMPORARY)
    TEMPORARY.mkdir()


# The compiler says what it is, then starts a process, as they do, and both wait for ever. Another one does not even say that.
def waits(file):
    return f"sleep 1000 & echo $! > {file}.new; mv {file}.new {file}; wait\n"


SAYS = "[ $1 = --version ] && exit; "
hangs, mute = compiler("hangs", SAYS + waits(CHILD)), compiler("mute", waits(CHILD))

with check("a limit of time: the interpreter answers, every process is gone, and other files do not wait again"):
    o = expect(["stream", MODEL], 0, out="prediction", err="took longer than 0.5 s", text=RECORDS,
               env={**hangs, "BRAINTRACE_CC_SECONDS": "0.5"})
    assert o.out.count("prediction") == 3
    pid = child()
    within(10, lambda: not is_alive(pid), "what the compiler started ends with it")
    assert files() == [], files()

with check("a limit of time for one that does not say what it is"):
    expect(["stream", MODEL], 0, out="prediction", err="took longer than 0.5 s to say its version", text=RECORDS,
           env={**mute, "BRAINTRACE_CC_SECONDS": "0.5"})

for command, status in (["stream", MODEL, "--save", "saved.safetensors"], 0), (["bench", "--quick", "--model", "rnn"], None):
    with check(f"Ctrl-C while the compiler hangs, in {command[0]}"):
        CHILD.unlink(missing_ok=True)  # several compilers may have run side by side
        p = start(*command, env={**hangs, "TMPDIR": str(FOLDER)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if command[0] == "stream":
            p.stdin.write(RECORDS.encode())
            p.stdin.flush()
        pid = child()
        p.send_signal(signal.SIGINT)
        assert p.wait(60) in (status, 128 + signal.SIGINT, -signal.SIGINT), p.returncode
        within(10, lambda: not is_alive(pid), f"{command[0]}: what the compiler started ends with it")
        p.stdin.close(), p.stdout.close(), p.stderr.close()

# Killed outright, the process leaves what it was at work on. These compilers say where their processes are in files of their own: those of
# an interrupted `bench` may still be ending.
for number, (name, says) in enumerate({"compiles": SAYS, "is asked what it is": ""}.items()):
    empty()
    file = FOLDER / f"child{number}"
    env = compiler(f"killed{number}", says + waits(file))
    p = start("stream", MODEL, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    p.stdin.write(RECORDS.encode())
    p.stdin.flush()
    pid = child(file)
    p.kill()
    p.wait(60)
    os.kill(pid, signal.SIGKILL)
    with check(f"`cache` shows what a process has left, killed while the compiler {name}"):
        assert left_over(), "there is nothing to clean"
        shown = json.loads(expect(["cache", "--json"], 0, env=ENV).out)
        assert shown["left_over"] == len(left_over()) and shown["folder"] == str(CACHE), shown
    with check("the next compiler removes it"):
        expect(["stream", MODEL], 0, out="prediction", text=RECORDS, env=ENV)
        assert not left_over() and files("*.so"), left_over()

with check("the cache has a bound: what was used last stays"):
    for old in CACHE.glob("*.so"):
        os.utime(old, (1, 1))
    before = files("*.so")
    expect(["stream", MODEL, "--rule", "ES_D_RTRL", "--rule-options", '{"decay_or_rank": 0.9}'], 0, text=RECORDS,
           env={**ENV, "BRAINTRACE_CACHE_MIB": "0"})
    assert before and not set(before) & set(files("*.so")), "the oldest are still there"
with check("`cache` shows what there is, and removes it"):
    expect(["stream", MODEL], 0, out="prediction", text=RECORDS, env=ENV)
    shown = json.loads(expect(["cache", "--json"], 0, env=ENV).out)
    assert shown["files"] == len(files("*.so")) > 0 and shown["bytes"] > 0 and shown["left_over"] == 0, shown
    expect(["cache", "--clean"], 0, out="removed", env=ENV)
    assert not files()

for script in ("echo no; exit 1\n", "kill -9 $$\n"):
    with check(f"a compiler that fails leaves nothing: {script.strip()}"):
        empty()
        expect(["stream", MODEL], 0, out="prediction", err="interpreter", text=RECORDS, env=compiler("fails", script))
        assert not files() and not left_over()

with check("a compiler that crashes at the usual settings is tried with lower ones, and a warning says so"):
    empty()
    crashes = 'case "$*" in *-O0*) exec cc "$@";; esac\necho "internal error: segmentation fault"; exit 1\n'
    o = expect(["stream", MODEL], 0, out="prediction", err="It succeeded with -O0", text=RECORDS, env=compiler("crashes", crashes))
    assert "segmentation fault" in o.err and "interpreter" not in o.err, o.err
    assert files("*.so"), "what was compiled with lower settings is kept"

# The compiler's last words, or its end, and whether lower settings helped; in each case the program runs.
GIVEN = 'case "$*" in *--version*|*-O1*) exec cc "$@";; esac\n'
CUT = 'cc "$@"; for a; do case $p in -o) o=$a;; esac; p=$a; done; truncate -s 6000 "$o"\n'
OTHER = 'case "$*" in *--version*) exec cc "$@";; esac\nfor a; do case $p in -o) o=$a;; esac; p=$a; done\n'
subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", FOLDER / "other.so"], input="int x;", text=True, check=True)
ENDS = {
    "crashes above -O1": (GIVEN + "kill -SEGV $$\n", ["It succeeded with -O1", "was ended by signal 11 (Segmentation fault)"]),
    "crashes always": ("kill -SEGV $$\n", ["in the interpreter", "was ended by signal 11 (Segmentation fault)"]),
    "exits silently": ("exit 3\n", ["in the interpreter", "exited with status 3"]),
    "reports an error after other lines": (GIVEN + 'echo "In function f:"; echo "internal compiler error: abc"; exit 4\n',
                                           ["It succeeded with -O1", "  internal compiler error: abc"]),
    "writes nothing above -O1": (GIVEN + "exit 0\n", ["It succeeded with -O1", "wrote no complete shared library"]),
    "writes another library": (OTHER + 'cp "$(dirname "$0")/other.so" "$o"\n', ["in the interpreter", "wrote a library of something else"]),
    "writes a folder": (OTHER + 'mkdir -p "$o"\n', ["in the interpreter", "wrote no complete"]),
    "writes a pipe": (OTHER + 'mkfifo "$o"\n', ["in the interpreter", "wrote no complete"]),
    "cuts its files short": ('case "$*" in *--version*) exec cc "$@";; esac\n' + CUT, ["in the interpreter", "wrote no complete"]),
}
for name, (script, phrases) in ENDS.items():
    with check(f"a compiler that {name}: the warning says what happened"):
        empty()
        o = expect(["stream", MODEL], 0, out="prediction", err=phrases[0], text=RECORDS, env=compiler("ends", script))
        assert all(p in o.err for p in phrases) and not left_over(), o.err

with check("code for the address sanitizer needs a process with it"):
    empty()
    expect(["stream", MODEL], 0, out="prediction", err="started with this sanitizer (LD_PRELOAD)", text=RECORDS,
           env={**ENV, "BRAINTRACE_CC": "gcc", "BRAINTRACE_CFLAGS": "-fsanitize=address"})

with check("nobody is told to install a compiler that is there"):
    empty()
    o = expect(["stream", MODEL], 0, out="prediction", err="a program runs in the interpreter", text=RECORDS,
               env=compiler("fails", "echo no such flag; exit 1\n"))
    assert "no such flag" in o.err and "Install" not in o.err, o.err
