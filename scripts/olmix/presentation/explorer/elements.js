// Pieces of the page: elements, a slider with its field, bars.
"use strict";

let lastId = 0;

/** An element: make("p", { class: "quiet" }, "text", child). Text is never parsed as HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** A long name that may be broken after its separators. */
function breakable(name) {
  return name.split(/(?<=[_:/])/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));
}

function byId(id) {
  return document.getElementById(id);
}

/**
 * A slider and a field for one number, under one label. `position` and `value` turn the number
 * into the slider's place and back; the field takes any number that `accept` takes.
 */
function sliderAndField(options) {
  const { label, hint, min, max, step, position, value, parse = Number, format, accept, onChange } = options;
  const id = `control-${++lastId}`;
  const slider = make("input", { type: "range", id: `${id}-slider`, min, max, step });
  const field = make("input", { type: "text", id, inputmode: "decimal", autocomplete: "off", size: 7 });
  const name = make("label", { for: id }, label);
  const note = make("span", { class: "quiet", id: `${id}-note` }, hint ?? "");
  slider.setAttribute("aria-label", `${label}, slider`);
  if (hint) field.setAttribute("aria-describedby", note.id);
  let current = null;
  const show = (number) => {
    current = number;
    slider.value = position(number);
    slider.setAttribute("aria-valuetext", format(number));
    if (document.activeElement !== field) field.value = format(number);
    field.removeAttribute("aria-invalid");
  };
  slider.addEventListener("input", () => onChange(value(Number(slider.value))));
  const take = () => {
    const number = parse(field.value);
    if (field.value.trim() !== "" && accept(number)) onChange(number);
    else field.setAttribute("aria-invalid", "true");
  };
  field.addEventListener("input", take);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    slider.value = Number(slider.value) + by * step;
    field.value = format(value(Number(slider.value)));
    take();
  });
  const element = make("div", { class: "control" }, name, field, slider, note);
  // What was left half-written gives way to the number in use.
  field.addEventListener("blur", () => show(current));
  return { element, show, note };
}

/** A factor of 0 to 4 by which a task or family counts. */
function weightControl(label, onChange) {
  return sliderAndField({
    label, min: 0, max: 4, step: 0.1, onChange,
    position: (number) => number,
    value: (place) => Number(place.toFixed(1)),
    format: (number) => String(Number(number.toPrecision(4))),
    accept: (number) => number >= 0 && number <= 1e6,
  });
}

/** Bars of the natural and the proposed share, an interval and a cap on one scale. */
function shareBars() {
  const parts = {};
  for (const name of ["proposed", "natural", "interval", "cap"]) parts[name] = make("i", { class: name });
  const element = make("div", { class: "bars", "aria-hidden": "true" }, ...Object.values(parts));
  const place = (part, from, to) => {
    part.style.left = `${100 * from}%`;
    part.style.width = `${100 * Math.max(0, to - from)}%`;
  };
  const show = ({ natural, proposed, cap = Infinity, active = false, interval = null }, scale) => {
    place(parts.natural, 0, natural / scale);
    place(parts.proposed, 0, proposed / scale);
    parts.cap.hidden = cap > scale;
    if (cap <= scale) place(parts.cap, cap / scale, cap / scale);
    parts.cap.classList.toggle("active", active);
    parts.interval.hidden = interval === null;
    if (interval) place(parts.interval, interval[0] / scale, interval[1] / scale);
  };
  return { element, show };
}

/** A point, and where there is one its interval, on an axis from `low` to `high` with a zero line. */
function strip() {
  const zero = make("i", { class: "zero" });
  const interval = make("i", { class: "interval" });
  const point = make("i", { class: "point" });
  const element = make("div", { class: "strip", "aria-hidden": "true" }, zero, interval, point);
  const show = (value, ends, [low, high]) => {
    const at = (number) => `${(100 * (number - low)) / (high - low)}%`;
    zero.style.left = at(0);
    point.style.left = at(value);
    point.classList.toggle("worse", value < 0);
    interval.hidden = !ends;
    if (ends) {
      interval.style.left = at(ends[0]);
      interval.style.width = `${(100 * (ends[1] - ends[0])) / (high - low)}%`;
    }
  };
  return { element, show };
}
