# SPDX-License-Identifier: Apache-2.0
"""The page of `export --html` in a real browser: the network learns there.  Usage: demo_page_test.py BINARY

Exits with 77 (not run) when there is no Chromium, or one that cannot start here. A script that the test adds moves the pointer
and reads errors, traces and weights: the error falls, by itself and under the visitor's hand, and the same page whose network
does not learn (the negative control) fails the same check."""
import json
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
STEPS = 4000
# Moves the pointer up and down over the canvas, as a visitor does, and steps the network itself.
SCRIPT = """<script>
demo.then(d => {
  const pad = document.getElementById('pad'), box = pad.getBoundingClientRect(), losses = [];
  for (let t = 0; t < STEPS; ++t) {
    const s = VISITOR ? 0.6 * Math.sin(t / 7) + 0.3 * Math.sin(t / 17) : null;
    if (VISITOR) pad.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 5, clientY: box.top + box.height * (1 - s) / 2}));
    losses.push(d.step(d.position()));
  }
  d.draw();
  const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
  const colored = canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0);
  const seen = {first: mean(losses.slice(0, 300)), last: mean(losses.slice(-300)), title: document.title,
    drawn: ['#pad', '#error', '#traces canvas', '#weights canvas'].map(q => colored(document.querySelector(q))),
    maps: document.querySelectorAll('figure').length, captions: [...document.querySelectorAll('#traces figcaption')].map(c => c.textContent), wide: document.documentElement.scrollWidth > window.innerWidth};
  document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
}).catch(e => document.documentElement.setAttribute('data-seen', JSON.stringify({error: String(e)})));
</script></body>"""


def exported(model, *options):
    page = FOLDER / f"{model}.html"
    done = subprocess.run([BINARY, "export", model, "--html", "-o", page, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert not re.search(r'(src|href)="?https?:', text), "the page needs something from elsewhere"
    return text


def seen(text, visitor, size="1200,900"):
    script = SCRIPT.replace("STEPS", str(STEPS)).replace("VISITOR", "true" if visitor else "false")
    page = FOLDER / "page.html"
    page.write_text(text.replace("</body>", script))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}", "--virtual-time-budget=3000",
               "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if not dom.stdout:
        print("not run: chromium cannot start here")
        sys.exit(77)
    found = re.search(r'data-seen="([^"]*)"', dom.stdout)
    assert found, "the script of the test did not end"
    return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&"))


def learned(s):
    return s["last"] < 0.3 * s["first"]


page = exported("gru", "--optimizer", "adam", "--lr", "0.001")
for visitor in (False, True):
    s = seen(page, visitor)
    assert learned(s) and all(s["drawn"]) and s["maps"] >= 4 and not s["wide"], s
    assert sorted(c.split(",")[0] for c in s["captions"]) == ["trace of rnn.Wh.weight.bias", "trace of rnn.Wh.weight.weight",
                                                              "trace of rnn.Wz.weight.bias", "trace of rnn.Wz.weight.weight"], s
    print(f"{'visitor' if visitor else 'by itself'}: error {s['first']:.3f}, then {s['last']:.4f}")
phone = seen(page, True, "390,844")
assert learned(phone) and not phone["wide"], phone
still = exported("gru", "--lr", "1e-12")
assert not learned(seen(still, True)), "a network that does not change its weights passed"

for args, word in ((["gru", "--loss", "cross_entropy"], "vectors of f32"), (["gru", "--dtype", "f64"], "f32")):
    r = subprocess.run([BINARY, "export", *args, "--html", "-o", FOLDER / "no.html"], capture_output=True, text=True)
    assert r.returncode == 2 and word in r.stderr and not (FOLDER / "no.html").exists(), r
r = subprocess.run([BINARY, "export", "gru", "--html", "-o", FOLDER / "folder"], capture_output=True, text=True)
assert r.returncode == 2 and ".html" in r.stderr, r
shutil.rmtree(FOLDER)
