// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/chart.h"

namespace braintrace {

std::string_view chart_css() {
  return R"css(
.chart{margin:0;position:relative;min-width:0;background:var(--card);border:1px solid var(--band-line);border-radius:14px;
padding:14px 14px 8px}
.chart figcaption{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline;justify-content:space-between;
font-size:14px;margin:0 4px 6px}
.chart figcaption b{font-weight:650;overflow-wrap:anywhere}
.chart svg{display:block;width:100%;height:auto;touch-action:pan-y}
.chart .note{margin:2px 4px 4px;font-size:12px;color:var(--muted)}
.chart.matrix svg{max-width:520px;margin:auto}
.s0{color:var(--blue)}.s1{color:var(--orange)}.s2{color:var(--green)}.s3{color:var(--purple)}
.s4{color:#c0392b}.s5{color:#0e9aa7}.s6{color:#8d6e00}.s7{color:var(--grey)}
.legend{display:flex;flex-wrap:wrap;gap:0 12px;font-size:12px}
.legend span::before{content:"";display:inline-block;width:14px;border-top:3px solid;border-radius:2px;margin-right:5px;
vertical-align:3px}
.legend .dashed::before{border-top-style:dotted}
.ramp{font-size:12px;color:var(--muted);display:flex;gap:6px;align-items:center}
.ramp i{width:72px;height:9px;border-radius:5px}
.chart .tick{font-size:11.5px;fill:var(--muted);font-variant-numeric:tabular-nums}
.chart .axis{font-size:11.5px;fill:var(--muted)}
.chart .empty{font-size:13px;fill:var(--grey)}
.chart .mid{text-anchor:middle}.chart .end{text-anchor:end}
.chart .grid{stroke:var(--band-line);fill:none}
.chart .line{stroke:currentColor;stroke-width:1.9;fill:none;stroke-linejoin:round;stroke-linecap:round}
.chart .raw{stroke:currentColor;stroke-width:1;fill:none;opacity:.32}
.chart .dashed{stroke-dasharray:1 4.5;stroke-width:2.4}
.chart .band{fill:currentColor;opacity:.17}
.chart circle{fill:var(--card);stroke:currentColor;stroke-width:1.8}
.chart .alarm{stroke:var(--focus);stroke-width:2}
.chart image{image-rendering:pixelated}
.chart .mark{stroke:#fff;stroke-width:2;fill:none}.chart .mark-under{stroke:#000;stroke-width:4;fill:none}
.chart .spikes{stroke:var(--blue);fill:none}
.chart .cell{fill:var(--orange)}.chart .cell.hit{fill:var(--blue)}
.chart .count{font-size:12px;font-variant-numeric:tabular-nums}.chart .count.on{fill:var(--on-blue)}
.chart .cross{stroke:var(--grey);stroke-dasharray:3 3;pointer-events:none}
.chart .spot{fill:none;stroke:var(--ink);stroke-width:1.5;pointer-events:none}
#tip{position:absolute;z-index:5;pointer-events:none;background:var(--ink);color:var(--bg);border-radius:8px;padding:5px 10px;
font-size:12px;line-height:1.45;max-width:280px;font-variant-numeric:tabular-nums;white-space:pre-line}
#tip[hidden]{display:none}
)css";
}

// One tooltip for all charts. Positions come from the viewBox, so they hold at any size.
std::string_view chart_script() {
  return R"js(
(() => {
  const tip = document.createElement('div');
  tip.id = 'tip'; tip.hidden = true; tip.setAttribute('role', 'status');
  document.body.append(tip);
  const SVG = 'http://www.w3.org/2000/svg';
  const text = (v, percent) => v === null ? 'not finite' : percent ? (100 * v).toPrecision(4) / 1 + ' %' : String(v);
  const nearest = (xs, x) => {
    let lo = 0, hi = xs.length - 1;
    while (lo < hi) { const mid = (lo + hi) >> 1; xs[mid] < x ? lo = mid + 1 : hi = mid; }
    return lo > 0 && x - xs[lo - 1] < xs[lo] - x ? lo - 1 : lo;
  };
  const make = (svg, name) => svg.appendChild(document.createElementNS(SVG, name));
  const show = (event, lines) => {
    tip.hidden = false; tip.textContent = lines.join('\n');
    const w = tip.offsetWidth, right = document.documentElement.clientWidth - 8;
    const x = event.clientX + 14 + w > right ? event.clientX - 14 - w : event.clientX + 14;
    tip.style.left = Math.max(4, x) + scrollX + 'px';
    tip.style.top = Math.max(4, event.clientY - tip.offsetHeight - 10) + scrollY + 'px';
  };
  const lines = (d, svg, px) => {
    const [LEFT, RIGHT, TOP, BOTTOM] = d.plot;
    const x = d.x[0] + (Math.min(Math.max(px, LEFT), RIGHT) - LEFT) / (RIGHT - LEFT) * (d.x[1] - d.x[0]);
    const out = [];
    let at = null;
    for (const c of d.curves) {
      if (!c.x.length) continue;
      const i = nearest(c.x, x);
      if (at === null) { at = c.x[i]; out.push(`${d.x_name} ${at}`); }
      const range = c.lo && c.lo[i] !== c.hi[i] ? `  (${text(c.lo[i], d.percent)} … ${text(c.hi[i], d.percent)})` : '';
      out.push(`${c.name}  ${text(c.y[i], d.percent)}${range}`);
    }
    const cross = svg.querySelector('.cross') || make(svg, 'path');
    const cx = LEFT + (d.x[1] > d.x[0] ? (at - d.x[0]) / (d.x[1] - d.x[0]) : 0) * (RIGHT - LEFT);
    cross.setAttribute('class', 'cross'); cross.setAttribute('d', `M${cx} ${TOP}V${BOTTOM}`);
    return out;
  };
  const grid = (d, svg, px, py) => {
    const [LEFT, RIGHT, TOP, BOTTOM] = d.plot;
    const c = Math.floor((px - LEFT) / (RIGHT - LEFT) * d.columns), r = Math.floor((py - TOP) / (BOTTOM - TOP) * d.rows.length);
    if (c < 0 || r < 0 || c >= d.columns || r >= d.rows.length) return null;
    const out = [`${d.row_name} ${d.rows[r]}`, `${d.column_name} ${Math.floor(c * d.all_columns / d.columns)}`];
    if (d.bytes) out.push('≈ ' + (d.lo + d.bytes.charCodeAt(r * d.columns + c) / 255 * (d.hi - d.lo)).toPrecision(3) / 1);
    const spot = svg.querySelector('.spot') || make(svg, 'rect');
    const w = (RIGHT - LEFT) / d.columns, h = (BOTTOM - TOP) / d.rows.length;
    for (const [k, v] of Object.entries({class: 'spot', x: LEFT + c * w, y: TOP + r * h, width: w, height: h})) spot.setAttribute(k, v);
    return out;
  };
  for (const figure of document.querySelectorAll('.chart')) {
    const source = figure.querySelector('script');
    if (!source) continue;
    const svg = figure.querySelector('svg'), data = JSON.parse(source.textContent);
    if (data.values) data.bytes = atob(data.values);
    const clear = () => { tip.hidden = true; svg.querySelectorAll('.cross,.spot').forEach(e => e.remove()); };
    svg.addEventListener('pointermove', event => {
      const box = svg.getBoundingClientRect(), unit = svg.viewBox.baseVal.width / box.width;
      const px = (event.clientX - box.left) * unit, py = (event.clientY - box.top) * unit;
      const found = data.kind === 'lines' ? lines(data, svg, px) : grid(data, svg, px, py);
      found ? show(event, found) : clear();
    });
    svg.addEventListener('pointerleave', clear);
  }
})();
)js";
}

}  // namespace braintrace
