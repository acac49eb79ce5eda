// The explorer itself: what is moved, what follows, what is taken along.
"use strict";

const SETTLED = 250; // ms without a move before the slower parts follow

function explore(data) {
  const law = decodeLaw(data.law, "float64");
  const replicates = data.replicates.map((members) => decodeLaw(members, "float32"));
  const everyModel = (p) => ({
    law: predictEach(law, p), replicates: replicates.map((replicate) => predictEach(replicate, p)),
  });
  const baseline = everyModel(data.natural);
  let state = fromHash(data, location.hash);
  let mix = null; // what is shown: the last request that had an answer
  let waiting = null;

  const change = (edit) => {
    edit(state);
    schedule();
  };
  const controls = requestControls(data, change);
  const sources = sourceTable(data);
  const domains = domainTable(data, (j, share) => change((next) => (next.held[j] = share)));
  const families = familyList(data, (list, at, value) => change((next) => (next[list][at] = value)));
  const laws = lawStrips(law, replicates.length);

  /** Follow the state at the next frame, however many events came before it. */
  function schedule() {
    if (waiting === null) waiting = requestAnimationFrame(() => ((waiting = null), follow()));
  }

  function follow() {
    const request = requestOf(data, state);
    const answer = request.shares.some(isNaN)
      ? { problem: "every task has weight 0" }
      : propose(law, request, data.domains);
    document.body.classList.toggle("stale", Boolean(answer.problem));
    byId("problem").hidden = !answer.problem;
    byId("export").disabled = Boolean(answer.problem);
    controls.show(state);
    if (answer.problem) byId("problem").textContent = `No mix: ${answer.problem}. ${remedy(data, state)}`;
    else mix = describe(answer, request);
    if (mix) show();
    settle();
  }

  /** The answer with everything that is read off it. */
  function describe(answer, request) {
    const { weights } = answer;
    const seen = state.capped
      ? { R: state.R, times: weights.map((weight, j) => (weight * state.R) / data.tokens[j]) }
      : null;
    const models = everyModel(weights);
    return { ...answer, request, caps: request.caps, held: request.held, seen, models,
      predicted: models.law[0], intervals: null };
  }

  /**
   * BPB before and after of some tasks together, by all laws and by each (`members`), with intervals of
   * the gain. That by all spans those of the single laws, which fit the runs alike and disagree away
   * from them, as `olmix.proposers.uncertainty` has it.
   */
  function gainOf(tasks) {
    const { shares } = mix.request;
    const share = tasks.reduce((sum, i) => sum + shares[i], 0);
    // Tasks without weight are shown by their plain average.
    const of = (values) => tasks.reduce((sum, i) => sum + values[i] * (share ? shares[i] / share : 1 / tasks.length), 0);
    const [together, ...members] = baseline.law.map((before, l) => {
      const gains = mix.models.replicates.map((after, b) => 1 - of(after[l]) / of(baseline.replicates[b][l]));
      const interval = gains.length ? centralInterval(gains, data.level) : null;
      return { before: of(before), after: of(mix.models.law[l]), interval };
    });
    const ends = [together, ...members].flatMap(({ interval }) => interval ?? []);
    const interval = ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
    return { ...together, interval, members, share };
  }

  function show() {
    const everything = data.tasks.map((_, i) => i);
    const total = gainOf(everything);
    mix.gain = total;
    showGain(data, total, replicates.length);
    laws.show(total);
    showMixWords(data, mix);
    sources.show(mix);
    domains.show(mix);
    families.show(data.families.map((family) => ({
      ...gainOf(family.tasks), tasks: family.tasks.map((i) => gainOf([i])),
    })), state);
  }

  function arrange() {
    sources.arrange(byId("order").value);
    domains.arrange(mix, byId("order").value);
  }

  // The order of rows, the link and the intervals of the weights follow when the reader pauses.
  let pause = null;
  function settle() {
    clearTimeout(pause);
    pause = setTimeout(() => {
      remember(toHash(data, state));
      if (!mix) return;
      arrange();
      resolve([], mix);
    }, SETTLED);
  }

  /** Solve every replicate again, one at a time so that the page stays awake. */
  function resolve(found, of) {
    if (of !== mix || of.intervals || !replicates.length) return;
    if (found.length === replicates.length) {
      mix.intervals = data.domains.map((_, j) => centralInterval(found.map((p) => p[j]), data.level));
      domains.show(mix);
      return;
    }
    pause = setTimeout(() => resolve([...found, optimumOf(replicates[found.length], of)], of), 0);
  }

  function optimumOf(replicate, of) {
    return propose(replicate, { ...of.request, tolerance: 1e-7 }, data.domains).weights;
  }

  /** The mix as a file, with all its intervals however soon it is asked for. */
  function save() {
    if (replicates.length) resolve(replicates.map((replicate) => optimumOf(replicate, mix)), mix);
    download("mix.json", mixRecord(data, mix));
  }

  byId("order").addEventListener("change", () => mix && arrange());
  byId("more").addEventListener("click", () => (domains.toggle(), arrange()));
  byId("reset").addEventListener("click", () => ((state = startingState(data)), schedule()));
  byId("export").addEventListener("click", save);
  byId("link").addEventListener("click", () => copyLink(toHash(data, state)));
  addEventListener("hashchange", () => ((state = fromHash(data, location.hash)), schedule()));

  introduce(data);
  follow();
  if (mix) arrange();
}

explore(JSON.parse(byId("data").textContent));
