// The sliders and fields of the request: k, R and λ.
"use strict";

/** Sliders and fields of k, R and λ. */
function requestControls(data, change) {
  const form = byId("request");
  form.addEventListener("submit", (event) => event.preventDefault());
  const box = make("input", { type: "checkbox", id: "capped" });
  box.addEventListener("change", () => change((state) => (state.capped = box.checked)));
  const octaves = sliderAndField({
    label: "Repetition factor k", hint: "how often a token may be seen", min: -1, max: 6, step: 0.125,
    position: Math.log2, value: (place) => round2(2 ** place), format: String,
    accept: (number) => number > 0 && isFinite(number), onChange: (k) => change((state) => (state.k = k)),
  });
  const decade = (tokens) => Math.log10(tokens);
  const all = data.tokens ? decade(sumOf(data.tokens)) : 12;
  const tokens = sliderAndField({
    label: "Target tokens R", hint: "", min: Math.floor(all - 3), max: Math.ceil(all + 1), step: 0.05,
    position: decade, value: (place) => round2(10 ** place), format: formatTokens, parse: parseTokens,
    accept: (number) => number > 0 && isFinite(number), onChange: (R) => change((state) => (state.R = R)),
  });
  const pull = sliderAndField({
    label: "KL weight λ", hint: "pull towards the prior", min: -4.1, max: 1, step: 0.1,
    position: (kl) => (kl > 0 ? Math.log10(kl) : -4.1),
    value: (place) => (place < -4.05 ? 0 : round2(10 ** place)), format: String,
    accept: (number) => number >= 0 && isFinite(number), onChange: (kl) => change((state) => (state.kl = kl)),
  });
  const capped = make("div", { class: "control check" }, box, make("label", { for: "capped" }, "Cap repetition at k·N/R"));
  form.append(...(data.tokens ? [capped, octaves.element, tokens.element] : []), pull.element);
  const show = (state) => {
    box.checked = state.capped;
    octaves.element.hidden = tokens.element.hidden = !state.capped;
    octaves.show(state.k);
    if (data.tokens) {
      tokens.show(state.R);
      tokens.note.textContent = `${(state.R / sumOf(data.tokens)).toPrecision(2)} times the ${formatTokens(sumOf(data.tokens))} there are`;
    }
    pull.show(state.kl);
  };
  return { show };
}
