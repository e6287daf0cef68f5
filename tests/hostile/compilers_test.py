# SPDX-License-Identifier: Apache-2.0
"""C compilers that hang, are interrupted or killed, and the folder of what they made."""
from support import *

CACHE = FOLDER / "cache"
ENV = {"BRAINTRACE_CACHE_DIR": str(CACHE), "BRAINTRACE_BACKEND": "cpu", "TMPDIR": str(FOLDER / "temporary")}
(FOLDER / "temporary").mkdir()
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


def child():
    within(60, lambda: CHILD.exists() and CHILD.read_text().strip(), "the compiler's own process")
    pid = int(CHILD.read_text())
    CHILD.unlink()
    return pid


def files(pattern="*"):
    return sorted(p.name for p in CACHE.glob(pattern))


# The compiler says what it is, then starts a process, as they do, and both wait for ever.
hangs = compiler("hangs", f"[ $1 = --version ] && exit; sleep 1000 & echo $! > {CHILD}.new; mv {CHILD}.new {CHILD}; wait\n")

# A limit of time: the interpreter answers, every process is gone, and other files do not wait again.
o = expect(["stream", MODEL], 0, out="prediction", err="took longer than 0.5 s", text=RECORDS,
           env={**hangs, "BRAINTRACE_CC_SECONDS": "0.5"})
assert o.out.count("prediction") == 3
pid = child()
within(10, lambda: not is_alive(pid), "what the compiler started ends with it")
assert files() == [], files()

# The same for one that does not even say what it is.
expect(["stream", MODEL], 0, out="prediction", err="took longer than 0.5 s to say its version", text=RECORDS,
       env={**compiler("mute", "sleep 1000\n"), "BRAINTRACE_CC_SECONDS": "0.5"})

# Ctrl-C while the compiler hangs, in a command that saves and in one that does not.
for command, status in (["stream", MODEL, "--save", "saved.safetensors"], 0), (["bench", "--quick", "--model", "rnn"], None):
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

# Killed outright, the process leaves its folder; the next compiler removes it.
CHILD.unlink(missing_ok=True)
p = start("stream", MODEL, env=hangs, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
p.stdin.write(RECORDS.encode())
p.stdin.flush()
within(60, lambda: files("work.*"), "the compiler is at work")
pid = child()
p.kill()
p.wait(60)
os.kill(pid, signal.SIGKILL)
assert files("work.*"), "there is nothing to clean"
shown = json.loads(expect(["cache", "--json"], 0, env=ENV).out)
assert shown["left_over"] == len(files("work.*")) and shown["folder"] == str(CACHE), shown
expect(["stream", MODEL], 0, out="prediction", text=RECORDS, env=ENV)
assert not files("work.*") and files("*.so"), files()
assert not any((FOLDER / "temporary").iterdir()), list((FOLDER / "temporary").iterdir())

# The bound: what was used last stays. `cache` shows what there is, and removes it.
shown = json.loads(expect(["cache", "--json"], 0, env=ENV).out)
assert shown["files"] == len(files("*.so")) > 0 and shown["bytes"] > 0 and shown["left_over"] == 0, shown
for old in CACHE.glob("*.so"):
    os.utime(old, (1, 1))
before = files("*.so")
expect(["stream", MODEL, "--rule", "ES_D_RTRL", "--rule-options", '{"decay_or_rank": 0.9}'], 0, text=RECORDS,
       env={**ENV, "BRAINTRACE_CACHE_MIB": "0"})
assert not set(before) & set(files("*.so")), "the oldest are still there"
expect(["cache", "--clean"], 0, out="removed", env=ENV)
assert not files()

# A compiler that fails, and one that is no program.
for script in ("echo no; exit 1\n", "kill -9 $$\n"):
    o = expect(["stream", MODEL], 0, out="prediction", err="interpreter", text=RECORDS, env=compiler("fails", script))
    assert not files() and not any((FOLDER / "temporary").iterdir())

# One that crashes at the usual settings is tried with lower ones, and the user hears of it.
crashes = 'case "$*" in *-O0*) exec cc "$@";; esac\necho "internal error: segmentation fault"; exit 1\n'
o = expect(["stream", MODEL], 0, out="prediction", err="with -O0 it did not", text=RECORDS, env=compiler("crashes", crashes))
assert "segmentation fault" in o.err and "interpreter" not in o.err, o.err
assert files("*.so"), "what was compiled with lower settings is kept"
expect(["cache", "--clean"], 0, out="removed", env=ENV)

# Nobody is told to install a compiler that is there.
o = expect(["stream", MODEL], 0, out="prediction", err="a program runs in the interpreter", text=RECORDS,
           env=compiler("fails", "echo no such flag; exit 1\n"))
assert "no such flag" in o.err and "Install" not in o.err, o.err
