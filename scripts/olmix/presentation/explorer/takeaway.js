// What the reader takes along: the mix as a file, the state as a link.
"use strict";

/** The mix shown, as `olmix.proposers.proposal.Proposal` writes it. */
function mixRecord(data, mix) {
  const named = (names, values) => Object.fromEntries(names.map((name, at) => [name, values[at]]));
  const caps = Array.from(mix.caps, (cap) => (isFinite(cap) ? cap : null));
  const held = data.domains.map((name, j) => [name, mix.held[j]]).filter(([, share]) => share !== null);
  return {
    domains: data.domains,
    weights: Array.from(mix.weights),
    status: "optimal",
    objective: mix.objective,
    average: average(mix.request.shares, mix.predicted),
    predicted: named(data.tasks, mix.predicted),
    caps: named(data.domains, caps),
    active_caps: data.domains.filter((_, j) => mix.active[j]),
    repetition: mix.seen && named(data.domains, mix.seen.times),
    solver: {
      name: "explorer", family: data.family, kl: mix.request.kl, prior: named(data.domains, data.prior),
      task_weights: named(data.tasks, mix.request.shares), held: Object.fromEntries(held),
    },
    made_from: {
      ...data.made_from,
      bootstrap: mix.gain.interval && {
        replicates: data.replicates.length, level: data.level, baseline: "natural", gain: mix.gain.interval,
        weights: named(data.domains, mix.intervals),
      },
    },
  };
}

function download(name, record) {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(record, null, 1)}\n`], { type: "application/json" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  byId("done").textContent = `${name} saved.`;
}

/** Keep the state in the address; a page inside another may not change its own. */
function remember(hash) {
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // The link that "Copy link" gives still holds it.
  }
}

async function copyLink(hash) {
  const link = `${location.href.split("#")[0]}${hash ? `#${hash}` : ""}`;
  try {
    await navigator.clipboard.writeText(link);
    byId("done").textContent = "Link copied.";
  } catch {
    byId("done").textContent = link;
  }
}
