"""Whole mixing methods side by side: BPB of what each proposes against the runs it took (§3.2)."""

from collections.abc import Iterable
from dataclasses import asdict

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.study.methods import MixingMethod

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer, methods: Iterable[MixingMethod]) -> None:
    """Target BPB, proxy runs and the seven choices of each method; the natural mix beside them."""
    measured, errors = data.averages("methods-target"), data.errors("methods-target")
    natural = next(iter(data.averages("natural-topics").values()))
    rows = []
    for method in methods:
        proposal = data.proposal("methods", method.name)
        choices = asdict(method)
        rows.append(
            {
                "method": choices.pop("name"),
                "label": choices.pop("label"),
                "proxy_runs": len(data.table(f"method-{method.name}")),
                "target_bpb": measured[method.name],
                "target_error": errors[method.name],
                "below_natural": natural - measured[method.name],
                "predicted_bpb": proposal["average"],
                "largest_repetition": max(proposal["repetition"].values()),
                **choices,
            }
        )
    frame = pd.DataFrame([*rows, {"method": "natural", "label": "natural", "target_bpb": natural}])
    frame.loc[frame["method"] == "natural", ["proxy_runs", "below_natural"]] = 0
    frame["proxy_runs"] = frame["proxy_runs"].astype(int)
    result.table("methods", frame)
    table = frame.set_index("method")
    result.finish(
        {
            "lowest_target_bpb": table["target_bpb"].idxmin(),
            "target_bpb": table["target_bpb"].to_dict(),
            "below_natural": table["below_natural"].to_dict(),
            "proxy_runs": table["proxy_runs"].to_dict(),
        }
    )
