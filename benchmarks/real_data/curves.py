# SPDX-License-Identifier: Apache-2.0
"""Learning curves as one SVG picture: a panel for each data set, a line for each rule."""
import math

WIDTH, HEIGHT, COLUMNS, MARGIN, POINTS = 310, 190, 3, 46, 60

STYLE = """svg{background:#fcfdfb;font-family:sans-serif} .name{font-size:13px;font-weight:600;fill:#1a1f2b} .small{font-size:11px;fill:#5a6478}
.end{text-anchor:end} .axis{stroke:#d5dae2;fill:none} .line{stroke-width:1.8;fill:none;stroke-linejoin:round} .l0{stroke:#0067a5}
.l1{stroke:#b45f06;stroke-dasharray:6 3} .l2{stroke:#2e7d32;stroke-dasharray:2 2.5} .base{stroke:#8a93a5;stroke-dasharray:1 4;stroke-width:1.6;fill:none}
@media(prefers-color-scheme:dark){svg{background:#14171d} .name{fill:#e8ebf2} .small{fill:#9aa4b8} .axis{stroke:#39404d} .l0{stroke:#5db4f0}
.l1{stroke:#f0a35e} .l2{stroke:#7cc780}}"""


def thinned(values):
    """At most POINTS means of neighbors, each with its place between 0 and 1."""
    n = len(values)
    cuts = [round(k * n / min(n, POINTS)) for k in range(min(n, POINTS) + 1)]
    return [((a + b) / 2 / n, sum(values[a:b]) / (b - a)) for a, b in zip(cuts, cuts[1:])]


def mean_of(runs):
    """The mean of several runs, update by update."""
    return [sum(values) / len(values) for values in zip(*runs)]


def ticks(low, high):
    """Round numbers of a logarithmic axis, some three to five of them."""
    parts = (1,) if high > 60 * low else (1, 2, 5) if high > 4 * low else (1, 1.5, 2, 3, 4, 5, 7)
    found = [m * 10.0 ** e for e in range(-6, 4) for m in parts]
    return [v for v in found if low <= v <= high]


def panel(title, unit, epochs, curves, baseline, names, left, top):
    lines = {name: thinned(values) for name, values in curves.items()}
    every = [y for line in lines.values() for _, y in line] + [baseline[1]]
    low, high = math.log(min(every)) - 0.05, math.log(max(every)) + 0.05
    wide, tall = WIDTH - MARGIN - 20, HEIGHT - 78
    at_x = lambda x: left + MARGIN + wide * x
    at_y = lambda y: top + 34 + tall * (high - math.log(y)) / (high - low)
    out = [f"<g><text class='name' x='{left + MARGIN}' y='{top + 22}'>{title}</text>"]
    for v in ticks(math.exp(low), math.exp(high)):
        out.append(f"<path class='axis' d='M{at_x(0):.0f} {at_y(v):.1f}h{wide}'/>"
                   f"<text class='small end' x='{at_x(0) - 4:.0f}' y='{at_y(v) + 4:.1f}'>{v:g}</text>")
    out.append(f"<text class='small' x='{at_x(0):.0f}' y='{top + HEIGHT - 28}'>{unit}</text>"
               f"<text class='small end' x='{at_x(1):.0f}' y='{top + HEIGHT - 28}'>{epochs} epochs</text>"
               f"<path class='base' d='M{at_x(0):.0f} {at_y(baseline[1]):.1f}h{wide}'/>"
               f"<text class='small end' x='{at_x(1):.0f}' y='{at_y(baseline[1]) - 4:.1f}'>{baseline[0]}</text>")
    for name, line in lines.items():
        points = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in line)
        out.append(f"<polyline class='line l{names.index(name)}' points='{points}'/>")
    return "".join(out) + "</g>\n"


def legend(names, left, top):
    out = ["<g>"]
    for k, name in enumerate(names):
        out.append(f"<path class='line l{k}' d='M{left + MARGIN} {top + 50 + 24 * k}h36'/>"
                   f"<text class='small' x='{left + MARGIN + 44}' y='{top + 54 + 24 * k}'>{name}</text>")
    return "".join(out) + "</g>\n"


def picture(panels, names):
    """panels: (title, unit, epochs, {rule: [losses of a run by update, …]}, (name, loss) of a baseline)."""
    rows = (len(panels) + COLUMNS) // COLUMNS
    wide, tall = COLUMNS * WIDTH, rows * HEIGHT
    place = lambda i: (i % COLUMNS * WIDTH, i // COLUMNS * HEIGHT)
    body = "".join(panel(title, unit, epochs, {n: mean_of(runs) for n, runs in curves.items()}, baseline, names, *place(i))
                   for i, (title, unit, epochs, curves, baseline) in enumerate(panels))
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {tall}' width='{wide}' height='{tall}'>\n"
            f"<title>Training loss of {', '.join(p[0] for p in panels)}</title>\n<style>{STYLE}</style>\n"
            f"{body}{legend(names, *place(len(panels)))}</svg>\n")
