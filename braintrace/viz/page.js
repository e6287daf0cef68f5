// Behavior of the interactive page. State lives in two places only: the view (pan and zoom) and what is chosen, which
// is mirrored in the address (#select=ID, #kind=KIND) and in data attributes, so that a link reproduces it.
"use strict";
const {graph, lights} = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement, stage = document.getElementById("stage"), panel = document.getElementById("panel");
const svg = stage.querySelector("svg"), size = svg.viewBox.baseVal;
const shapes = [...svg.querySelectorAll("[data-id]")], edges = [...svg.querySelectorAll("[data-from]")];
const shapeOf = new Map(shapes.map(s => [s.dataset.id, s]));
const filter = {kind: "", levels: new Set(["info", "warning", "error"])};
let chosen = null;

// --- small helpers -------------------------------------------------------------------------------------------------
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value);
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
const typeText = t => t.dtype + "[" + t.shape.join(",") + "]";
function bytesText(n) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let u = 0;
  for (; n >= 999.5 && u < 4; ++u) n /= 1000;
  return (u === 0 || n >= 99.95 ? n.toFixed(0) : n.toFixed(1)) + " " + units[u];
}
const widths = {f32: 4, f64: 8, f16: 2, bf16: 2, i32: 4, i64: 8, u32: 4, bool: 1};
const bytesOf = t => t.shape.reduce((a, b) => a * b, 1) * widths[t.dtype];
const count = (n, what) => n + " " + what + (n === 1 ? "" : "s");
const learnsText = {trace: "trace", window: "window", same_step: "current step", unused: "not read"};
const tag = learns => el("span", {class: "tag " + learns}, learnsText[learns]);
const link = (id, text, extra = null) => el("button", {class: "link", type: "button", onclick: () => choose(id)}, extra, text);
const code = text => el("code", {}, text);
const table = rows => el("table", {}, ...rows.map(r => el("tr", {}, ...r.map(c => el("td", {}, c)))));
const listing = (title, text, open) => !text ? null :
  el("details", open ? {open: ""} : {}, el("summary", {}, title), el("pre", {tabindex: "0"}, text));
const section = (title, ...children) => [el("h3", {}, title), ...children];

// --- pan and zoom --------------------------------------------------------------------------------------------------
const view = {x: 0, y: 0, k: 1};
function show() { svg.style.transform = `translate(${view.x}px,${view.y}px) scale(${view.k})`; }
// A phone shows everything; a desktop uses the width, and a tall picture goes on below.
function fit() {
  const w = stage.clientWidth, h = stage.clientHeight, wide = w / size.width;
  view.k = Math.min(1.6, matchMedia("(max-width: 760px)").matches ? Math.min(wide, h / size.height) : wide);
  view.x = (w - size.width * view.k) / 2;
  view.y = Math.max(0, (h - size.height * view.k) / 2);
  show();
}
function zoom(factor, cx = stage.clientWidth / 2, cy = stage.clientHeight / 2) {
  const k = Math.min(6, Math.max(0.08, view.k * factor));
  view.x = cx - (cx - view.x) * k / view.k;
  view.y = cy - (cy - view.y) * k / view.k;
  view.k = k;
  show();
}
const pointers = new Map();
let moved = 0;
const local = e => { const r = stage.getBoundingClientRect(); return {x: e.clientX - r.left, y: e.clientY - r.top}; };
stage.addEventListener("pointerdown", e => { if (!pointers.size) moved = 0; pointers.set(e.pointerId, local(e)); });
stage.addEventListener("pointermove", e => {
  const before = pointers.get(e.pointerId), now = local(e);
  if (!before) return;
  const other = [...pointers].find(([id]) => id !== e.pointerId);
  if (other) {
    const o = other[1], d0 = Math.hypot(before.x - o.x, before.y - o.y), d1 = Math.hypot(now.x - o.x, now.y - o.y);
    if (d0 > 0) zoom(d1 / d0, (now.x + o.x) / 2, (now.y + o.y) / 2);
    moved = 99;
  } else {
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (moved > 4) {
      stage.setPointerCapture(e.pointerId);
      stage.classList.add("dragging");
      view.x += now.x - before.x;
      view.y += now.y - before.y;
      show();
    }
  }
  pointers.set(e.pointerId, now);
});
for (const end of ["pointerup", "pointercancel", "pointerleave"])
  stage.addEventListener(end, e => { pointers.delete(e.pointerId); if (!pointers.size) stage.classList.remove("dragging"); });
stage.addEventListener("wheel", e => {
  e.preventDefault();
  const p = local(e);
  zoom(Math.exp(-e.deltaY * (e.ctrlKey ? 0.01 : 0.0015)), p.x, p.y);
}, {passive: false});

// --- choosing ------------------------------------------------------------------------------------------------------
// Shapes in one of the sets, and arrows between shapes of one set; arrows of old states only where wanted(arrow).
function light(sets, wanted = () => false) {
  svg.classList.toggle("lighting", sets !== null);
  const together = (...ids) => sets !== null && sets.some(s => ids.every(id => s.has(id)));
  for (const s of shapes) {
    const lit = together(s.dataset.id);
    s.classList.toggle("lit", lit);
    s.classList.toggle("chosen", s.dataset.id === chosen);
    s.setAttribute("aria-pressed", String(s.dataset.id === chosen));
    if (lit) s.dataset.lit = "true"; else delete s.dataset.lit;
  }
  for (const e of edges) {
    const lit = together(e.dataset.from, e.dataset.to) && (!e.classList.contains("recurrent") || wanted(e.dataset));
    e.classList.toggle("lit", lit);
    if (lit) e.dataset.lit = "true"; else delete e.dataset.lit;
    if (lit) e.parentNode.append(e);
  }
}
const opsOf = weight => graph.operations.map((o, i) => [o, "op:" + i]).filter(([o]) => o.weights.includes(weight));
function idsOfRecord(r) {
  const ids = new Set(r.hidden_paths.map(p => "state:" + p));
  for (const p of r.hidden_paths) { const s = graph.states.find(s => s.path === p); if (s && s.group >= 0) ids.add("group:" + s.group); }
  for (const id of lights["weight:" + r.weight_path] || []) ids.add(id);
  return ids;
}
const concerns = (r, id) => id === "weight:" + r.weight_path || r.hidden_paths.some(p => id === "state:" + p) ||
  (id.startsWith("op:") && graph.operations[id.slice(3)].weights.includes(r.weight_path)) ||
  (id.startsWith("group:") && graph.groups[id.slice(6)].hidden_paths.some(p => r.hidden_paths.includes(p)));
const passes = r => filter.levels.has(r.level) && (!filter.kind || r.kind === filter.kind);
function refresh() {
  if (chosen) {
    // A weight lights the loop D = ∂h/∂h, which carries its trace on; an operation the old states it reads.
    light([new Set(lights[chosen])], /^weight:/.test(chosen) ? e => e.from === e.to :
      /^op:/.test(chosen) ? e => e.to === chosen || e.from === e.to : () => true);
  } else if (filter.kind || filter.levels.size < 3) {
    light(graph.diagnostics.filter(passes).map(idsOfRecord));
  } else {
    light(null);
  }
  root.dataset.selected = chosen || "";
  root.dataset.kind = filter.kind;
  const hash = chosen ? "#select=" + encodeURIComponent(chosen) : filter.kind ? "#kind=" + filter.kind : "#";
  try { history.replaceState(null, "", hash); } catch { }
  fillPanel();
}
function choose(id) { chosen = id && lights[id] && id !== chosen ? id : null; if (chosen) setRoving(shapeOf.get(chosen)); refresh(); }
stage.addEventListener("click", e => {
  if (moved > 4) return;
  const s = e.target.closest("[data-id]");
  if (s) choose(s.dataset.id); else if (chosen) choose(null);
});

// --- keyboard ------------------------------------------------------------------------------------------------------
let roving = null;
function setRoving(s) {
  if (!s) return;
  if (roving) roving.setAttribute("tabindex", "-1");
  roving = s;
  s.setAttribute("tabindex", "0");
}
function reveal(s) {
  const r = s.getBoundingClientRect(), b = stage.getBoundingClientRect(), pad = 24;
  if (r.left < b.left + pad) view.x += b.left + pad - r.left; else if (r.right > b.right - pad) view.x -= r.right - b.right + pad;
  if (r.top < b.top + pad) view.y += b.top + pad - r.top; else if (r.bottom > b.bottom - pad) view.y -= r.bottom - b.bottom + pad;
  show();
}
function neighbor(from, dx, dy) {
  const center = s => { const r = s.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; };
  const [x, y] = center(from);
  let best = null, least = Infinity;
  for (const s of shapes) {
    if (s === from) continue;
    const [sx, sy] = center(s), along = (sx - x) * dx + (sy - y) * dy, across = Math.abs((sx - x) * dy) + Math.abs((sy - y) * dx);
    const cost = along + 2.2 * across;
    if (along > 4 && cost < least) { least = cost; best = s; }
  }
  return best;
}
const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
stage.addEventListener("keydown", e => {
  const s = e.target.closest("[data-id]");
  if (arrows[e.key]) {
    e.preventDefault();
    const next = s ? neighbor(s, ...arrows[e.key]) : roving;
    if (next) { setRoving(next); next.focus(); reveal(next); }
  } else if (s && (e.key === "Enter" || e.key === " ")) {
    e.preventDefault();
    choose(s.dataset.id);
  } else if (e.key === "+" || e.key === "=") zoom(1.25);
  else if (e.key === "-") zoom(0.8);
  else if (e.key === "0") fit();
});
document.addEventListener("keydown", e => {
  if (e.key !== "Escape") return;
  chosen = null; filter.kind = ""; filter.levels = new Set(["info", "warning", "error"]); refresh();
});

// --- the panel -----------------------------------------------------------------------------------------------------
const pathText = {all_direct: "directly", mixed: "directly and through other weights", windowed: "inside a window"};
const relationsOfWeight = path => graph.relations.filter(r => r.weight_path === path ||
  r.trainables.some(t => t.leaves.some(l => l === path || l.startsWith(path + "."))));
function traceRows(relations) {
  const rows = [];
  for (const r of relations) for (const t of r.trainables) for (const trace of t.traces)
    rows.push([t.key + " → group " + trace.group, code(typeText(trace.type)), bytesText(trace.bytes)]);
  return rows;
}
function connectionItems(r) {
  return r.connections.flatMap(c => [
    link("group:" + c.group, "Hidden group " + c.group + ", " + pathText[c.path], c.path === "windowed" ? tag("window") : null),
    c.path === "windowed" && r.through.length ? el("p", {class: "kind"}, "through " + r.through.join(", ")) : null,
    ...c.hidden_paths.map(p => link("state:" + p, "state " + p)),
    c.position_preserving ? null : el("p", {class: "kind"}, "Positions are moved or mixed on the path to the states."),
    listing("equations from the operation to the states", c.tail)]);
}
const describe = {
  weight(path) {
    const w = graph.weights.find(w => w.path === path), relations = relationsOfWeight(path), traces = traceRows(relations);
    return [el("h2", {}, path), el("p", {class: "kind"}, "weight ", tag(w.learns)),
      w.why ? el("p", {}, w.why) : null, w.reason ? el("p", {class: "kind"}, w.reason) : null,
      ...section("SHAPE", table(w.leaves.map(l => [l.name || "value", code(typeText(l.type)), bytesText(bytesOf(l.type))]))),
      ...(traces.length ? section("TRACE OF D-RTRL", table(traces)) : []),
      ...relations.flatMap(r => r.trainables.filter(t => t.chain.length).map(t =>
        el("p", {class: "kind"}, t.key + " passes " + t.chain.join(", ") + " first"))),
      ...section("READ BY", ...opsOf(path).map(([o, id]) => link(id, o.name + "  " + typeText(o.y)))),
      ...(relations.length ? section("REACHES", ...relations.flatMap(connectionItems)) : [])];
  },
  op(i) {
    const o = graph.operations[i], relations = graph.relations.filter(r => r.operation === Number(i)), traces = traceRows(relations);
    return [el("h2", {}, o.name), el("p", {class: "kind"}, o.trainable ? "trainable operation" : "plain operation"),
      ...section("EQUATION", el("pre", {tabindex: "0"}, o.equation || "—")),
      ...section("WEIGHTS", ...o.weights.map(w => link("weight:" + w, w, tag(graph.weights.find(x => x.path === w).learns)))),
      ...(traces.length ? section("TRACE OF D-RTRL", table(traces)) : []),
      ...(relations.length ? section("REACHES", ...relations.flatMap(connectionItems)) : [])];
  },
  group(i) {
    const g = graph.groups[i], feeding = graph.relations.filter(r => r.connections.some(c => c.group === Number(i)));
    const bytes = feeding.flatMap(r => r.trainables).flatMap(t => t.traces).filter(t => t.group === Number(i)).reduce((a, t) => a + t.bytes, 0);
    return [el("h2", {}, "Hidden group " + i),
      el("p", {class: "kind"}, count(g.num_state, "state") + " at each position of [" + g.varshape.join(",") + "]"),
      el("p", {}, g.diagonal ? "No position reads another: D = ∂h/∂h is block diagonal." :
        "Positions read each other: D = ∂h/∂h is kept as its diagonal blocks."),
      ...section("STATES", ...g.hidden_paths.map(p => {
        const s = graph.states.find(s => s.path === p);
        return link("state:" + p, p + (s ? "  " + typeText(s.type) : ""));
      })),
      ...section("WEIGHTS", ...feeding.map(r => link("weight:" + r.weight_path, r.weight_path,
        tag(r.connections.find(c => c.group === Number(i)).path === "windowed" ? "window" : "trace")))),
      el("p", {class: "kind"}, bytesText(bytes) + " of traces"),
      ...section("EQUATIONS OF THE TRANSITION", g.transition ? el("pre", {tabindex: "0"}, g.transition) :
        el("p", {class: "kind"}, "The new states do not read the old ones except through weights: D = 0."))];
  },
  state(path) {
    const s = graph.states.find(s => s.path === path);
    return [el("h2", {}, path), el("p", {class: "kind"}, (s ? s.kind + "  " + typeText(s.type) : "state")),
      s && s.group >= 0 ? link("group:" + s.group, "in hidden group " + s.group) : el("p", {}, "No trace follows this state."),
      ...section("WEIGHTS THAT REACH IT", ...graph.relations.filter(r => r.connections.some(c => c.hidden_paths.includes(path)))
        .map(r => link("weight:" + r.weight_path, r.weight_path)))];
  },
  input(i) { const v = graph.inputs[i]; return [el("h2", {}, v.name), el("p", {class: "kind"}, "input  " + typeText(v.type))]; },
  output(i) { const v = graph.outputs[i]; return [el("h2", {}, v.name), el("p", {class: "kind"}, "output  " + typeText(v.type))]; },
};
function overview() {
  const of = learns => graph.weights.filter(w => w.learns === learns);
  const list = (title, weights) => weights.length ? section(title, ...weights.map(w => link("weight:" + w.path, w.path, tag(w.learns)))) : [];
  return [el("h2", {}, graph.model),
    el("p", {class: "kind"}, count(graph.groups.length, "hidden group") + ", " + count(graph.weights.length, "weight")),
    ...section("HIDDEN GROUPS", ...graph.groups.map((g, i) => link("group:" + i, "Group " + i + ": " + g.hidden_paths.join(", ")))),
    ...list("WEIGHTS", [...of("trace"), ...of("window"), ...of("same_step"), ...of("unused")]),
    ...section("PROGRAM", listing("one step of the model", graph.program))];
}
function records() {
  const mine = graph.diagnostics.filter(r => passes(r) && (!chosen || concerns(r, chosen)));
  const levels = ["error", "warning", "info"].filter(l => graph.diagnostics.some(r => r.level === l));
  const kinds = [...new Set(graph.diagnostics.map(r => r.kind))].sort();
  const select = el("select", {"aria-label": "kind of record", onchange: e => { filter.kind = e.target.value; chosen = null; refresh(); }},
    el("option", {value: ""}, "all kinds"), ...kinds.map(k => el("option", k === filter.kind ? {value: k, selected: ""} : {value: k}, k)));
  return section("COMPILER DECISIONS",
    el("div", {class: "filters"}, ...levels.map(l => el("button", {type: "button", "aria-pressed": String(filter.levels.has(l)),
      onclick: () => { filter.levels.has(l) ? filter.levels.delete(l) : filter.levels.add(l); refresh(); }},
      count(graph.diagnostics.filter(r => r.level === l).length, l === "info" ? "note" : l))), select),
    ...mine.map(r => el("div", {class: "record " + r.level}, el("b", {}, r.kind), el("p", {}, r.message),
      ...r.context.length ? [el("details", {}, el("summary", {}, "details"), table(r.context.map(c => [c.key, code(c.text)])))] : [],
      r.weight_path && lights["weight:" + r.weight_path] && chosen !== "weight:" + r.weight_path ?
        link("weight:" + r.weight_path, "show " + r.weight_path) : null)),
    mine.length ? null : el("p", {class: "kind"}, chosen ? "No records about this." : "No records match the filter."));
}
function fillPanel() {
  const at = chosen ? chosen.indexOf(":") : 0;
  const top = chosen ? describe[chosen.slice(0, at)](chosen.slice(at + 1)) : overview();
  const hint = el("p", {class: "hint"}, "In the picture: arrow keys move, ", el("kbd", {}, "Enter"), " selects, ",
    el("kbd", {}, "Esc"), " clears, ", el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " ", el("kbd", {}, "0"), " zoom.");
  const back = chosen ? el("button", {type: "button", onclick: () => choose(null)}, "← all") : null;
  panel.replaceChildren(...[back, ...top, ...records(), hint].filter(c => c));
}

// --- controls ------------------------------------------------------------------------------------------------------
document.getElementById("in").onclick = () => zoom(1.25);
document.getElementById("out").onclick = () => zoom(0.8);
document.getElementById("fit").onclick = fit;
document.getElementById("theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};
const find = document.getElementById("find"), names = document.getElementById("names");
names.append(...Object.keys(lights).map(id => el("option", {value: id})));
find.addEventListener("input", () => {
  const text = find.value.trim().toLowerCase(), id = lights[find.value] ? find.value :
    Object.keys(lights).find(k => text && k.toLowerCase().includes(text));
  if (id && id !== chosen) { choose(id); reveal(shapeOf.get(id)); } else if (!id && chosen) choose(null);
});
function readAddress() {
  const p = new URLSearchParams(location.hash.slice(1));
  if (p.get("theme")) root.dataset.theme = p.get("theme");
  filter.kind = graph.diagnostics.some(r => r.kind === p.get("kind")) ? p.get("kind") : "";
  chosen = null;
  if (lights[p.get("select")]) choose(p.get("select")); else refresh();
}
addEventListener("hashchange", readAddress);
addEventListener("resize", fit);
setRoving(shapes[0]);
readAddress();
fit(); // after the panel is filled: a scroll bar takes width
root.dataset.ready = "true";
