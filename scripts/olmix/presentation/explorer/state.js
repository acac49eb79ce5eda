// What the reader has chosen, as numbers, as a request to the solver, and as a link.
"use strict";

/** The choices a page opens with. */
function startingState(data) {
  const { kl, repetition, requested } = data.request;
  const known = data.tokens !== null;
  return {
    capped: known && repetition !== null && requested !== null,
    k: repetition ?? 4,
    R: requested ?? (known ? sumOf(data.tokens) : null),
    kl,
    families: data.families.map(() => 1),
    tasks: data.tasks.map(() => 1),
    held: data.domains.map(() => null),
  };
}

/** Every task's share of the average: its own, times what the reader gives it and its family. */
function sharesOf(data, state) {
  const raw = data.shares.map((share, i) => share * state.tasks[i]);
  data.families.forEach((family, f) => family.tasks.forEach((i) => (raw[i] *= state.families[f])));
  const total = sumOf(raw);
  return Float64Array.from(raw, (share) => share / total);
}

/** What the solver is asked. */
function requestOf(data, state) {
  return {
    shares: sharesOf(data, state),
    kl: state.kl,
    prior: data.prior,
    caps: data.domains.map((_, j) => (state.capped ? (state.k * data.tokens[j]) / state.R : Infinity)),
    held: [...state.held],
  };
}

// A link's keys; of the lists it holds only what differs from the start, as name~value.
const LISTS = { family: "families", task: "tasks", hold: "held" };

function listNames(data) {
  return { families: data.families.map((family) => family.name), tasks: data.tasks, held: data.domains };
}

/** The state as the part of a link after "#": empty at the start. */
function toHash(data, state) {
  const start = startingState(data);
  const words = new URLSearchParams();
  for (const key of ["k", "R", "kl"]) if (state[key] !== start[key]) words.set(key, state[key]);
  if (state.capped !== start.capped) words.set("capped", state.capped ? "yes" : "no");
  for (const [word, key] of Object.entries(LISTS)) {
    state[key].forEach((value, at) => {
      if (value !== start[key][at]) words.append(word, `${listNames(data)[key][at]}~${value}`);
    });
  }
  return words.toString();
}

/** The state of a link; what it cannot mean for this model is left as it starts. */
function fromHash(data, hash) {
  const state = startingState(data);
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (text) => (text !== null && text.trim() !== "" && Number(text) >= 0 ? Number(text) : null);
  for (const key of ["k", "R", "kl"]) {
    const value = number(words.get(key));
    if (value !== null && isFinite(value) && (value > 0 || key === "kl")) state[key] = value;
  }
  if (words.has("capped") && data.tokens !== null) state.capped = words.get("capped") === "yes";
  for (const [word, key] of Object.entries(LISTS)) {
    for (const entry of words.getAll(word)) {
      const cut = entry.lastIndexOf("~");
      const at = listNames(data)[key].indexOf(entry.slice(0, cut));
      const value = number(entry.slice(cut + 1));
      if (at >= 0 && value !== null && isFinite(value)) state[key][at] = value;
    }
  }
  return state;
}

const UNITS = [["T", 1e12], ["B", 1e9], ["M", 1e6], ["K", 1e3]];

/** 6e12 as "6T". */
function formatTokens(value) {
  const [unit, size] = UNITS.find(([, size]) => value >= size) ?? ["", 1];
  return `${Number((value / size).toPrecision(4))}${unit}`;
}

/** "6T", "6e12" or "6,000,000" as a number; NaN for anything else. */
function parseTokens(text) {
  const [, number, unit] = text.trim().replaceAll(",", "").match(/^(.*?)\s*([TBMK]?)$/i);
  const size = UNITS.find(([name]) => name === unit.toUpperCase())?.[1] ?? 1;
  return number === "" ? NaN : Number(number) * size;
}

function formatPercent(share) {
  const percent = 100 * share;
  return `${percent.toFixed(Math.abs(percent) >= 9.95 ? 1 : 2)} %`;
}

/** A gain with its sign, in percent. */
function formatGain(gain) {
  return `${gain < 0 ? "−" : "+"}${Math.abs(100 * gain).toFixed(1)} %`;
}

/** Two significant digits, so that a slider gives numbers a person would. */
function round2(value) {
  return Number(value.toPrecision(2));
}

/** The ends of the central interval of some values, as numpy's quantiles. */
function centralInterval(values, level) {
  const sorted = Float64Array.from(values).sort();
  return [(1 - level) / 2, (1 + level) / 2].map((share) => {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  });
}
