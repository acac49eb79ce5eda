"""The final mixes: what each released swarm proposes, beside the paper's table of mixes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.published.catalogue import Catalogue, ReleasedSwarm
from olmix.published.chain import ReleasedChain, coupling_by_topic, joined_first_update, run_chain
from olmix.published.comparison import Findings
from olmix.published.design import request_of
from olmix.published.mixes import MixEstimate, compare_mixes, estimate
from olmix.regressors.validation import validate
from olmix.study.proposals import olmix_base
from olmix.updates.sequence import INITIAL, UpdateSequence

__all__ = ["FinalMixes", "final_mixes"]

FULL, PARTIAL = "full_recomputation", "partial_mixture_reuse"
# Partial reuse recomputes this topic with Stack-Edu, so its ratio is not the initial one.
RECOMPUTED = "dclm:software_development"


@dataclass
class FinalMixes:
    """Everything the analysis writes: tables by name, estimates by swarm, findings."""

    estimates: dict[str, MixEstimate] = field(default_factory=dict)
    swarms: list[dict[str, Any]] = field(default_factory=list)
    compared: list[pd.DataFrame] = field(default_factory=list)
    chain: ReleasedChain = field(default_factory=lambda: ReleasedChain({}, None))
    kappa: pd.DataFrame | None = None
    findings: Findings = field(default_factory=Findings)


def final_mixes(
    catalogue: Catalogue,
    settings: Mapping[str, Any],
    sequence: UpdateSequence,
    paper: Mapping[str, Mix],
) -> FinalMixes:
    """Propose from every swarm, walk the chain, and compare with the paper's columns."""
    result = FinalMixes()
    found = {name: catalogue.get(name) for name in catalogue.found}
    swarms = {name: swarm for name, swarm in found.items() if swarm is not None}
    for name, swarm in swarms.items():
        request = request_of(swarm, settings["final"])
        result.estimates[name] = estimate(swarm, request, settings["bootstrap"])
        result.swarms.append(_summary(name, swarm, result.estimates[name]))
    stages = {
        entry["stage"]: swarms[name]
        for name, entry in settings["swarms"].items()
        if "stage" in entry and name in swarms
    }
    chain = result.chain = run_chain(sequence, stages, settings["final"])
    _check_paper(result.findings, sequence.stages()[-1].domains, paper, settings["final"])
    _compare_initial(result, paper)
    _compare_full(result, paper)
    _compare_pdf(result, paper)
    _compare_chain(result, chain, paper)
    _find_coupling(result, chain, swarms, stages, sequence)
    return result


def _summary(name: str, swarm: ReleasedSwarm, made: MixEstimate) -> dict[str, Any]:
    """One row about a swarm: its size, its fit on held-out runs, its proposal."""
    table, proposal = swarm.table, made.proposal
    row: dict[str, Any] = {
        "swarm": name,
        "runs": len(table),
        "domains": len(table.domains),
        "tasks": len(table.tasks),
        "solver": proposal.solver["name"],
        "predicted_bpb": proposal.average,
        "distance_from_prior": proposal.mix.total_variation(swarm.prior),
        "weights_at_their_cap": len(proposal.active_caps),
    }
    if made.surrogate is not None and made.spread is not None:
        at_prior = float(made.surrogate.average(swarm.prior.weights[None])[0])
        low, high = made.spread.gain_interval()
        held_out = max(2, len(table) // 6)
        fit = validate(olmix_base(), table, held_out=held_out, seed=0).mean
        row |= {
            "predicted_bpb_of_prior": at_prior,
            "gain_low": low,
            "gain_high": high,
            "held_out_runs": held_out,
            "held_out_fit": fit,
        }
    return row


def _check_paper(
    found: Findings, domains: DomainSet, paper: Mapping[str, Mix], settings: Mapping[str, Any]
) -> None:
    """Check the paper's table of mixes against its own token counts, caps and text."""
    natural = paper["natural"]
    found.add("natural_tokens", natural.total_variation(domains.natural()))
    partial, full = paper[PARTIAL], paper[FULL]
    note = "from the paper's table; the text's number is not the distance its definition gives"
    found.add("text_tv_full", partial.total_variation(full), note)
    found.add("text_tv_natural", partial.total_variation(natural), note)
    caps = domains.caps(settings["repetition"], settings["requested"])
    above, at = 0, []
    for mix in (full, partial):
        weights = mix.aligned(domains.names).weights
        # Six decimals of a weight.
        above += int((weights > caps + 1e-6).sum())
        at += [n for n, w, cap in zip(domains.names, weights, caps, strict=True) if w > cap - 1e-6]
    found.add("caps_met", above, f"at their cap: {', '.join(dict.fromkeys(at))}")


def _distance(
    result: FinalMixes, name: str, frame: pd.DataFrame, paper: Mapping[str, Mix], column: str
) -> None:
    """Note how far our mix is from the paper's, beside other mixes and the intervals' verdict."""
    result.compared.append(frame)
    names = frame["domain"].tolist()
    distance = 0.5 * frame["difference"].abs().sum()
    target = paper[column].restricted(names)
    away = {
        other.replace("_", " "): mix.restricted(names).total_variation(target)
        for other, mix in paper.items()
        if other != column
    }
    note = ", ".join(f"{other} is {far:.3f} away" for other, far in away.items())
    if frame["inside"].notna().all():
        inside = int(frame["inside"].sum())
        note += f"; {inside} of {len(frame)} weights of the paper inside our bootstrap intervals"
    result.findings.add(name, float(distance), note)


def _compare_initial(result: FinalMixes, paper: Mapping[str, Mix]) -> None:
    if "dclm" not in result.estimates:
        result.findings.lacks(["mix_initial"], "the DCLM swarm is missing")
        return
    made = result.estimates["dclm"]
    names = [name for name in made.proposal.mix.names if name != RECOMPUTED]
    frame = compare_mixes("initial topics, partial reuse", made, paper[PARTIAL], names)
    _distance(result, "mix_initial", frame, paper, PARTIAL)


def _compare_full(result: FinalMixes, paper: Mapping[str, Mix]) -> None:
    if FULL not in result.estimates:
        result.findings.lacks([f"mix_{FULL}"], "the full-recomputation swarm is missing")
        return
    names = list(paper[FULL].names)
    frame = compare_mixes("full recomputation", result.estimates[FULL], paper[FULL], names)
    _distance(result, f"mix_{FULL}", frame, paper, FULL)


def _compare_pdf(result: FinalMixes, paper: Mapping[str, Mix]) -> None:
    if "update5" not in result.estimates:
        result.findings.lacks(["mix_pdf", "pdf_share"], "the swarm of the last update is missing")
        return
    made = result.estimates["update5"]
    names = [name for name in made.proposal.mix.names if name.startswith("pdf:")]
    frame = compare_mixes("PDF topics, partial reuse", made, paper[PARTIAL], names)
    _distance(result, "mix_pdf", frame, paper, PARTIAL)
    share = sum(made.proposal.mix[name] for name in names)
    theirs = [sum(paper[column][name] for name in names) for column in (FULL, PARTIAL)]
    result.findings.add(
        "pdf_share",
        share,
        "full reuse (one virtual domain) beside partial reuse (sources apart): alike, not the "
        f"same; in the paper full recomputation has {theirs[0]:.3f}, partial reuse {theirs[1]:.3f}",
    )


def _compare_chain(result: FinalMixes, chain: ReleasedChain, paper: Mapping[str, Mix]) -> None:
    if chain.stopped or chain.mix is None:
        result.findings.lacks(["mix_chain"], f"the chain stops before {chain.stopped}")
        return
    names = list(paper[PARTIAL].names)
    frame = compare_mixes("end of the chain, partial reuse", chain.mix, paper[PARTIAL], names)
    _distance(result, "mix_chain", frame, paper, PARTIAL)


def _find_coupling(
    result: FinalMixes,
    chain: ReleasedChain,
    swarms: Mapping[str, ReleasedSwarm],
    stages: Mapping[str, ReleasedSwarm],
    sequence: UpdateSequence,
) -> None:
    """Find the most coupled topic; κ needs coefficients of DCLM and of Stack-Edu in one law."""
    first = sequence.steps[0].name
    full = result.estimates.get(FULL)
    if full is not None and full.surrogate is not None:
        law, source = full.surrogate, "the full-recomputation swarm"
    elif INITIAL in stages and first in stages:
        mix = chain.proposals[INITIAL].mix
        law = olmix_base().fit(joined_first_update(stages[INITIAL], stages[first], sequence, mix))
        source = "initial and first update's runs together, expanded by our initial mix"
    else:
        why = "no swarm here has both DCLM topics and Stack-Edu languages"
        result.findings.lacks(["kappa_largest"], why)
        return
    before, result.kappa = coupling_by_topic(law)
    first_two = result.kappa.iloc[:2]
    listed = ", ".join(f"{row.domain} -{row.share:.1%}" for row in first_two.itertuples())
    result.findings.add(
        "kappa_largest", result.kappa["domain"].iloc[0], f"kappa {before:.1f}; {listed}; {source}"
    )
