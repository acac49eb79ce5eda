"""Whole mixing methods side by side: gain over natural against cost (§3.2)."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from olmix.corpus.store import Corpus
from olmix.files import read_json
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.methods.plan import NATURAL
from olmix.study.steered_runs import unstored

__all__ = ["answer", "gain_interval"]

_CONFIDENCE = 0.95


def answer(data: QuestionData, result: Answer) -> None:
    """Target BPB, gain and cost of every method; the gain of ours in rounds and at once."""
    measured = _measured(data)
    rows = [*_method_rows(data), *_system_rows(data)]
    for row in rows:
        row |= _gain(measured, row["method"])
    frame = pd.DataFrame(rows)
    result.table("methods", frame)
    result.table("rounds", _rounds(data, measured))
    table = frame.set_index("method")
    result.finish(
        {
            "labels": table["label"].to_dict(),
            "left_out": data.planned["left_out"],
            "largest_gain": table["gain"].idxmax(),
            "gain": table["gain"].to_dict(),
            "gain_low": _plain(table["gain_low"]),
            "gain_high": _plain(table["gain_high"]),
            "target_bpb": table["target_bpb"].to_dict(),
            "proxy_runs": table["proxy_runs"].to_dict(),
        }
    )


def gain_interval(gains: np.ndarray) -> tuple[float, float]:
    """The 95 % Student interval of a mean; not a number where nothing was repeated."""
    from scipy.stats import t

    if len(gains) < 2:
        return np.nan, np.nan
    half = t.ppf(0.5 + _CONFIDENCE / 2, len(gains) - 1) * gains.std(ddof=1) / len(gains) ** 0.5
    return float(gains.mean() - half), float(gains.mean() + half)


def _measured(data: QuestionData) -> dict[str, np.ndarray]:
    """Target BPB of every mix, or steered system, in each repetition; the orders of data agree."""
    found: dict[str, list[float]] = {}
    for swarm in (*data.planned["targets"], *data.planned["answers"]):
        for name, bpb in data.averages(swarm).items():
            found.setdefault(name, []).append(bpb)
    for name, swarm in data.planned["online"].items():
        found[name] = list(data.averages(swarm).values())
    return {name: np.array(values) for name, values in found.items()}


def _gain(measured: Mapping[str, np.ndarray], name: str) -> dict[str, float]:
    """BPB, and the gain over natural in per cent of natural's, repetition by repetition."""
    bpb, natural = measured[name], measured[NATURAL]
    gains = 100 * (natural - bpb) / natural
    low, high = gain_interval(gains)
    return {
        "target_bpb": float(bpb.mean()),
        "repeats": len(bpb),
        "gain": float(gains.mean()),
        "gain_low": low,
        "gain_high": high,
    }


def _method_rows(data: QuestionData) -> Iterable[dict[str, Any]]:
    """Methods of seven choices: label, cost, what their proposals repeat."""
    for choices in data.planned["methods"]:
        proposal = data.proposal("methods", choices["name"])
        yield {
            "method": choices["name"],
            "label": choices["label"],
            "way": "one swarm",
            **data.planned["costs"][choices["name"]],
            "largest_repetition": max(proposal["repetition"].values()),
            "repetition_constraint": choices["repetition_constraint"],
        }


def _system_rows(data: QuestionData) -> Iterable[dict[str, Any]]:
    """Systems that are algorithms; rounds cost the runs that they really asked for."""
    for system in data.planned["systems"]:
        name, cost = system["name"], dict(data.planned["costs"][system["name"]])
        if name in data.planned["online"]:
            repeated = _read_most_often(data, data.planned["online"][name])
        else:
            proposal = data.proposal("systems", name)
            repeated = max(proposal["repetition"].values())
            if "runs" in proposal["made_from"]:
                cost |= _spent(data, proposal["made_from"]["runs"])
        yield {
            "method": name,
            "label": system["label"],
            "way": system["way"],
            **cost,
            "largest_repetition": repeated,
            "repetition_constraint": system["repetition_constraint"],
        }


def _spent(data: QuestionData, runs: Mapping[str, int]) -> dict[str, float]:
    """The cost of so many runs of each model."""
    each = data.planned["run_costs"]
    return {
        key: sum(count * each[model][key] for model, count in runs.items())
        for key in ("runs", "tokens", "proxy_runs")
    }


def _read_most_often(data: QuestionData, swarm: str) -> float:
    """How often a steered run's most repeated domain would be read in R tokens of its mixes."""
    domains, requested = data.sequence.initial, data.settings["requested_tokens"]["tight"]
    stored, most = Corpus.open(data.data / "corpus").token_counts, []
    for folder in data.runs[swarm].values():
        mix = unstored(read_json(folder / "run.json")["mix"]["realised"], domains, stored)
        most.append(float((mix.weights * requested / domains.tokens).max()))
    return float(np.mean(most))


def _rounds(data: QuestionData, measured: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Ours in rounds and OlmixBase at once: gain against the runs each was given."""
    rows = []
    for approach, answers in data.planned["curve"].items():
        for runs, name in answers.items():
            spent = int(runs)
            if approach == "rounds":
                spent = sum(data.proposal("systems", name)["made_from"]["runs"].values())
            rows.append({"approach": approach, "runs": spent, **_gain(measured, name)})
    return pd.DataFrame(rows)


def _plain(column: pd.Series) -> dict[str, float | None]:
    """Numbers for JSON, which has no NaN."""
    return {str(name): None if np.isnan(value) else value for name, value in column.items()}
