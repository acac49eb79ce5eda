// What the page says in words: what it is, the gain, why there is no mix.
"use strict";

/** What would make an impossible request possible. */
function remedy(data, state) {
  if (state.held.some((share) => share !== null)) return "Let go of a held domain, or loosen the caps.";
  if (!state.capped) return "Give a task some weight.";
  // Rounded down, so that what it says suffices.
  const most = state.k * sumOf(data.tokens);
  const digit = 10 ** Math.floor(Math.log10(most) - 3);
  return `Request at most ${formatTokens(Math.floor(most / digit) * digit)} tokens, or raise k.`;
}

function introduce(data) {
  const refits = data.replicates.length;
  byId("title").textContent = document.title = data.title;
  byId("about").textContent = [
    data.made_from.runs && `${data.made_from.runs} runs`, `${data.domains.length} domains`,
    `${data.tasks.length} tasks`, data.law.map((member) => member.family).join(" + "),
  ].filter(Boolean).join(" · ");
  byId("method-interval").textContent = refits
    ? `Intervals are the central ${100 * data.level} % of ${refits} refits on resampled runs: of the gain, ` +
      "what each refit predicts of the mix shown, by all its laws or by any one of them; of a weight, " +
      "what each refit would itself propose."
    : "There are no intervals: the model was not refitted on resampled runs.";
  document.querySelector(".legend .interval").parentNode.hidden = !refits;
  byId("tasks-words").textContent =
    `Predicted ${data.unit} of natural → proposed, and the gain. A weight of 2 counts twice, 0 not at all.`;
}

function showGain(data, { before, after, interval }, refits) {
  const gain = (before - after) / before;
  byId("gain").textContent = formatGain(gain);
  byId("gain").classList.toggle("worse", gain < 0);
  byId("gain-words").textContent = gain < 0 ? "worse than natural" : "better than natural";
  const laws = data.law.length > 1 ? ", over the laws" : "";
  byId("gain-interval").textContent = interval
    ? `${formatGain(interval[0])} to ${formatGain(interval[1])} in ${100 * data.level} % of ${refits} refits on resampled runs${laws}`
    : "no interval: the model was not refitted on resampled runs";
  byId("gain-small").textContent = interval
    ? `${formatGain(gain)} (${formatGain(interval[0])} to ${formatGain(interval[1])})` : formatGain(gain);
  byId("gain-bpb").textContent = `Predicted ${data.unit} ${after.toFixed(4)}, natural ${before.toFixed(4)}`;
}

/** How far the mix is from natural, how many caps bind, and how sure the solver is. */
function showMixWords(data, { weights, active, seen, steps, excess }) {
  const moved = weights.reduce((sum, weight, j) => sum + Math.abs(weight - data.natural[j]) / 2, 0);
  byId("mix-words").textContent = `${formatPercent(moved)} of natural is moved elsewhere; ` +
    (seen ? `${sumOf(active)} of ${data.domains.length} domains at their cap.` : "nothing is capped.");
  byId("certificate").textContent = `This time it took ${steps} Newton steps, and no mix can be ` +
    `better by more than ${Math.max(excess, 1e-12).toExponential(0)} ${data.unit}.`;
}

/** The gain by the whole model, and by each of its laws where there are several. */
function lawStrips(law, refits) {
  const names = law.length > 1 ? ["all together", ...law.map((member) => member.family)] : ["gain"];
  const rows = names.map((name) => {
    const chart = strip();
    const gain = make("span", { class: "change" });
    return { chart, gain, element: make("div", { class: "law" }, make("span", {}, name), chart.element, gain) };
  });
  if (law.length > 1) byId("laws").append(make("h3", {}, "Do the laws agree?"));
  if (law.length > 1 || refits) byId("laws").append(...rows.map((row) => row.element));
  const show = (total) => {
    const shown = law.length > 1 ? [total, ...total.members] : [total];
    const range = gainRange(shown);
    shown.forEach(({ before, after, interval }, at) => {
      rows[at].chart.show((before - after) / before, interval, range);
      rows[at].gain.textContent = formatGain((before - after) / before);
    });
  };
  return { show };
}
