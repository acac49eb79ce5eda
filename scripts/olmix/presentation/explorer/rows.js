// The tables of the page: sources and domains of the mix, families and tasks with their gains.
"use strict";

const SHOWN = 16; // domains before the reader asks for all

function cell(name, ...children) {
  return make("td", { role: "cell", class: name }, ...children);
}

function headRow(...names) {
  const cells = names.map((name) => make("th", { role: "columnheader", scope: "col" }, name));
  return make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...cells));
}

/** A row of the mix: bars, shares, how often it is seen, and what holds it where it can be held. */
function shareRow(label, hold = null) {
  const bars = shareBars();
  const [share, natural, seen] = ["share", "was", "seen"].map((name) => cell(name));
  const name = make("th", { role: "rowheader", scope: "row" }, ...breakable(label));
  const chart = cell("chart", bars.element, ...(hold ? [hold.weight] : []));
  const last = cell("hold", ...(hold ? [hold.box] : []));
  const element = make("tr", { role: "row" }, name, chart, share, natural, seen, last);
  const show = (values, scale) => {
    bars.show(values, scale);
    share.textContent = formatPercent(values.proposed);
    natural.textContent = formatPercent(values.natural);
    seen.textContent = values.seen === null ? "" : `${values.seen.toFixed(2)}×`;
    seen.classList.toggle("at-cap", Boolean(values.active));
    if (values.active) seen.append(make("small", {}, " at cap"));
  };
  return { element, show };
}

/** What puts shares first in an order that the reader chose: the smaller, the nearer to the top. */
const ORDERS = {
  weight: ({ proposed }) => -proposed,
  change: ({ proposed, natural }) => -Math.abs(proposed - natural),
};

/** The shares of every source, where there are several and they are not the domains themselves. */
function sourceTable(data) {
  const names = [...new Set(data.sources)];
  if (names.length < 2 || names.length === data.domains.length) {
    return { show: () => {}, arrange: () => {} };
  }
  const rows = names.map((name) => shareRow(name));
  const body = make("tbody", { role: "rowgroup" }, ...rows.map((row) => row.element));
  let shown = [];
  byId("sources").append(
    make("caption", {}, "By source"),
    headRow("source", "share of the mix", "proposed", "natural", "times seen", ""), body);
  const places = names.map((name) => data.domains.map((_, j) => j).filter((j) => data.sources[j] === name));
  const show = ({ weights, seen }) => {
    const within = (values, js) => js.reduce((sum, j) => sum + values[j], 0);
    shown = places.map((js) => ({
      natural: within(data.natural, js),
      proposed: within(weights, js),
      seen: seen && (within(weights, js) / within(data.tokens, js)) * seen.R,
    }));
    const scale = 1.02 * Math.max(...shown.flatMap((values) => [values.natural, values.proposed]));
    rows.forEach((row, at) => row.show(shown[at], scale));
  };
  const arrange = (order) => {
    const key = (s) => (ORDERS[order] ? ORDERS[order](shown[s]) : s);
    const places = names.map((_, s) => s).sort((a, b) => key(a) - key(b) || a - b);
    body.append(...places.map((s) => rows[s].element));
  };
  return { show, arrange };
}

/** What holds a domain at a weight: a box, and once it is ticked a slider and a field. */
function holdControl(name, onHold) {
  const box = make("input", { type: "checkbox", "aria-label": `hold ${name}` });
  const slider = make("input", { type: "range", min: 0, step: 0.1, "aria-label": `weight of ${name}, slider` });
  const field = make("input", {
    type: "number", min: 0, max: 100, step: "any", "aria-label": `weight of ${name} in percent`,
  });
  const weight = make("div", { class: "held", hidden: true }, slider, field, "%");
  let current = 0;
  const take = (percent) => onHold(Number((percent / 100).toPrecision(12)));
  // Rounded down: a weight at its cap must not be held above it.
  box.addEventListener("change", () => onHold(box.checked ? Math.floor(1e5 * current) / 1e5 : null));
  slider.addEventListener("input", () => take(Number(slider.value)));
  field.addEventListener("input", () => {
    if (field.value !== "" && field.checkValidity()) take(Number(field.value));
  });
  const show = (held, proposed, most) => {
    current = proposed;
    box.checked = held !== null;
    weight.hidden = held === null;
    if (held === null) return;
    slider.max = Math.ceil(1000 * Math.max(most, held)) / 10;
    slider.value = 100 * held;
    if (document.activeElement !== field) field.value = Number((100 * held).toPrecision(4));
  };
  return { box: make("label", {}, box, " hold"), weight, show };
}

/** Every domain of the mix, in the order the reader chose. */
function domainTable(data, onHold) {
  const holds = data.domains.map((name, j) => holdControl(name, (share) => onHold(j, share)));
  const rows = data.domains.map((name, j) => shareRow(name, holds[j]));
  const body = make("tbody", { role: "rowgroup" }, ...rows.map((row) => row.element));
  byId("domains").append(
    make("caption", {}, "By domain"),
    headRow("domain", "share of the mix", "proposed", "natural", "times seen", "hold"), body);
  let all = data.domains.length <= SHOWN;
  const show = (mix) => {
    const highest = (values) => values.reduce((most, value) => Math.max(most, value), 0);
    const tops = mix.intervals ? mix.intervals.map((ends) => ends[1]) : [];
    const scale = 1.02 * highest([highest(data.natural), highest(mix.weights), highest(tops)]);
    rows.forEach((row, j) => {
      row.show({
        natural: data.natural[j], proposed: mix.weights[j], cap: mix.caps[j], active: mix.active[j],
        seen: mix.seen && mix.seen.times[j], interval: mix.intervals && mix.intervals[j],
      }, scale);
      holds[j].show(mix.held[j], mix.weights[j], Math.min(mix.caps[j], 1));
    });
  };
  const arrange = (mix, order) => {
    const key = (j) => (ORDERS[order]
      ? ORDERS[order]({ proposed: mix.weights[j], natural: data.natural[j] })
      : data.sources.indexOf(data.sources[j]));
    const places = data.domains.map((_, j) => j).sort((a, b) => key(a) - key(b) || a - b);
    // A row that is being used stays where it is.
    if (!body.contains(document.activeElement)) body.append(...places.map((j) => rows[j].element));
    [...body.children].forEach((row, at) => {
      row.hidden = !all && at >= SHOWN && mix.held[rows.findIndex((known) => known.element === row)] === null;
    });
    byId("more").hidden = data.domains.length <= SHOWN;
    byId("more").textContent = all ? `Show the first ${SHOWN}` : `Show all ${data.domains.length} domains`;
  };
  return { show, arrange, toggle: () => (all = !all) };
}

/** Gains of one task or family: numbers, and a strip with the interval. */
function gainRow(label, control) {
  const chart = strip();
  const numbers = make("span", { class: "numbers" });
  const gain = make("span", { class: "change" });
  const element = make("div", { class: "gain-row" }, label, numbers, gain, chart.element, control.element);
  const show = ({ before, after, interval, share }, weight, range) => {
    numbers.textContent = `${before.toFixed(3)} → ${after.toFixed(3)}`;
    gain.textContent = formatGain((before - after) / before);
    gain.classList.toggle("worse", after > before);
    chart.show((before - after) / before, interval, range);
    control.show(weight);
    control.note.textContent = `${formatPercent(share)} of average`;
  };
  return { element, show };
}

/** Families that open to their tasks, each with the weight it counts by. */
function familyList(data, onWeight) {
  const families = data.families.map((family, f) => {
    const control = weightControl(`weight of ${family.name}`, (value) => onWeight("families", f, value));
    const list = make("div", { class: "members", id: `family-${f}`, hidden: true });
    const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": list.id },
      family.name, make("small", {}, ` ${family.tasks.length} task${family.tasks.length > 1 ? "s" : ""}`));
    button.addEventListener("click", () => {
      list.hidden = !list.hidden;
      button.setAttribute("aria-expanded", String(!list.hidden));
    });
    const head = gainRow(make("h3", {}, button), control);
    const rows = family.tasks.map((i) => {
      const weight = weightControl(`weight of ${data.labels[i]}`, (value) => onWeight("tasks", i, value));
      return gainRow(make("span", { class: "name", title: data.tasks[i] }, ...breakable(data.labels[i])), weight);
    });
    list.append(...rows.map((row) => row.element));
    byId("families").append(head.element, list);
    return { head, rows };
  });
  const show = (gains, state) => {
    const range = gainRange(gains.flatMap((family) => [family, ...family.tasks]));
    families.forEach(({ head, rows }, f) => {
      head.show(gains[f], state.families[f], range);
      rows.forEach((row, at) => {
        row.show(gains[f].tasks[at], state.tasks[data.families[f].tasks[at]], range);
      });
    });
  };
  return { show };
}

/** An axis that holds zero, all gains and their intervals. */
function gainRange(gains) {
  const ends = gains.flatMap(({ before, after, interval }) => [(before - after) / before, ...(interval ?? [])]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  const margin = 0.04 * (high - low) || 0.01;
  return [low - margin, high + margin];
}
