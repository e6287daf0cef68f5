// One tooltip for all charts. Positions come from the viewBox, so they hold at any size.
(() => {
  const tip = document.createElement('div');
  tip.id = 'tip'; tip.hidden = true; tip.setAttribute('role', 'status');
  document.body.append(tip);
  const SVG = 'http://www.w3.org/2000/svg';
  const text = (v, percent) => v === null ? 'not finite' : percent ? (100 * v).toPrecision(4) / 1 + '%' : String(v);
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
