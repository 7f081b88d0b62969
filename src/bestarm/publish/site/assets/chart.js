// Interactive figures, drawn on demand from a target's own table: curves by uPlot, maps as tables.
"use strict";
{
  const LIBRARY = "assets/uplot.min.js";

  /** The rows that are drawn, as objects, with their panel and series. */
  function points({ columns, rows, chart }) {
    const drawn = [];
    rows.forEach((row, k) => {
      const point = Object.fromEntries(columns.map((column, j) => [column, row[j]]));
      if (point.value === "∞") point.value = Infinity;
      if (typeof point.value !== "number" || chart.of.series[k] < 0) return;
      for (const panel of [chart.of.panel[k]].flat()) drawn.push({ ...point, panel, series: chart.of.series[k] });
    });
    return drawn;
  }

  /** The points of a statistic in a panel; beside the first one, bounds of the same unit. */
  function chosen(all, chart, statistic, panel) {
    const names = [statistic, ...(statistic === chart.start ? chart.beside : [])];
    return all.filter((p) => names.includes(p.statistic) && p.panel === panel);
  }

  const spread = (values) => {
    const above = values.filter((v) => v > 0);
    return above.length ? Math.max(...above) / Math.min(...above) : 1;
  };
  const short = (value) => (value === null ? "–" : value === Infinity ? "∞" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 }));
  /** A statistic or an axis in words. */
  const words = (name) => name.replaceAll("_", " ");
  const interval = (p) => (p.low === null ? "" : ` [${short(p.low)}, ${short(p.high)}]`);
  const runs = (p) => (p.n ? `, n = ${p.n.toLocaleString("en")}` : "") + (p.status ? `, ${p.status}` : "");
  const said = (p) => short(p.value) + interval(p) + runs(p);
  /** A colour of the style sheet as it is in this theme: a canvas does not know variables. */
  function style(name) {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }
  const unjoined = (p) => p.status === "one-sided"; // 0 or n of n runs: only a bound is known

  /** A mark at (x, y) in pixels. */
  const MARKS = {
    circle: (c, x, y, r) => c.arc(x, y, r, 0, 2 * Math.PI),
    square: (c, x, y, r) => c.rect(x - r, y - r, 2 * r, 2 * r),
    diamond: (c, x, y, r) => polygon(c, [[x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]]),
    "triangle-up": (c, x, y, r) => polygon(c, [[x, y - 1.2 * r], [x + 1.2 * r, y + r], [x - 1.2 * r, y + r]]),
    "triangle-down": (c, x, y, r) => polygon(c, [[x, y + 1.2 * r], [x + 1.2 * r, y - r], [x - 1.2 * r, y - r]]),
    cross: (c, x, y, r) => {
      c.rect(x - r, y - r / 3, 2 * r, (2 * r) / 3);
      c.rect(x - r / 3, y - r, (2 * r) / 3, 2 * r);
    },
    x: (c, x, y, r) => polygon(c, around(x, y, [r, r / 2, r, r / 2, r, r / 2, r, r / 2].map((s, k) => [1.25 * s, k / 8 + 1 / 8]))),
    star: (c, x, y, r) => polygon(c, around(x, y, [...Array(10).keys()].map((k) => [k % 2 ? 0.6 * r : 1.4 * r, k / 10]))),
  };
  /** Corners from radii and angles, in turns from the top. */
  const around = (x, y, corners) =>
    corners.map(([r, turn]) => [x + r * Math.sin(2 * Math.PI * turn), y - r * Math.cos(2 * Math.PI * turn)]);
  const GLYPHS = { circle: "●", square: "■", diamond: "◆", "triangle-up": "▲", "triangle-down": "▼", cross: "✚", x: "✖", star: "★" };
  function polygon(c, corners) {
    corners.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
  }
  const DASHES = { solid: [], dash: [8, 4], dot: [2, 3], dashdot: [8, 3, 2, 3], longdash: [14, 5], longdashdot: [14, 4, 2, 4] };

  /** Options and data of uPlot for a statistic in a panel. */
  function curves(all, chart, statistic, panel) {
    const every = chosen(all, chart, statistic, panel);
    const some = every.filter((p) => Number.isFinite(p.value));
    const own = statistic === chart.start; // the axes of the static figure are known for this one
    const logX = some.every((p) => p.x > 0) && (chart.log.x ?? spread(some.map((p) => p.x)) >= 10);
    const positive = some.every((p) => p.value > 0 || (unjoined(p) && p.high > 0));
    const logY = positive && ((own ? chart.log.y : null) ?? spread(some.map((p) => p.value)) >= 30);
    const xs = [...new Set(every.map((p) => p.x))].sort((a, b) => a - b);
    const place = (p) => (unjoined(p) ? (p.value === 0 ? p.high : p.low) : p.value);
    const ink = (look) => (look.colour === "#000000" ? style("--ink") : look.colour);
    const found = chart.series
      .map((look, k) => ({ look, by: new Map(every.filter((p) => p.series === k).map((p) => [p.x, p])) }))
      .filter(({ by }) => by.size);
    // undefined: no such point, the line goes on; null: infinite or a bound, which no line joins.
    const value = (p) => (p === undefined ? undefined : unjoined(p) || p.value === Infinity ? null : p.value);
    const ends = some.flatMap((p) => [place(p), ...(unjoined(p) ? [] : [p.low, p.high])]);
    const seen = ends.filter((v) => typeof v === "number" && (!logY || v > 0));
    const low = logY ? Math.max(Math.min(...seen), Math.min(...some.map(place)) / 100) : Math.min(...seen);
    const high = Math.max(...seen);
    const pad = logY ? 1.15 : 0.05 * (high - low || 1);

    function draw(u) {
      const c = u.ctx;
      const ratio = devicePixelRatio;
      c.save();
      c.setLineDash([]);
      c.beginPath();
      c.rect(u.bbox.left - 6, u.bbox.top - 6, u.bbox.width + 12, u.bbox.height + 12);
      c.clip();
      found.forEach(({ look, by }, k) => {
        if (!u.series[k + 1].show) return;
        c.strokeStyle = c.fillStyle = ink(look);
        for (const p of by.values()) {
          if (p.value === Infinity) continue;
          const x = u.valToPos(p.x, "x", true);
          const y = u.valToPos(place(p), "y", true);
          if (!unjoined(p) && typeof p.low === "number" && typeof p.high === "number") {
            const bottom = logY && p.low <= 0 ? u.bbox.top + u.bbox.height : u.valToPos(p.low, "y", true);
            c.lineWidth = 1.2 * ratio;
            c.beginPath();
            c.moveTo(x, bottom);
            c.lineTo(x, u.valToPos(p.high, "y", true));
            c.stroke();
          }
          const shape = unjoined(p) ? (p.value === 0 ? "triangle-down" : "triangle-up") : look.symbol;
          c.beginPath();
          (MARKS[shape] ?? MARKS.circle)(c, x, y, 3.5 * ratio);
          c.fillStyle = unjoined(p) || look.hollow ? style("--paper") : ink(look);
          if (look.symbol || unjoined(p)) c.fill();
          if (unjoined(p) || look.hollow) c.stroke();
        }
      });
      c.restore();
    }

    const unit = some.find((p) => p.unit)?.unit;
    const axis = (label, log) => ({
      label,
      stroke: style("--ink"),
      font: "12px system-ui, sans-serif",
      labelFont: "13px system-ui, sans-serif",
      grid: { stroke: style("--line"), width: 1 },
      ticks: { stroke: style("--line"), width: 1 },
      values: (u, splits) => splits.map((v) => (v === null ? "" : short(v))),
      ...(log && { splits: (u, k, a, b) => decades(a, b), filter: (u, splits) => splits }),
    });
    const room = (u, values) => 22 + 7 * Math.max(...(values ?? [""]).map((text) => text.length));
    return {
      data: [xs, ...found.map(({ by }) => xs.map((x) => value(by.get(x))))],
      options: {
        scales: {
          x: { time: false, distr: logX ? 3 : 1, range: (u, a, b) => margins(a, b, logX) },
          y: {
            distr: logY ? 3 : 1,
            range: logY ? [low / pad, high * pad] : [low - pad, high + pad],
          },
        },
        axes: [
          axis(words(chart.x_names[panel]), logX),
          { ...axis(words(unit ? `${statistic} (${unit})` : statistic), logY), size: room },
        ],
        series: [
          { label: words(chart.x_names[panel]), value: (u, v) => (v === null ? "–" : short(v)) },
          ...found.map(({ look, by }) => ({
            label: look.name,
            stroke: ink(look),
            width: look.dash ? 1.6 : 0,
            dash: DASHES[look.dash] ?? [],
            points: { show: false },
            value: (u, v, k, at) => (at === null || !by.has(xs[at]) ? "–" : said(by.get(xs[at]))),
          })),
        ],
        hooks: { draw: [draw] },
        cursor: { y: false, points: { show: false } },
      },
    };
  }

  /** Marks of a logarithmic axis: 1, 2, 5 times powers of ten, or these alone if there are many. */
  function decades(low, high) {
    const steps = high / low > 300 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5];
    const first = Math.floor(Math.log10(low));
    const powers = [...Array(Math.ceil(Math.log10(high)) - first + 1).keys()].map((k) => first + k);
    const marks = powers.flatMap((k) => steps.map((step) => Number((step * 10 ** k).toPrecision(1))));
    return marks.filter((mark) => mark >= low && mark <= high);
  }

  function margins(a, b, log) {
    if (log) return [a / 1.15, b * 1.15];
    const pad = 0.03 * (b - a || 1);
    return [a - pad, b + pad];
  }

  function drawCurves(plot, made) {
    const size = () => ({ width: plot.clientWidth, height: plot.clientWidth > 600 ? 420 : 320 });
    plot.replaceChildren();
    const u = new uPlot({ ...size(), ...made.options }, made.data, plot);
    plot.resized?.disconnect();
    plot.resized = new ResizeObserver(() => u.setSize(size()));
    plot.resized.observe(plot);
  }

  /** A line per series with a dot and its interval; the exact number beside it. */
  function drawDots(plot, all, chart, statistic, panel) {
    const some = chosen(all, chart, statistic, panel).filter((p) => Number.isFinite(p.value));
    const ends = some.flatMap((p) => [p.value, p.low ?? p.value, p.high ?? p.value]);
    const least = Math.min(...some.map((p) => p.value));
    const known = statistic === chart.start ? chart.log.x || chart.log.y : null;
    const log = least > 0 && (known ?? spread(some.map((p) => p.value)) >= 30);
    const scale = (v) => (log ? Math.log(Math.max(v, least / 10)) : v);
    const low = Math.min(...ends.map(scale), ...(log ? [] : [0]));
    const high = Math.max(...ends.map(scale));
    const at = (v) => `${((100 * (scale(v) - low)) / (high - low || 1)).toFixed(1)}%`;
    const table = document.createElement("table");
    table.className = "dots";
    const head = table.createTHead().insertRow();
    ["", `${words(statistic)}${log ? ", log scale" : ""}`, "value [95% interval]"].forEach((text) => {
      const made = document.createElement("th");
      Object.assign(made, { textContent: text, scope: "col" });
      head.append(made);
    });
    const body = table.createTBody();
    const order = [...some].sort((a, b) => a.series - b.series);
    for (const p of order) {
      const look = chart.series[p.series];
      const row = body.insertRow();
      const name = document.createElement("th");
      Object.assign(name, { textContent: look.name, scope: "row" });
      row.append(name);
      const track = document.createElement("div");
      track.className = "track";
      track.style.setProperty("--tone", look.colour === "#000000" ? "var(--ink)" : look.colour);
      const mark = document.createElement("b");
      mark.textContent = look.hollow ? "◇" : (GLYPHS[look.symbol] ?? "●");
      mark.setAttribute("aria-hidden", true);
      mark.style.left = at(p.value);
      if (p.low !== null && p.high !== null) {
        const bar = document.createElement("i");
        bar.style.left = at(p.low);
        bar.style.right = `calc(100% - ${at(p.high)})`;
        track.append(bar);
      }
      track.append(mark);
      row.insertCell().append(track);
      row.insertCell().textContent = said(p);
    }
    plot.replaceChildren(table);
  }

  /** A table with a cell per part, darker for larger values; the exact number is its text. */
  function drawMap(plot, all, chart, family) {
    const some = all.filter((p) => chart.panels[p.panel] === family && Number.isFinite(p.value));
    const parts = [...new Set(some.map((p) => p.statistic.split(":")[1]))];
    parts.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const log = some.every((p) => p.value > 0) && spread(some.map((p) => p.value)) > 1000;
    const scale = (v) => (log ? Math.log(v) : v);
    const values = some.map((p) => scale(p.value));
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const table = document.createElement("table");
    table.className = "heat";
    const head = table.createTHead().insertRow();
    const cell = (row, text, scope) => {
      const made = document.createElement("th");
      Object.assign(made, { textContent: text, scope });
      row.append(made);
    };
    ["", ...parts].forEach((part) => cell(head, part, "col"));
    const body = table.createTBody();
    chart.series.forEach((look, k) => {
      const own = new Map(some.filter((p) => p.series === k).map((p) => [p.statistic, p]));
      if (!own.size) return;
      const row = body.insertRow();
      cell(row, look.name, "row");
      for (const part of parts) {
        const p = own.get(`${family}:${part}`);
        const made = row.insertCell();
        if (!p) continue;
        const share = most > least ? (scale(p.value) - least) / (most - least) : 0;
        const high = share > 0.5;
        made.textContent = Number(p.value.toPrecision(3));
        made.title = `${look.name}, ${part}: ${said(p)}`;
        // Between 55% and 75% neither black nor white text would have enough contrast.
        made.style.setProperty("--share", `${Math.round(high ? 50 + 50 * share : 110 * share)}%`);
        made.classList.toggle("high", high);
      }
    });
    plot.replaceChildren(table);
  }

  function select(label, names, chosen, changed) {
    const box = document.createElement("label");
    const field = document.createElement("select");
    names.forEach((name, k) => field.add(new Option(name || "all", k, false, k === chosen)));
    field.addEventListener("change", changed);
    box.append(`${label} `, field);
    box.hidden = names.length < 2;
    return { box, chosen: () => Number(field.value) };
  }

  async function explore(box, button) {
    const data = await bestarm.data(button.dataset.key);
    await bestarm.script(LIBRARY);
    const { chart } = data;
    const all = points(data);
    const map = chart.kind === "map";
    const statistics = [...new Set(all.map((p) => p.statistic))].sort();
    const plot = document.createElement("div");
    plot.className = chart.kind === "curves" ? "plot" : "plot scroll";
    plot.setAttribute("role", "region");
    plot.tabIndex = 0;
    const draw = () => {
      const panel = panels.chosen();
      const statistic = statistics[which.chosen()];
      const of = map ? chart.panels[panel] : `${statistic} ${chart.panels[panel]}`;
      plot.setAttribute("aria-label", `${button.dataset.title}: ${of}. The table has the numbers.`);
      if (map) drawMap(plot, all, chart, chart.panels[panel]);
      else if (chart.kind === "dots") drawDots(plot, all, chart, statistic, panel);
      else drawCurves(plot, curves(all, chart, statistic, panel));
    };
    const has = (panel) => all.some((p) => p.panel === panel && p.statistic === chart.start);
    const first = Math.max(0, chart.panels.findIndex((_, k) => has(k)));
    const which = select("Statistic", statistics, statistics.indexOf(chart.start), draw);
    const panels = select("Panel", chart.panels, map ? 0 : first, draw);
    if (map) which.box.hidden = true;
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(which.box, panels.box);
    box.replaceChildren(controls, plot);
    draw();
    document.addEventListener("themechange", draw);
  }

  addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("button.explore")) {
      const box = document.createElement("div");
      box.className = "explorer";
      box.hidden = true;
      button.closest("p").after(box);
      button.hidden = false;
      button.addEventListener("click", () => {
        const open = button.getAttribute("aria-expanded") !== "true";
        button.setAttribute("aria-expanded", open);
        box.hidden = !open;
        if (!open || box.childElementCount) return;
        explore(box, button).catch((error) => box.replaceChildren(error.message));
      });
    }
  });
}
