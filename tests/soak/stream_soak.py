# SPDX-License-Identifier: Apache-2.0
"""A stream in rough hands: `braintrace stream` gets records among garbage and poison, in pieces and with pauses; its reader
stops reading, goes away, or has no room; signals and kill -9 come at random moments. Each session goes on from what the
last one saved. After each, the saved file must be, byte for byte, what a quiet stream of the accepted records saves, and
memory must not have grown.

Usage: stream_soak.py BINARY [RECORDS [SEED]]"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

BINARY = os.path.abspath(sys.argv[1])
RECORDS, SEED = [int(a) for a in sys.argv[2:]] + [1000000, random.randrange(10**6)][len(sys.argv) - 2:]
LONGEST = max(50, min(20000, RECORDS // 20))  # records of a session
SAVE_EVERY = max(5, LONGEST // 10)
MOST_POISON = 10  # of a session: of the first twenty bad records the command says the number
STOPS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1)

GARBAGE = ("nonsense", "{", '{"x": [1]}', '{"x": "a"}', "1", "1,2,3,4", '{"x": [1e39, 0], "y": [0]}', "0,nan,0", "[]",
           '{"x": [0, 0], "y": [1, 2]}', "\x00\x01\x02", '{"x": [0, 0], "y": [0], "z": 1}', "é" * 100, "x" * 3000)
POISON = ('{"x": [0.1, 0.2], "y": [1e38]}', "0.3,0.1,-3e38", '{"x": [0.5, 0.5], "y": [1.5e19]}', '{"x": [1, 1], "y": [1.8e19]}')
MODEL = {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 4},
                                     {"name": "out", "type": "linear", "n_in": 4, "n_out": 1}]}


def line_of(dice, kind, poison_left):
    """A line and whether the command may take it."""
    roll = dice.random()
    if roll < 0.02:
        return dice.choice(GARBAGE), False
    if roll < 0.025 and poison_left > 0:
        return dice.choice(POISON), True  # whether it is undone, the command says
    x = f"[{dice.uniform(-1, 1):.4f}, {dice.uniform(-1, 1):.4f}]"
    if roll < 0.2 and kind not in ("kill", "full"):
        return f'{{"x": {x}}}', True
    reset = ', "reset": true' if roll < 0.21 else ""
    return f'{{"x": {x}, "y": [{dice.uniform(-1, 1):.4f}]{reset}}}', True


def lines_of(dice, kind, count):
    out, poison = [], 0
    for i in range(count):
        line, takes = line_of(dice, kind, MOST_POISON - poison)
        while i == 0 and not takes:  # garbage would pass for the head of a table
            line, takes = line_of(dice, kind, 0)
        poison += line in POISON
        out.append((line, takes))
    return out


class Session:
    def __init__(self, folder, dice, kind):
        self.folder, self.dice, self.kind = folder, dice, kind
        self.lines = lines_of(dice, kind, dice.randrange(1, LONGEST))
        self.errors = folder / "errors"
        self.answers, self.sizes = 0, []

    def run(self):
        saved = self.folder / "rough"
        args = ["--save", saved, "--save-every", SAVE_EVERY, "--max-bytes", 2000, *(["--load", saved] if saved.exists() else [])]
        reader, writer = os.pipe()
        full = open("/dev/full", "wb") if self.kind == "full" else None
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([BINARY, "stream", self.folder / "model.json", *map(str, args)], stdin=subprocess.PIPE,
                                            stdout=full or writer, stderr=errors,
                                            preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in STOPS])
        os.close(writer)
        threads = [threading.Thread(target=self.feed)]
        if self.kind not in ("blocked", "full"):
            threads.append(threading.Thread(target=self.read, args=[reader]))
        for t in threads:
            t.start()
        if self.kind in ("signal", "blocked", "kill"):
            # Early, in the middle and, where nobody reads, long after everything has come to a stop.
            time.sleep(self.dice.uniform(0.05, 1.5 if LONGEST < 5000 else 5))
            for _ in range(self.dice.choice((1, 1, 2, 3))):
                self.process.send_signal(signal.SIGKILL if self.kind == "kill" else self.dice.choice(STOPS))
        status = self.process.wait(600)
        for t in threads:
            t.join()
        if self.kind in ("blocked", "full"):
            os.close(reader)
        expected = {"full": (2, 0), "kill": (-signal.SIGKILL, 0)}.get(self.kind, (0,))
        # A signal before the stream listens to any ends the process as ever; nothing is learned by then.
        early = self.kind in ("signal", "blocked") and -status in STOPS and not self.errors.read_text(errors="replace")
        assert status in expected or early, f"exit {status}"
        if self.sizes:
            assert max(self.sizes) - self.sizes[0] < 4096, f"memory grew: {self.sizes} kB"

    def feed(self):
        text = "".join(line + "\n" for line, _ in self.lines).encode()
        try:
            while text:
                size = self.dice.choice((1, 100, 4096, 65536))
                self.process.stdin.write(text[:size])
                self.process.stdin.flush()
                text = text[size:]
                if self.dice.random() < 0.02:
                    time.sleep(0.01)
            if self.kind in ("end", "gone", "full"):
                self.process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def read(self, reader):
        leaves = self.dice.randrange(1, 100000) if self.kind == "gone" else None
        done = 0
        while True:
            text = os.read(reader, 65536 if leaves is None else min(65536, leaves - done))
            done += len(text)
            before, self.answers = self.answers, self.answers + text.count(b"\n")
            if not text or done == leaves:
                break
            if self.answers // 2000 > before // 2000:
                status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
                self.sizes += [int(m) for m in re.findall(r"VmRSS:\s+(\d+)", status)]
        os.close(reader)

    def accepted(self, learned_before):
        """The lines that are in the saved file."""
        said = self.errors.read_text(errors="replace")
        undone = {int(n) for n in re.findall(r"^record (\d+) undone", said, re.M)}
        taken = [(i, line) for i, (line, takes) in enumerate(self.lines, 1) if takes and i not in undone]
        counts = re.search(r"learned from (\d+) records?, predicted (\d+) more, skipped (\d+), undid (\d+)", said)
        if counts:
            handled = sum(map(int, counts.groups()))
            assert int(counts[4]) == len([n for n in undone if n <= handled]), (counts[0], undone)
            return [line for i, line in taken if i <= handled]
        return [line for _, line in taken][:learned_in(self.folder / "rough") - learned_before]  # all of them have targets


def learned_in(path):
    if not path.exists():
        return 0
    content = path.read_bytes()
    return int(json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])["__metadata__"]["records"])


def main():
    folder, dice = pathlib.Path(tempfile.mkdtemp()), random.Random(SEED)
    (folder / "model.json").write_text(json.dumps(MODEL))
    rough, quiet, sent, kept, sessions = folder / "rough", folder / "quiet", 0, 0, 0
    kinds = ["end", "signal", "blocked", "gone", "full", "kill"]
    while sent < RECORDS:
        session = Session(folder, random.Random(dice.random()), kinds[sessions % len(kinds)])
        before = learned_in(rough)
        try:
            session.run()
            lines = session.accepted(before)
            if rough.exists():
                subprocess.run([BINARY, "stream", folder / "model.json", "--every", "0", "--save", quiet, "--save-every", "0",
                                *(["--load", quiet] if quiet.exists() else [])], input="".join(s + "\n" for s in lines).encode(),
                               check=True, stderr=subprocess.PIPE)
                assert rough.read_bytes() == quiet.read_bytes(), f"not what its {len(lines)} accepted records make"
            assert not list(folder.glob("*.tmp")) or session.kind == "kill", "a half of a file is left"
        except BaseException:
            print(f"\nsession {sessions} ({session.kind}), seed {SEED}; files are in {folder}\n{session.errors.read_text()[-3000:]}")
            raise
        sent, kept, sessions = sent + len(session.lines), kept + len(lines), sessions + 1
        print(f"\r{sessions} sessions, {sent} records sent, {kept} learned and kept (seed {SEED})", end="", flush=True)
    print()
    assert kept > 0
    shutil.rmtree(folder)


main()
