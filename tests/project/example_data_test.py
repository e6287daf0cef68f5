# SPDX-License-Identifier: Apache-2.0
"""Examples that take --data learn from folders in the formats data sets come in, made here in small, and fail with an error on what is
missing, cut short or something else: exit code 2 and a message that names the file.
Usage: example_data_test.py BIN [SAMPLE_SPIKES]     without the latter, HDF5 is left out"""
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(tempfile.mkdtemp())
random.seed(1)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def spot(x, y, size):
    return [min(size - 1, max(0, int(random.gauss(c, 0.04 * size)))) for c in (x, y)]


def nmnist(folder):
    """300 ms of a spot that trembles at a place of its own."""
    for part, samples in ("Train", 8), ("Test", 2):
        for digit in range(10):
            for i in range(samples):
                events = b""
                for t in range(0, 300_000, 250):
                    x, y = spot(5 + digit % 5 * 6, 10 + digit // 5 * 14, 34)
                    events += bytes((x, y, random.getrandbits(1) << 7 | t >> 16, t >> 8 & 255, t & 255))
                write(folder / part / str(digit) / f"{10000 * samples + i:05}.bin", events)
    return folder / "Train/3/80002.bin"


def dvs_gesture(folder):
    """Recordings of eleven gestures each, in packets of 512 events; between gestures nothing is meant."""
    for user in ("user01_led", "user02_lab", "user03_natural", "user04_lab"):
        events, table = [], "class,startTime_usec,endTime_usec\n"
        for gesture in range(11):
            begin = 1_000_000 + gesture * 2_000_000
            table += f"{gesture + 1},{begin},{begin + 1_500_000}\n"
            for t in range(begin, begin + 1_900_000, 1500):
                angle = 2 * math.pi * gesture / 11
                x, y = spot(64 + 40 * math.cos(angle), 64 + 40 * math.sin(angle), 128)
                events.append(struct.pack("<II", x << 17 | y << 2 | random.getrandbits(1) << 1 | 1, t))
        data = b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n#Start-Time: 2016-02-25 09:21:14 (TZ+0000)\r\n#!END-HEADER\r\n"
        for i in range(0, len(events), 512):
            n = len(events[i:i + 512])
            data += struct.pack("<HHIIIIII", 1, 1, 8, 4, 0, n, n, n) + b"".join(events[i:i + n])
        write(folder / f"{user}.aedat", data)
        write(folder / f"{user}_labels.csv", table.encode())
    write(folder / "trials_to_train.txt", b"user01_led.aedat\r\nuser02_lab.aedat\r\nuser03_natural.aedat\r\n")
    write(folder / "trials_to_test.txt", b"user04_lab.aedat\r\n")
    return folder / "user02_lab.aedat"


def mnist(folder):
    """A bar whose place is the digit, under noise."""
    for part, n in ("train", 300), ("t10k", 100):
        labels = bytes(random.randrange(10) for _ in range(n))
        images = b""
        for digit in labels:
            for row in range(28):
                lit = 1 + 2 * digit <= row <= 7 + 2 * digit
                images += bytes(random.randrange(150, 255) if lit else random.randrange(40) for _ in range(28))
        write(folder / f"{part}-images-idx3-ubyte", struct.pack(">IIII", 0x803, n, 28, 28) + images)
        write(folder / f"{part}-labels-idx1-ubyte", struct.pack(">II", 0x801, n) + labels)
    return folder / "train-images-idx3-ubyte"


def shd(folder):
    folder.mkdir()
    subprocess.run([sys.argv[2], folder], check=True)
    return folder / "shd_train.h5"


SETS = {nmnist: ["events", "--set", "nmnist"], dvs_gesture: ["events", "--set", "dvs_gesture"], mnist: ["row_digits"]}
if len(sys.argv) > 2:
    SETS[shd] = ["events", "--set", "shd"]


def run(flags, folder):
    command = [BIN / flags[0], *flags[1:], "--quick", "--data", folder]
    return subprocess.run(command, capture_output=True, text=True)


for make, flags in SETS.items():
    good = ROOT / make.__name__
    victim = make(good)
    r = run(flags, good)
    assert r.returncode == 0 and "reached: accuracy" in r.stdout, (flags, r)
    print(make.__name__, r.stdout.splitlines()[-1])

    def refused(what, spoil, named):
        folder = ROOT / f'{make.__name__} of "{what}"'  # a name that must survive being quoted
        shutil.copytree(good, folder)
        path = spoil(folder / victim.relative_to(good)) or folder
        r = run(flags, path)
        message = r.stderr.strip()
        assert r.returncode == 2 and str(named(path)) in message and message.endswith("."), (flags, what, r)
        shutil.rmtree(folder)

    def cut(path):
        path.write_bytes(path.read_bytes()[:-7])

    def other(path):
        path.write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" * 50)  # a picture

    def gone(path):
        path.unlink() if make is not nmnist else shutil.rmtree(path.parent)

    inside = victim.name if make is not nmnist else victim.parent.name
    refused("cut short", cut, lambda folder: victim.name)
    refused("another format", other, lambda folder: victim.name)
    refused("a missing file", gone, lambda folder: inside)
    refused("an empty file", lambda path: path.write_bytes(b""), lambda folder: victim.name)
    refused("a file for a folder", lambda path: path, lambda path: path)
    r = run(flags, ROOT / "nowhere")
    assert r.returncode == 2 and "nowhere" in r.stderr, r
    r = run(flags, ROOT)
    assert r.returncode == 2 and str(ROOT) in r.stderr, r

shutil.rmtree(ROOT)
