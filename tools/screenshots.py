#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of pages in docs/img: the compiled graph, the report of a run and the page that learns, each on a desktop, in the
dark and on a phone.  Usage: tools/screenshots.py BINARY [NAME…]

It needs Chromium, and clang with lld for the page that learns; it trains for half a minute. Look at what it wrote before you
commit it. NAME chooses some, such as graph_page or training_report."""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

ROOT = pathlib.Path(__file__).parents[1]
BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
DARK = ["--blink-settings=preferredColorScheme=0"]
DESKTOP, PHONE = (1280, 800), (390, 844)
# A visitor of the page that learns moves the pointer up and down for 4000 steps.
VISITOR = """<script>demo.then(d => {
  const pad = document.getElementById('pad'), box = pad.getBoundingClientRect();
  for (let t = 0; t < 4000; ++t) {
    const s = 0.6 * Math.sin(t / 7) + 0.3 * Math.sin(t / 17);
    pad.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 5, clientY: box.top + box.height * (1 - s) / 2}));
    d.step(d.position());
  }
  d.draw();
});</script></body>"""


def pixels_of(png):
    """(width, height, rows of RGB bytes) of a PNG with 8 bits for each of three or four channels."""
    at, data, shape = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            shape = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    width, height, bits, color = shape
    assert bits == 8 and color in (2, 6), "expected 8 bits of RGB or RGBA"
    n, data, rows = (3, 4)[color == 6], zlib.decompress(data), []
    above = bytearray(width * n)
    for y in range(height):
        start = y * (width * n + 1)
        kind, row = data[start], bytearray(data[start + 1:start + 1 + width * n])
        for i in range(len(row)):
            a, b, c = row[i - n] if i >= n else 0, above[i], above[i - n] if i >= n else 0
            if kind == 1:
                row[i] = (row[i] + a) & 255
            elif kind == 2:
                row[i] = (row[i] + b) & 255
            elif kind == 3:
                row[i] = (row[i] + (a + b) // 2) & 255
            elif kind == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        above = row
        rows.append(bytes(row) if n == 3 else b"".join(row[i:i + 3] for i in range(0, len(row), 4)))
    return width, height, rows


def with_palette(png):
    """The same picture with at most 256 colors: the most frequent ones that differ, others become the nearest of them."""
    width, height, rows = pixels_of(png)
    pixels = [row[i:i + 3] for row in rows for i in range(0, 3 * width, 3)]
    seen = Counter(pixels)
    far = lambda a, b: (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
    palette = []
    for apart in (600, 150, 0):  # first a color from everywhere, then finer ones
        for color, _ in seen.most_common(4000):
            if len(palette) < 256 and color not in palette and all(far(color, p) > apart for p in palette):
                palette.append(color)
    index = {color: min(range(len(palette)), key=lambda k: far(color, palette[k])) for color in seen}
    lines = b"".join(b"\0" + bytes(index[p] for p in pixels[y * width:(y + 1) * width]) for y in range(height))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(palette)) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def take(address, name, size, folder, *flags):
    shot = folder / "shot.png"
    subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                    f"--user-data-dir={folder / 'profile'}", f"--window-size={size[0]},{size[1]}", "--virtual-time-budget=3000",
                    *flags, f"--screenshot={shot}", address], check=True, capture_output=True, timeout=180)
    file = ROOT / "docs/img" / f"{name}.png"
    file.write_bytes(with_palette(shot.read_bytes()))
    print(f"{file.relative_to(ROOT)}  {size[0]}×{size[1]}  {file.stat().st_size // 1000} kB")


def graph_page(binary, folder):
    page = folder / "two_layer_rnn.html"
    subprocess.run([binary, "graph", "two_layer_rnn", "-o", page], check=True)
    return f"file://{page}#select=weight:rnn1.Wz.weight", f"file://{page}", DESKTOP, PHONE


def report(binary, folder):
    subprocess.run([binary, "train", ROOT / "examples/configs/copy_gru_d_rtrl.json", "--quiet", "--set", f"output={folder}/run"],
                   check=True)
    page = f"file://{folder}/run/report.html"
    return page, page, (1280, 1500), (390, 1500)


def demo_page(binary, folder):
    page = folder / "demo.html"
    subprocess.run([binary, "export", "gru", "--optimizer", "adam", "--lr", "0.001", "--html", "-o", page, "--quiet"], check=True)
    page.write_text(page.read_text().replace("</body>", VISITOR))
    return f"file://{page}", f"file://{page}", (1280, 900), PHONE


def picture(model):
    def make(binary, folder):
        drawing = folder / f"{model}.svg"
        subprocess.run([binary, "graph", model, "-o", drawing], check=True)
        width, height = (int(float(x)) for x in drawing.read_text().split('viewBox="0 0 ')[1].split('"')[0].split())
        return f"file://{drawing}", None, (width, height), None

    return make


PAGES = {"graph_page": graph_page, "training_report": report, "demo_page": demo_page} | {
    model: picture(model) for model in ("single_layer_rnn", "two_layer_rnn", "conv_rnn")}

if __name__ == "__main__":
    binary = pathlib.Path(sys.argv[1]).resolve()
    for name in sys.argv[2:] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            wide, narrow, desktop, phone = PAGES[name](binary, folder)
            take(wide, name, desktop, folder)
            if phone:
                take(wide, f"{name}_dark", desktop, folder, *DARK)
                take(narrow, f"{name}_phone", phone, folder)
