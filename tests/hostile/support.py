# SPDX-License-Identifier: Apache-2.0
"""What the tests of hostile use share: the command with descriptors that are closed, full or blocked, signals, private
device nodes, and forged files with a valid checksum. Everything happens in a private folder, FOLDER, which is removed at
the end.

A test is a row of checks. What fails in one is noted, the others run all the same, and the test fails at its end. So the same
script tells which of its checks an older command fails. Those that a command has always passed guard what a mend may break;
their test names them as guards.

    python3 tests/hostile/NAME_test.py BINARY SOURCE_FOLDER [LONGEST]"""
import atexit
import fcntl
import json
import os
import pathlib
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import zlib

BINARY, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
LONGEST = float(sys.argv[3]) if len(sys.argv) > 3 else 300  # seconds for any one command: a hang is a failure, not a wait
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="braintrace-hostile-"))
SKIPPED = 77  # what ctest takes for "skipped"

LAYERS = [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 3}, {"name": "out", "type": "linear", "n_in": 3, "n_out": 1}]
MODEL = FOLDER / "model.json"
MODEL.write_text(json.dumps({"type": "chain", "layers": LAYERS}))
# A run of a second, interpreted: nothing waits for a C compiler.
RUN = {"model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                             {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
       "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2}, "optimizer": {"lr": 0.01}, "batch": 2, "steps": 10,
       "update": "step", "backend": "reference", "validation": {"every": 5, "batches": 1},
       "checkpoint": {"every": 1, "keep": 2}}


# --- checks -----------------------------------------------------------------------------------------------------------

started = []  # every process
failures = 0


def note(failure):
    global failures
    failures += 1
    print(failure, flush=True)


class check:
    """with check("what holds"): … An assertion ends the check; `expect` lets it go on. Either makes the test fail."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.before = failures

    def __exit__(self, kind, error, trace):
        if kind and not issubclass(kind, Exception):
            return False  # Ctrl-C, skip()
        if kind:
            note("".join(traceback.format_exception(kind, error, trace)))
        print("holds " if failures == self.before else "FAILED", self.name, flush=True)
        return True


@atexit.register
def finish():
    for process in started:
        if process.poll() is None:
            process.kill()
    shutil.rmtree(FOLDER, ignore_errors=True)
    if failures:
        print(f"{failures} failures", flush=True)
        os._exit(1)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def write_config(name, **changes):
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps({**RUN, **changes}))
    return path


# --- the command ------------------------------------------------------------------------------------------------------


def _prepared(closed, before):
    def prepare():
        for s in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(s, signal.SIG_DFL)  # who started us may ignore some
        if before:
            before()
        for fd in closed:
            os.close(fd)
    return prepare


def start(*args, closed=(), before=None, env=None, **descriptors):
    """The command as a process. `closed` descriptors are closed as by `2>&-`; `before` runs in the child."""
    started.append(subprocess.Popen([BINARY, *(a if isinstance(a, bytes) else str(a) for a in args)], cwd=FOLDER,
                                    preexec_fn=_prepared(closed, before), env={**os.environ, **(env or {})}, **descriptors))
    return started[-1]


class Outcome:
    def __init__(self, status, out, err, words):
        self.status, self.out, self.err, self.words = status, out.decode(errors="replace"), err.decode(errors="replace"), words

    def __str__(self):
        return f"{self.words}\nexit {self.status}\nstdout: {self.out[-1500:]}\nstderr: {self.err[-3000:]}"


def outcome_of(process, words, text=None):
    try:
        out, err = process.communicate(text, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return Outcome(f"none after {LONGEST:g} s", b"", b"", words)
    return Outcome(process.returncode, out or b"", err or b"", words)


def run(*args, text=b"", **options):
    """Runs the command to its end and says how it went."""
    options.setdefault("stdin", subprocess.PIPE)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    text = text.encode() if isinstance(text, str) else text
    return outcome_of(start(*args, **options), " ".join(map(str, args))[:300], text if options["stdin"] == subprocess.PIPE else None)


def expect(args, status, out="", err="", **options):
    """The same, with an end that is known."""
    o = run(*args, **options)
    if o.status != status or out not in o.out or err not in o.err:
        note(f"expected {status}, {out!r}, {err!r}\n{o}")
    return o


def within(seconds, happened, what):
    """Waits until something is so."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.01)


# --- descriptors ------------------------------------------------------------------------------------------------------


def device(name, major, minor):
    """A private character device, such as ("full", 1, 7); None where this user or folder may not have one."""
    path = FOLDER / f"device-{name}"
    try:
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        os.close(os.open(path, os.O_WRONLY))  # a folder mounted without devices lets us make one, not open it
    except OSError:
        return None
    return path


def full():
    """A descriptor to write to that has no room. Holding it open harms nothing, so the machine's own will do."""
    return open(device("full", 1, 7) or "/dev/full", "wb", buffering=0)


class BlockedPipe:
    """A pipe that is full, and whose reader does not read: a writer waits."""

    def __init__(self):
        self.reader, self.writer = os.pipe()
        fcntl.fcntl(self.writer, fcntl.F_SETFL, os.O_NONBLOCK)
        try:
            while True:
                os.write(self.writer, b"x" * 4096)
        except BlockingIOError:
            pass
        fcntl.fcntl(self.writer, fcntl.F_SETFL, 0)

    def close(self):
        os.close(self.reader), os.close(self.writer)


def waits_in_a_system_call(process):
    """Whether a process sleeps, as one that waits for a pipe does."""
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


def waits_for_a_reader(process):
    """Whether a process has taken all of its input and sleeps since, as one that cannot write its answer does."""
    left = struct.unpack("i", fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, bytes(4)))[0]
    return left == 0 and all(waits_in_a_system_call(process) and time.sleep(0.01) is None for _ in range(10))


# --- forged files -----------------------------------------------------------------------------------------------------


def read_tensors(path):
    """Header and elements of a safetensors file."""
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + length]), content[8 + length:]


def forge(source, target, change):
    """Writes a changed copy with a checksum that is right. `change(header, data)` edits the header, a dictionary, and the
    elements, a bytearray, in place."""
    header, data = read_tensors(source)
    data = bytearray(data)
    change(header, data)
    header["__metadata__"]["crc32"] = "00000000"
    text = json.dumps(header, separators=(",", ":")).encode()
    whole = struct.pack("<Q", len(text)) + text + data
    digits = b"%08x" % zlib.crc32(whole)
    place = whole.index(b'"crc32":"') + len(b'"crc32":"')
    pathlib.Path(target).write_bytes(whole[:place] + digits + whole[place + 8:])
    return target


def set_elements(name, code, value):
    """A change for `forge`: every element of an array, whose format letter is `code` (f, d, i, q), becomes `value`."""
    def change(header, data):
        begin, end = header[name]["data_offsets"]
        size = struct.calcsize(code)
        data[begin:end] = struct.pack("<" + code, value) * ((end - begin) // size)
    return change
