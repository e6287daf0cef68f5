// Runs the network of the page: reads the pointer, learns, draws. `demo` at the end is what tests use.
const demo = (async () => {
  const byId = id => document.getElementById(id);
  const facts = JSON.parse(byId('facts').textContent);
  const bytes = Uint8Array.from(atob(byId('wasm').textContent), c => c.charCodeAt(0));
  const env = new Proxy({}, { get: (_, name) => Math[name] || Math[name.replace(/f$/, '')] });
  const net = (await WebAssembly.instantiate(bytes, { env })).instance.exports;
  net.init();
  const floats = (address, n) => new Float32Array(net.memory.buffer, address, n);
  const x = floats(net.x(), facts.inputs), y = floats(net.y(), facts.outputs), target = floats(net.target(), facts.outputs);
  byId('title').textContent = facts.title;
  byId('about').textContent = facts.about;

  // One step: the position s, between -1 and 1, becomes bumps of activity; targets are positions of some steps ago.
  const kept = 400, past = { s: [], y: [] };
  let steps = 0, error = null, errors = [], stride = 1;  // errors: of all steps, every stride-th
  const ago = n => past.s.length > n ? past.s[past.s.length - 1 - n] : 0;
  function step(s) {
    past.s.push(s);
    for (let i = 0; i < x.length; ++i) {
      const center = x.length > 1 ? -1 + 2 * i / (x.length - 1) : 0, width = x.length > 1 ? 2 / (x.length - 1) : 1;
      x[i] = x.length > 1 ? Math.exp(-0.5 * ((s - center) / width) ** 2) : s;
    }
    for (let k = 0; k < target.length; ++k) target[k] = ago((k + 1) * facts.lag);
    const loss = net.learn();
    error = error === null ? loss : error + 0.02 * (loss - error);
    past.y.push(y[y.length - 1]);
    if (steps % stride === 0) errors.push(error);
    if (errors.length === kept) { errors = errors.filter((_, i) => i % 2 === 0); stride *= 2; }
    for (const list of Object.values(past)) if (list.length > kept + facts.lag * target.length) list.shift();
    return ++steps, loss;
  }

  // Where the pointer is; by itself it drifts from one random place to the next.
  let pointed = 0, automatic = true, place = 0, goal = 0, seed = 1;
  const random = () => (seed = seed * 16807 % 2147483647) / 2147483647;
  function position() {
    if (!automatic) return place += 0.3 * (pointed - place);
    if (Math.abs(goal - place) < 0.05) goal = 2 * random() - 1;
    return place += Math.sign(goal - place) * 0.04;
  }
  const point = value => { automatic = false; pointed = Math.max(-1, Math.min(1, value)); byId('auto').setAttribute('aria-pressed', 'false'); };
  const pad = byId('pad');
  pad.addEventListener('pointermove', e => { const r = pad.getBoundingClientRect(); point(1 - 2 * (e.clientY - r.top) / r.height); });
  pad.addEventListener('keydown', e => {
    if (e.key === 'ArrowUp' || e.key === 'ArrowDown') { point(pointed + (e.key === 'ArrowUp' ? 0.2 : -0.2)); e.preventDefault(); }
  });
  byId('auto').addEventListener('click', e => { automatic = !automatic; e.target.setAttribute('aria-pressed', automatic); });
  byId('reset').addEventListener('click', () => { net.init(); steps = 0; error = null; errors = []; stride = 1; for (const list of Object.values(past)) list.length = 0; });

  // Drawing.
  const color = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name);
  function fitted(canvas) {
    const scale = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * scale)) { canvas.width = Math.round(w * scale); canvas.height = Math.round(h * scale); }
    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, w, h);
    return [pen, w, h];
  }
  function curve(pen, values, ink, w, h, low, high, width) {
    pen.beginPath();
    values.forEach((v, i) => pen.lineTo(w * i / (kept - 1), h - h * (v - low) / (high - low)));
    pen.strokeStyle = color(ink);
    pen.lineWidth = width;
    pen.stroke();
  }
  function map(canvas, values, rows, columns) {
    if (canvas.width !== columns) { canvas.width = columns; canvas.height = rows; }
    const pen = canvas.getContext('2d'), image = pen.createImageData(columns, rows);
    let most = 1e-12;
    for (const v of values) most = Math.max(most, Math.abs(v));
    values.forEach((v, i) => {
      const a = v / most, ink = a > 0 ? [180, 95, 6] : [0, 103, 165];
      image.data.set([...ink, Math.round(255 * Math.min(1, Math.abs(a)))], 4 * i);
    });
    pen.putImageData(image, 0, 0);
    return most;
  }
  const maps = [];
  facts.states.forEach((state, i) => {
    const size = state.shape.reduce((a, b) => a * b, 1), trace = state.path.startsWith('etrace.');
    if (!state.float || state.path.startsWith('optimizer.') || state.shape.length < 2 || size > 20000) return;
    const figure = document.createElement('figure'), caption = document.createElement('figcaption'), canvas = document.createElement('canvas');
    const rows = state.shape[0];
    canvas.setAttribute('aria-label', state.label);
    figure.append(canvas, caption);
    byId(trace ? 'traces' : 'weights').append(figure);
    maps.push(() => {
      const most = map(canvas, floats(net.state(i), size), rows, size / rows);
      caption.textContent = `${state.label}, ${state.shape.join(' × ')}, max ${most.toPrecision(2)}`;
    });
  });
  function draw() {
    const delay = facts.lag * target.length, last = list => list.slice(-kept);
    let [pen, w, h] = fitted(pad);
    curve(pen, last(past.s), 'you', w, h, -1.2, 1.2, 1.5);
    curve(pen, past.s.slice(0, past.s.length - delay).slice(-kept), 'wanted', w, h, -1.2, 1.2, 2.5);
    curve(pen, last(past.y), 'net', w, h, -1.2, 1.2, 2);
    [pen, w, h] = fitted(byId('error'));
    const wide = w * kept / Math.max(errors.length, 2);  // from the first step to the last
    const most = Math.max(0.01, ...errors);
    curve(pen, errors, 'net', wide, h, 0, most * h / (h - 22), 2);  // below the text
    pen.fillStyle = color('soft');
    pen.font = '12px sans-serif';
    pen.textAlign = 'right';
    pen.fillText(`max ${most.toPrecision(2)}`, w - 8, 16);
    byId('numbers').textContent = `step ${steps}, error ${error === null ? '–' : error.toFixed(4)}`;
    maps.forEach(f => f());
  }
  function frame() {
    for (let i = 0; i < 4; ++i) step(position());
    draw();
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
  return { step, point, position, draw };
})();
