# SPDX-License-Identifier: Apache-2.0
"""Reports in a real browser: nothing on the console, nothing from elsewhere, tooltips, theme, phone.
Usage: report_page_test.py SAMPLE_REPORTS

Exits with 77 (not run) when there is no Chromium, or one that cannot start here."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
if BROWSER is None:
    print("not run: there is no chromium on this machine")
    sys.exit(77)
FOLDER = pathlib.Path(tempfile.mkdtemp())
subprocess.run([sys.argv[1], FOLDER], check=True)


def browse(path, script="", size="1200,900"):
    """What the script leaves in the root's data-result, and what the console said."""
    page = path.with_suffix(".script.html")
    page.write_text(path.read_text().replace("</body>", f"<script>{{{script}}}</script></body>"))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
               f"--user-data-dir={FOLDER / 'profile'}", f"--window-size={size}", "--virtual-time-budget=2000", "--dump-dom",
               f"file://{page}"]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    return re.search(r"<html[^>]*>", r.stdout)[0], re.findall(r"CONSOLE.*", r.stderr)


blank = FOLDER / "blank.html"
blank.write_text("<!doctype html><html data-ready='true'><body></body></html>")
try:
    assert 'data-ready="true"' in browse(blank)[0], "a blank page did not load"
except (AssertionError, subprocess.TimeoutExpired) as error:
    print(f"not run: {BROWSER} does not start on this machine: {error}")
    sys.exit(77)

# Every kind of run, wide and narrow: no message, and nothing is wider than the window.
WIDTH = "document.documentElement.dataset.result = document.documentElement.scrollWidth <= innerWidth"
for name in ("whole", "long", "troubled", "empty", "one_class"):
    page = FOLDER / f"{name}.html"
    text = page.read_text()
    assert len(text) < 2 << 20 and not re.search(r"(src|href)=\"(?!data:)", text), name
    for size in ("1200,900", "500,900") if name in ("whole", "troubled") else ("1200,900",):
        root, console = browse(page, WIDTH, size)
        assert console == [] and 'data-ready="true"' in root and 'data-result="true"' in root, (name, size, root, console)

# A console message is noticed (negative control).
assert browse(FOLDER / "empty.html", "console.error('seen')")[1]

# The tooltip says what is under the pointer; the theme can be switched.
HOVER = """
const said = [];
const over = (index, part) => {
  const svg = document.querySelectorAll('.chart')[index].querySelector('svg'), box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + part * box.width, clientY: box.top + 0.4 * box.height}));
  said.push(document.getElementById('tip').textContent);
  svg.dispatchEvent(new PointerEvent('pointerleave'));
};
over(0, 0.5);
over([...document.querySelectorAll('.chart')].findIndex(c => c.classList.contains('heat')), 0.5);
said.push(document.getElementById('tip').hidden);
const ink = () => getComputedStyle(document.body).color, before = ink();
document.getElementById('theme').click();
said.push(before !== ink());
document.documentElement.dataset.result = said.join('|').replace(/\\s+/g, ' ');
"""
root, console = browse(FOLDER / "whole.html", HOVER)
assert console == [], console
said = re.search(r'data-result="([^"]*)"', root)[1].split("|")
assert re.match(r"update \d+ training [\d.]+ \([\d.]+ … [\d.]+\) validation [\d.]+", said[0]), said
assert re.match(r"class \d+ step \d+ ≈ [\d.-]+", said[1]) and said[2:] == ["true", "true"], said

shutil.rmtree(FOLDER, ignore_errors=True)
print("reports work in", BROWSER)
