// Interactive figures, drawn on demand by Plotly from a target's own table.
"use strict";
{
  const LIBRARY = "assets/plotly.min.js";
  const FONT = { family: "system-ui, sans-serif", size: 13, color: "#222" };

  /** The rows that are drawn, as objects, with their panel and series. */
  function points({ columns, rows, chart }) {
    const drawn = [];
    rows.forEach((row, k) => {
      if (!chart.of[k]) return;
      const point = Object.fromEntries(columns.map((column, j) => [column, row[j]]));
      [point.panel, point.series] = chart.of[k];
      if (typeof point.value === "number") drawn.push(point);
    });
    return drawn;
  }

  const spread = (values) => {
    const above = values.filter((v) => v > 0);
    return above.length ? Math.max(...above) / Math.min(...above) : 1;
  };
  const short = (value) => (value === null ? "–" : Number(value.toPrecision(4)).toString());
  const interval = (p) => (p.low === null ? "" : ` [${short(p.low)}, ${short(p.high)}]`);
  const runs = (p) => (p.n ? `, n = ${p.n}` : "") + (p.status ? `, ${p.status}` : "");

  function curves(all, chart, statistic, panel) {
    const some = all.filter((p) => p.statistic === statistic && p.panel === panel);
    const logX = some.every((p) => p.x > 0) && spread(some.map((p) => p.x)) >= 10;
    const logY = some.every((p) => p.value >= 0) && spread(some.map((p) => p.value)) >= 30;
    // On a logarithmic axis a share of 0 stands at the end of its one-sided interval.
    const place = (p) => (logY && p.value === 0 ? p.high : p.value);
    const traces = chart.series.flatMap((look, k) => {
      const own = some.filter((p) => p.series === k).sort((a, b) => a.x - b.x);
      if (!own.length) return [];
      const reach = (p, end) => (end === null || place(p) !== p.value ? 0 : Math.abs(end - p.value));
      return {
        type: "scatter",
        name: look.name,
        mode: look.dash ? "lines+markers" : "markers",
        x: own.map((p) => p.x),
        y: own.map(place),
        text: own.map((p) => short(p.value) + interval(p) + runs(p)),
        hovertemplate: "%{x}: %{text}<extra>%{fullData.name}</extra>",
        line: { color: look.colour, dash: look.dash ?? "solid", width: 2 },
        marker: {
          color: look.colour,
          size: 7,
          symbol: own.map((p) => (place(p) === p.value ? look.symbol : "triangle-down-open")),
        },
        error_y: {
          type: "data",
          symmetric: false,
          array: own.map((p) => reach(p, p.high)),
          arrayminus: own.map((p) => Math.min(reach(p, p.low), logY ? 0.99 * p.value : Infinity)),
          thickness: 1,
          width: 3,
          color: look.colour,
        },
      };
    });
    const unit = some.find((p) => p.unit)?.unit;
    const axis = (title, log, values) => ({
      title: { text: title },
      type: log ? "log" : "linear",
      exponentformat: "power",
      ...(log && { dtick: spread(values) < 1000 ? "D2" : 1 }),
    });
    return {
      traces,
      layout: {
        xaxis: axis(chart.x_names[panel], logX, some.map((p) => p.x)),
        yaxis: axis(unit ? `${statistic} (${unit})` : statistic, logY, some.map(place)),
        hovermode: "closest",
      },
    };
  }

  function heatMap(all, chart, family) {
    const some = all.filter((p) => chart.panels[p.panel] === family);
    const parts = [...new Set(some.map((p) => p.statistic.split(":")[1]))];
    parts.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const lines = chart.series.map((_, k) => k).filter((k) => some.some((p) => p.series === k));
    const at = (k, part) =>
      some.find((p) => p.series === k && p.statistic === `${family}:${part}`);
    const grid = lines.map((k) => parts.map((part) => at(k, part)));
    const log = some.every((p) => p.value > 0) && spread(some.map((p) => p.value)) > 1000;
    const trace = {
      type: "heatmap",
      x: parts,
      y: lines.map((k) => chart.series[k].name),
      z: grid.map((row) => row.map((p) => (p ? (log ? Math.log10(p.value) : p.value) : null))),
      text: grid.map((row) => row.map((p) => (p ? short(p.value) + interval(p) + runs(p) : ""))),
      hovertemplate: "%{y}, %{x}: %{text}<extra></extra>",
      colorscale: "Viridis",
      reversescale: true,
      xgap: 1,
      ygap: 1,
      colorbar: { title: { text: log ? `log10 ${family}` : family, side: "right" } },
    };
    return {
      traces: [trace],
      layout: {
        xaxis: { type: "category", title: { text: "part" } },
        yaxis: { type: "category", automargin: true, autorange: "reversed" },
        height: 140 + 34 * lines.length,
      },
    };
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
    const statistics = [...new Set(all.map((p) => p.statistic))].sort();
    const plot = document.createElement("div");
    plot.className = "plot";
    plot.setAttribute("role", "img");
    const draw = () => {
      const panel = panels.chosen();
      const statistic = statistics[which.chosen()];
      const { traces, layout } =
        chart.kind === "map"
          ? heatMap(all, chart, chart.panels[panel])
          : curves(all, chart, statistic, panel);
      const of = chart.kind === "map" ? chart.panels[panel] : `${statistic} ${chart.panels[panel]}`;
      plot.setAttribute("aria-label", `${button.dataset.title}: ${of}. The table has the numbers.`);
      const wide = plot.clientWidth > 600;
      return Plotly.react(
        plot,
        traces,
        {
          font: FONT,
          paper_bgcolor: "#fff",
          plot_bgcolor: "#fff",
          margin: { t: 16, r: 16, b: 56, l: 64 },
          height: wide ? 440 : 520,
          legend: wide ? {} : { orientation: "h", y: -0.2 },
          ...layout,
        },
        { displayModeBar: false, responsive: true },
      );
    };
    const has = (panel) => all.some((p) => p.panel === panel && p.statistic === chart.start);
    const first = Math.max(0, chart.panels.findIndex((_, k) => has(k)));
    const which = select("Statistic", statistics, statistics.indexOf(chart.start), draw);
    const panels = select("Panel", chart.panels, chart.kind === "map" ? 0 : first, draw);
    if (chart.kind === "map") which.box.hidden = true;
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(which.box, panels.box);
    box.replaceChildren(controls, plot);
    await draw();
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
