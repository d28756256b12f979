// Charts, drawn by uPlot. Every figure is on the page as text too.
"use strict";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const palette = () => ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"].map(color);
const charts = [];
function axis(more) {
  return { stroke: () => color("--ink-3"), grid: { stroke: () => color("--line"), width: 1 }, ticks: { show: false }, font: "12px sans-serif", ...more };
}
function sized(place, height) { return { width: Math.max(place.clientWidth, 200), height }; }
function follow(place, chart, height) {
  charts.push(chart);
  new ResizeObserver(() => chart.setSize(sized(place, height()))).observe(place);
}
document.addEventListener("theme", () => charts.forEach((chart) => chart.redraw(false)));

async function loaded(url) {
  const answer = await fetch(url, { headers: { "X-Holdfast-Client": "page" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

// The map: points by group, islands named, zoom by wheel and drag, a click opens.
function drawMap(place, data) {
  const xs = data.x, ys = data.y, count = xs.length;
  const order = [...xs.keys()].sort((a, b) => xs[a] - xs[b]);
  const px = order.map((i) => xs[i]), py = order.map((i) => ys[i]);
  const height = () => Math.min(Math.max(place.clientWidth * 0.62, 300), 640);
  const pad = data.grid * 0.06;
  const whole = { x: [-pad, data.grid + pad], y: [-pad, data.grid + pad] };
  let hover = -1;
  // A name stands above its island.
  const tops = new Map();
  data.groups.forEach((group, i) => tops.set(group, Math.max(tops.get(group) ?? -1, ys[i])));
  const points = (u) => {
    const { ctx } = u, colors = palette();
    const zoom = (data.grid + 2 * pad) / (u.scales.x.max - u.scales.x.min);
    const ratio = devicePixelRatio || 1;
    const size = ratio * Math.min(13, Math.max(2, (count > 8000 ? 2 : count > 1500 ? 3 : count > 300 ? 6 : 10) * Math.sqrt(zoom)));
    ctx.save();
    ctx.beginPath(); ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); ctx.clip();
    ctx.globalAlpha = count > 4000 ? 0.55 : 0.8;
    const sx = u.scales.x, sy = u.scales.y;
    const kx = u.bbox.width / (sx.max - sx.min), ky = u.bbox.height / (sy.max - sy.min);
    // By color, so that the canvas changes its style a few times and not for each point.
    for (let c = 0; c < colors.length; c++) {
      ctx.fillStyle = colors[c];
      ctx.beginPath();
      for (let at = 0; at < count; at++) {
        const i = order[at];
        if (data.groups[i] % colors.length !== c) continue;
        const x = u.bbox.left + (px[at] - sx.min) * kx, y = u.bbox.top + u.bbox.height - (py[at] - sy.min) * ky;
        if (x < -size || y < -size || x > ctx.canvas.width + size || y > ctx.canvas.height + size) continue;
        if (size > 5) { ctx.moveTo(x + size / 2, y); ctx.arc(x, y, size / 2, 0, 7); }
        else ctx.rect(x - size / 2, y - size / 2, size, size);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    if (hover >= 0) {
      ctx.strokeStyle = color("--ink"); ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      ctx.arc(u.valToPos(px[hover], "x", true), u.valToPos(py[hover], "y", true), size / 2 + 4 * ratio, 0, 7);
      ctx.stroke();
    }
    ctx.font = `600 ${13 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textAlign = "center"; ctx.textBaseline = "middle";
    for (const [name, x, group] of data.names) {
      if (!name) continue;
      const cx = u.valToPos(x, "x", true), cy = u.valToPos(tops.get(group), "y", true) - 16 * ratio;
      ctx.lineWidth = 4 * ratio; ctx.strokeStyle = color("--surface"); ctx.lineJoin = "round";
      ctx.strokeText(name, cx, cy);
      ctx.fillStyle = color("--ink"); ctx.fillText(name, cx, cy);
    }
    ctx.restore();
  };
  const chart = new uPlot({
    ...sized(place, height()), legend: { show: false }, padding: [0, 0, 0, 0],
    cursor: { x: false, y: false, drag: { x: false, y: false, setScale: false }, points: { show: false } },
    scales: { x: { time: false, range: (u, a, b) => [a, b] }, y: { range: (u, a, b) => [a, b] } },
    axes: [{ show: false }, { show: false }],
    series: [{}, { paths: () => null, points: { show: false } }],
    hooks: { draw: [points] },
  }, [px, py], place);
  follow(place, chart, height);
  const set = (x, y) => chart.batch(() => { chart.setScale("x", { min: x[0], max: x[1] }); chart.setScale("y", { min: y[0], max: y[1] }); });
  set(whole.x, whole.y);
  const zoom = (factor, fx = 0.5, fy = 0.5) => {
    const part = (scale, f) => {
      const span = Math.min(Math.max((scale.max - scale.min) * factor, data.grid / 200), data.grid * 1.3);
      const at = scale.min + (scale.max - scale.min) * f;
      return [at - span * f, at + span * (1 - f)];
    };
    set(part(chart.scales.x, fx), part(chart.scales.y, fy));
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      if (button.dataset.zoom === "all") set(whole.x, whole.y); else zoom(button.dataset.zoom === "in" ? 0.6 : 1.6);
    });
  }
  const over = chart.over;
  over.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = over.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, (event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
  }, { passive: false });
  const nearest = (event) => {
    const box = over.getBoundingClientRect();
    const x = chart.posToVal(event.clientX - box.left, "x"), y = chart.posToVal(event.clientY - box.top, "y");
    const kx = box.width / (chart.scales.x.max - chart.scales.x.min), ky = box.height / (chart.scales.y.max - chart.scales.y.min);
    let best = -1, least = 20 * 20;
    for (let at = 0; at < count; at++) {
      const dx = (px[at] - x) * kx, dy = (py[at] - y) * ky, d = dx * dx + dy * dy;
      if (d < least) { least = d; best = at; }
    }
    return best;
  };
  let drag = null, waiting = 0;
  const peek = document.getElementById("map-peek");
  const memory = (at) => place.dataset.memoryUrl + data.numbers[order[at]];
  over.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, sx: { ...chart.scales.x }, sy: { ...chart.scales.y }, moved: false }; over.setPointerCapture(event.pointerId); });
  over.addEventListener("pointermove", (event) => {
    if (drag) {
      const box = over.getBoundingClientRect();
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
      const mx = dx * (drag.sx.max - drag.sx.min) / box.width, my = dy * (drag.sy.max - drag.sy.min) / box.height;
      if (drag.moved) set([drag.sx.min - mx, drag.sx.max - mx], [drag.sy.min + my, drag.sy.max + my]);
      return;
    }
    const at = nearest(event);
    if (at === hover) return;
    hover = at;
    over.classList.toggle("on-point", at >= 0);
    chart.redraw(false);
    clearTimeout(waiting);
    if (at < 0) return;
    waiting = setTimeout(async () => {
      try {
        const found = await loaded(memory(at) + "/peek");
        if (hover === at) { peek.textContent = `#${data.numbers[order[at]]} ${found.text}`; peek.href = memory(at); }
      } catch { /* It may be gone by now. */ }
    }, 120);
  });
  over.addEventListener("pointerup", (event) => {
    const clicked = drag && !drag.moved;
    drag = null;
    const at = clicked ? nearest(event) : -1;
    if (at >= 0) location.href = memory(at);
  });
  const note = document.getElementById("map-note");
  const said = count < data.total * 0.9 ? place.dataset.sampled : place.dataset.whole;
  note.textContent = said.replace("{shown}", count.toLocaleString("en")).replace("{total}", data.total.toLocaleString("en")) + (data.by === "words" ? " " + place.dataset.byWords : "");
  place.dataset.ready = String(count);
}

function drawGrowth(place, [at, made]) {
  if (at.length < 2) return;
  const chart = new uPlot({
    ...sized(place, 220), legend: { show: false }, cursor: { points: { size: 7 } },
    axes: [axis({}), axis({ size: 56 })],
    series: [{}, { label: place.dataset.made, stroke: () => color("--c1"), width: 2, fill: () => color("--accent-soft"), points: { show: false } }],
    scales: { y: { range: (u, a, b) => [0, Math.max(b * 1.05, 1)] } },
  }, [at, made], place);
  follow(place, chart, () => 220);
}

function drawCaptured(place, [days, ...parts]) {
  if (!days.length) return;
  const stacked = [];
  parts.forEach((one, p) => stacked.push(one.map((value, i) => value + (p ? stacked[p - 1][i] : 0))));
  const bars = uPlot.paths.bars({ size: [0.6, 40], radius: 0.15 });
  const chart = new uPlot({
    ...sized(place, 200), legend: { show: false }, cursor: { points: { show: false } },
    scales: { x: { time: false, range: (u, a, b) => [a - 0.6, b + 0.6] }, y: { range: (u, a, b) => [0, Math.max(b * 1.1, 1)] } },
    axes: [axis({ values: (u, ticks) => ticks.map((tick) => Number.isInteger(tick) && days[tick] ? days[tick].slice(5) : "") }), axis({ size: 40 })],
    series: [{}, ...stacked.map((_, p) => {
      const at = stacked.length - 1 - p;
      return { fill: () => color(`--c${at + 1}`), stroke: () => color(`--c${at + 1}`), width: 0, paths: bars, points: { show: false } };
    })],
  }, [days.map((_, i) => i), ...stacked.slice().reverse()], place);
  follow(place, chart, () => 200);
}

const map = document.getElementById("map");
loaded(map.dataset.url).then((data) => drawMap(map, data)).catch((error) => { document.getElementById("map-note").textContent = String(error); });
const growth = document.getElementById("growth"), captured = document.getElementById("captured");
loaded(growth.dataset.url).then((data) => { drawGrowth(growth, data.growth); if (captured) drawCaptured(captured, data.captured); }).catch(() => {});
