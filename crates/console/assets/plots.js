// Draws each <figure data-plot='…'> with uPlot. Without this file the table in the figure stays.
//
// The attribute is JSON:
//   x       times in seconds since 1970, ascending, as many as each series has values
//   days    true: each x is midnight UTC of a date, and no time of day is shown
//   bars    true: the series are bars, one upon the other; otherwise each is a line
//   series  [{label, values, unit?}], a value null where there is none
(() => {
  "use strict";

  const HEIGHT = 220;
  const FALLBACK = ["#2563eb", "#b45309", "#047857", "#be123c", "#6d28d9", "#0e7490"];
  const plots = new Map();

  const style = (element, name) => getComputedStyle(element).getPropertyValue(name).trim();

  const colour = (figure, index) =>
    style(figure, `--plot-${index % FALLBACK.length + 1}`) || FALLBACK[index % FALLBACK.length];

  function numbers(language) {
    const plain = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 });
    return (value, unit) => value == null ? "–" : plain.format(value) + (unit ? ` ${unit}` : "");
  }

  function times(language, days) {
    const options = days
      ? { day: "2-digit", month: "2-digit", timeZone: "UTC" }
      : { hour: "2-digit", minute: "2-digit" };
    const format = new Intl.DateTimeFormat(language, options);
    return seconds => format.format(new Date(seconds * 1000));
  }

  // Bars lie upon each other: each is drawn as the sum with those below it, the highest first.
  function stacked(series) {
    const sums = series.map(() => []);
    const length = Math.max(0, ...series.map(each => each.values.length));
    for (let at = 0; at < length; at += 1) {
      let sum = 0;
      series.forEach((each, index) => {
        sum += each.values[at] ?? 0;
        sums[index].push(sum);
      });
    }
    return sums;
  }

  function draw(figure) {
    let plot;
    try {
      plot = JSON.parse(figure.dataset.plot);
    } catch {
      return;
    }
    const language = document.documentElement.lang || "en";
    const number = numbers(language);
    const time = times(language, plot.days === true);
    const bars = plot.bars === true;
    const units = new Set(plot.series.map(each => each.unit ?? ""));
    const unit = units.size === 1 ? [...units][0] : "";
    const text = getComputedStyle(figure).color;
    const grid = style(figure, "--border") || "rgba(128, 128, 128, 0.25)";

    const lines = plot.series.map((each, index) => ({
      label: each.label,
      stroke: colour(figure, index),
      fill: bars ? colour(figure, index) : undefined,
      width: bars ? 0 : 2,
      dash: bars || index === 0 ? undefined : [[6, 3], [2, 3], [9, 3, 2, 3]][(index - 1) % 3],
      points: { show: !bars && plot.x.length === 1 },
      paths: bars ? uPlot.paths.bars({ size: [0.7, 48] }) : undefined,
      // The legend has the value itself, not the sum with those below it.
      value: (_, __, ___, at) => number(at == null ? null : each.values[at], each.unit),
    }));
    const values = bars ? stacked(plot.series) : plot.series.map(each => each.values);
    if (bars) {
      lines.reverse();
      values.reverse();
    }
    const room = (plot.x.length > 1 ? plot.x[1] - plot.x[0] : 86400) / 2;
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const holder = document.createElement("div");
    holder.className = "plot";
    holder.setAttribute("aria-hidden", "true");
    const old = plots.get(figure);
    if (old) {
      old.chart.destroy();
      old.holder.replaceWith(holder);
    } else {
      figure.querySelector(":scope > .plot")?.remove();
      const caption = figure.querySelector(":scope > figcaption");
      if (caption) caption.after(holder); else figure.prepend(holder);
    }
    const chart = new uPlot({
      width: Math.max(200, holder.clientWidth),
      height: HEIGHT,
      cursor: { drag: { x: false, y: false } },
      scales: {
        // A bar stands around its x: half a step of room at either end.
        x: { time: false, ...(bars && { range: (_, low, high) => [low - room, high + room] }) },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.05 : 1] },
      },
      series: [{ label: "", value: (_, seconds) => seconds == null ? "–" : time(seconds) }, ...lines],
      axes: [
        { ...axis, values: (_, splits) => splits.map(time), space: 64, incrs: increments(plot.days === true) },
        { ...axis, values: (_, splits) => splits.map(value => number(value)), size: 56, ...(unit && { label: unit, labelSize: 20 }) },
      ],
    }, [plot.x, ...values], holder);
    plots.set(figure, { chart, holder });
  }

  // Where ticks may be: at whole days, or at whole seconds and minutes.
  function increments(days) {
    return days
      ? [1, 2, 3, 5, 7, 10, 14, 30].map(each => each * 86400)
      : [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  }

  function drawAll() {
    for (const [figure, { chart }] of plots) {
      if (!figure.isConnected) {
        chart.destroy();
        plots.delete(figure);
      }
    }
    document.querySelectorAll("figure[data-plot]").forEach(figure => {
      if (plots.get(figure)?.data !== figure.dataset.plot) {
        draw(figure);
        const drawn = plots.get(figure);
        if (drawn) drawn.data = figure.dataset.plot;
      }
    });
  }

  function drawAnew() {
    for (const drawn of plots.values()) drawn.data = undefined;
    drawAll();
  }

  let width = 0;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    for (const { chart, holder } of plots.values()) {
      chart.setSize({ width: Math.max(200, holder.clientWidth), height: HEIGHT });
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAnew);
  new MutationObserver(drawAnew).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme", "class", "lang"],
  });
  document.addEventListener("htmx:load", drawAll);
  document.addEventListener("htmx:afterSettle", drawAll);
  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", drawAll);
  } else {
    drawAll();
  }
})();
