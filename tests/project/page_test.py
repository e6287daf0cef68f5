# SPDX-License-Identifier: Apache-2.0
"""The interactive page in a real browser.  Usage: page_test.py BINARY

Exits with 77 (not run) when there is no Chromium, or one that cannot start here. Checks: no console message, what a chosen weight lights up, filters,
text that fits its box, boxes that take the focus."""
import html.parser
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
BINARY = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())


class Page(html.parser.HTMLParser):
    """Elements of a dumped page: what is lit, and the attributes of the root."""

    def __init__(self, text):
        super().__init__()
        self.lit, self.edges, self.root, self.ids = set(), set(), {}, set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "html":
            self.root = a
        if "data-id" in a:
            self.ids.add(a["data-id"])
        if a.get("data-lit") == "true":
            self.lit.add(a["data-id"]) if "data-id" in a else self.edges.add((a["data-from"], a["data-to"]))


def browse(path, address="", size="1200,800"):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
               f"--user-data-dir={FOLDER / 'profile'}", f"--window-size={size}", "--virtual-time-budget=2000",
               "--dump-dom", f"file://{path}{address}"]
    r = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    return Page(r.stdout), re.findall(r"CONSOLE.*", r.stderr)


def make(model, *options):
    path = FOLDER / f"{model}.html"
    subprocess.run([BINARY, "graph", model, "-o", path, *options], check=True)
    return path


def with_script(path, script, size="1200,800"):
    """A copy of the page that runs `script` after its own; what it leaves in the root's data-result is returned."""
    copy = path.with_suffix(".script.html")
    copy.write_text(path.read_text().replace("</body>", f"<script>{{{script}}}</script></body>"))
    page, console = browse(copy, size=size)
    return page.root.get("data-result"), console


blank = FOLDER / "blank.html"
blank.write_text("<!doctype html><html data-ready='true'></html>")
try:
    assert browse(blank)[0].root.get("data-ready") == "true", "a blank page did not load"
except (AssertionError, subprocess.TimeoutExpired) as error:
    print(f"not run: {BROWSER} does not start on this machine: {error}")
    sys.exit(77)

gru = make("two_layer_rnn")
page, console = browse(gru)
assert console == [] and page.root.get("data-ready") == "true" and not page.lit, (console, page.root, page.lit)
assert {"weight:rnn1.Wz.weight", "group:1", "state:rnn2.h", "input:0", "output:0"} <= page.ids, page.ids

# A console message is noticed (negative control).
_, console = with_script(gru, "console.error('seen')")
assert any("seen" in line for line in console), console

# Choosing a weight lights its operation, its group and state, the arrows between them, and the loop D that carries its trace;
# nothing of the other layer.
page, console = browse(gru, "#select=weight:rnn1.Wz.weight")
assert console == [] and page.root["data-selected"] == "weight:rnn1.Wz.weight", (console, page.root)
operations = {i for i in page.lit if i.startswith("op:")}
assert page.lit - operations == {"weight:rnn1.Wz.weight", "group:0", "state:rnn1.h"} and len(operations) == 1, page.lit
op, = operations
assert page.edges == {("weight:rnn1.Wz.weight", op), (op, "group:0"), ("group:0", "group:0")}, page.edges

# Choosing an operation lights all it reads: its weight, the input, the old state.
page, _ = browse(gru, f"#select={op}")
assert {("weight:rnn1.Wz.weight", op), ("input:0", op), ("group:0", op)} <= page.edges, page.edges

# A weight that learns inside a window lights the operation it passes.
page, _ = browse(gru, "#select=weight:rnn2.Wr.weight")
assert len([i for i in page.lit if i.startswith("op:")]) == 2 and {"group:1", "state:rnn2.h"} <= page.lit, page.lit

# The reverse: a group lights its weights.
page, _ = browse(gru, "#select=group:1")
assert {f"weight:rnn2.{w}.weight" for w in ("Wz", "Wr", "Wh")} <= page.lit and "weight:rnn1.Wz.weight" not in page.lit, page.lit

# A click, Escape and the keyboard do the same as the address.
CLICK = """
const at = id => document.querySelector(`[data-id="${id}"]`);
const lit = () => [...document.querySelectorAll('.nodes [data-lit]')].map(e => e.dataset.id).sort().join(' ');
const key = (target, key) => target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
at('weight:out.weight').querySelector('rect').dispatchEvent(new MouseEvent('click', {bubbles: true}));
const clicked = lit();
key(document.body, 'Escape');
const cleared = lit();
at('input:0').focus();
key(document.activeElement, 'ArrowDown');
const moved = document.activeElement.dataset.id;
key(document.activeElement, 'Enter');
document.documentElement.dataset.result = JSON.stringify({clicked, cleared, moved, chosen: document.documentElement.dataset.selected});
"""
result, console = with_script(gru, CLICK)
assert console == [] and '"cleared":""' in result and "output:0 weight:out.weight" in result, (result, console)
assert '"moved":"weight:rnn1.Wz.weight","chosen":"weight:rnn1.Wz.weight"' in result, result

# Search finds while one types, and lets go of what no longer matches.
TYPE = """
const find = document.getElementById('find'), found = [];
for (const text of ['RNN2', 'rnn2.wr', 'rnn2.wr?', '']) {
  find.value = text;
  find.dispatchEvent(new Event('input'));
  found.push(document.documentElement.dataset.selected);
}
document.documentElement.dataset.result = found.join('|');
"""
result, console = with_script(gru, TYPE)
assert console == [] and re.fullmatch(r"\w+:rnn2[^|]*\|weight:rnn2.Wr.weight\|\|", result), (result, console)

# The first view shows everything on a phone and uses the width on a desktop.
VIEW = """
const p = document.querySelector('#stage svg').getBoundingClientRect(), s = document.getElementById('stage').getBoundingClientRect();
document.documentElement.dataset.result = [p.left >= s.left - 1 && p.right <= s.right + 1,
  p.top >= s.top - 1 && p.bottom <= s.bottom + 1, p.width > 0.95 * s.width].join();
"""
result, _ = with_script(make("conv_rnn"), VIEW, "500,844")  # the narrowest window of a headless browser
assert result.startswith("true,true,"), result
result, _ = with_script(make("two_layer_rnn"), VIEW, "1200,800")
assert result.startswith("true,") and result.endswith(",true"), result

# Filter by kind.
page, _ = browse(gru, "#kind=relation_excluded_non_temporal")
assert "weight:out.weight" in page.lit and "group:0" not in page.lit, page.lit

# Text stays inside its box, and a phone-sized window works.
FITS = """
const out = [];
for (const box of document.querySelectorAll('.nodes .box, .nodes .op')) {
  const b = box.getBBox();
  for (const t of box.parentNode.querySelectorAll('text')) {
    const r = t.getBBox();
    if (r.x < b.x || r.x + r.width > b.x + b.width || r.y < b.y - 1 || r.y + r.height > b.y + b.height + 1) out.push(t.textContent);
  }
}
document.documentElement.dataset.result = JSON.stringify(out);
"""
for model in ("single_layer_rnn", "two_layer_rnn", "conv_rnn", "lstm"):
    path = make(model)
    result, console = with_script(path, FITS)
    assert result == "[]" and console == [], (model, result, console)
    page, console = browse(path, size="390,844")
    assert page.root.get("data-ready") == "true" and console == [], (model, console)

# A batch changes shapes, not names.
batched = make("gru", "--batch", "4")
page, console = browse(batched, "#select=group:0")
assert console == [] and "state:rnn.h" in page.lit, (console, page.lit)

shutil.rmtree(FOLDER, ignore_errors=True)
print("the page works in", BROWSER)
