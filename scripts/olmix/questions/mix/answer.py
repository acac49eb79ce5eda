"""Which mix of one's own text: the proposal with its intervals, and what target runs say of it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from olmix.files import write_json, write_text
from olmix.presentation.explorer.content import MOST_REPLICATES, Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.presentation.style import save, stamp, style
from olmix.proposers.uncertainty import Bootstrap
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.catalogue import load_questions
from olmix.questions.mix import figures
from olmix.questions.mix.fit import ProposalFit
from olmix.questions.mix.limits import limits, weightless
from olmix.questions.mix.measured import Measured
from olmix.questions.mix.page import mix_page
from olmix.questions.mix.plan import KEPT, NATURAL, PROPOSED, UNIFORM
from olmix.study.proposals import chosen_runs
from olmix.study.space import open_space
from olmix.study.spec import ProposalSpec, SpaceSpec, from_params

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Tables of mix, gains and tasks; what limits the mix; figures, and pages to open."""
    settings, level = data.settings["mix"], data.settings["mix"]["level"]
    study, weights = data.planned["study"], settings["task_weights"]
    proposed = data.proposal(study, PROPOSED)
    fit = _fit(data)
    spread = fit.spread(level) if fit else None
    tables = [data.table(name).weighted(weights) for name in data.planned["targets"]]
    measured = Measured(tables, level)
    others = [mix for mix in (NATURAL, UNIFORM, KEPT) if mix in tables[0].runs]
    mix = _mix_table(data, proposed, fit, spread)
    gains = measured.gains(others)
    result.table("mix", mix)
    result.table("gains", gains)
    result.table("tasks", measured.by_task(others))
    result.table("targets", measured.runs)
    result.table("bpb", measured.by_mix())
    write_json(result.folder / "mix.json", proposed)
    ignored = sorted(set(weights) - set(data.table(data.planned["targets"][0]).tasks))
    summary = {
        "stage": data.settings["stage"]["name"],
        "stages": [stage.name for stage in data.sequence.stages()],
        "mix": dict(zip(mix["domain"], mix["weight"], strict=True)),
        "gains": {row.over: [row.gain, row.low, row.high] for row in gains.itertuples()},
        "level": level,
        "noise_percent": measured.noise,
        "proxy_runs": 0 if fit is None else len(fit.swarm),
        "target_repeats": len(tables),
        "weights_ignored": ignored,
        **_prediction(fit, spread),
        "limits": [*limits(mix, gains, measured, fit, data.settings), *weightless(ignored)],
    }
    result.finish(_plain(summary))
    if fit and spread and fit.law.regressor.terms():
        _write_explorer(data, result, fit, spread)
    _draw(data, result)
    write_text(result.folder / "index.html", mix_page(result.folder))


def _fit(data: QuestionData) -> ProposalFit | None:
    """The law, fitted again; None where an update left nothing to fit."""
    if not data.planned["proposals"]:
        return None
    spec = from_params(ProposalSpec, data.planned["proposals"][0])
    return ProposalFit(
        spec,
        chosen_runs(spec, data.table(spec.swarm)),
        open_space(from_params(SpaceSpec, data.planned["space"]), data.sequence),
        data.families,
        data.settings["requested_tokens"]["tight"],
    )


def _mix_table(
    data: QuestionData,
    proposed: Mapping[str, Any],
    fit: ProposalFit | None,
    spread: Bootstrap | None,
) -> pd.DataFrame:
    """A row per domain: tokens, natural and proposed weight with its interval, cap, times seen."""
    domains = data.sequence.stages()[-1].domains
    natural = domains.natural()
    frame = pd.DataFrame(
        {
            "domain": proposed["domains"],
            "tokens": [domains[name].tokens for name in proposed["domains"]],
            "natural": natural.aligned(proposed["domains"]).weights,
            "weight": proposed["weights"],
            "cap": [proposed["caps"][name] for name in proposed["domains"]],
            "times_seen": [proposed["repetition"][name] for name in proposed["domains"]],
            "at_cap": [name in proposed["active_caps"] for name in proposed["domains"]],
        }
    )
    if fit is None or spread is None:
        return frame.assign(low=math.nan, high=math.nan)
    replicates = spread.weights @ fit.space.expansion
    tail = (1 - spread.level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=0)
    ends = pd.DataFrame({"domain": fit.space.domains.names, "low": low, "high": high})
    return frame.merge(ends, on="domain", validate="one_to_one")


def _prediction(fit: ProposalFit | None, spread: Bootstrap | None) -> dict[str, Any]:
    """What the law predicts, and how well it predicts runs it has not seen."""
    if fit is None or spread is None:
        return {}
    natural = fit.space.collapse(fit.space.domains.natural())
    averages = fit.law.average(np.vstack([natural.weights, fit.proposal.mix.weights]))
    return {
        # In the collapsed space the natural mix has the frozen ratios, too.
        "predicted_over": "the natural mix"
        + (" with the frozen ratios" if fit.space.split.groups else ""),
        "predicted_gain": float(100 * (1 - averages[1] / averages[0])),
        "predicted_gain_interval": [100 * end for end in spread.gain_interval()],
        "held_out_correlation": fit.correlation,
        "lost_to_caps": fit.lost_to_caps,
        "family": fit.law.regressor.family,
    }


def _write_explorer(
    data: QuestionData, result: Answer, fit: ProposalFit, spread: Bootstrap
) -> None:
    """The page on which a reader moves k, R, λ and the weights of tasks."""
    natural = fit.space.collapse(fit.space.domains.natural())
    exploration = Exploration(
        fit.law,
        fit.request(fit.spec.repetition),
        natural,
        None if fit.space.split.groups else fit.space.domains,
        fit.families,
        spread.models[:MOST_REPLICATES],
        spread.level,
        title=f"{data.scale}, stage {data.settings['stage']['name']}",
    )
    write_explorer(result.folder / "explore.html", exploration)


def _draw(data: QuestionData, result: Answer) -> None:
    """The figures beside the tables, for the page; `snakemake figures/mix.pdf` draws them too."""
    for name in load_questions()["mix"].figures:
        with style():
            drawn = getattr(figures, name)(result.folder)
            stamp(drawn, f"scale: {data.scale}")
            save(drawn, result.folder / f"{name}.pdf")


def _plain(value: Any) -> Any:
    """JSON has no NaN: what is not known is null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
