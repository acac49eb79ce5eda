"""Whole mixing methods side by side: BPB of what each proposes against the runs it took (§3.2)."""

import pandas as pd

from olmix.questions.answer import Answer, QuestionData

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Target BPB, proxy runs and the seven choices of each method; the natural mix beside them."""
    target = data.planned["target"]
    measured, errors = data.averages(target), data.errors(target)
    natural = next(iter(data.averages(data.planned["natural"]).values()))
    rows = []
    for method in data.planned["methods"]:
        choices = dict(method)
        name, label = choices.pop("name"), choices.pop("label")
        proposal = data.proposal("methods", name)
        rows.append(
            {
                "method": name,
                "label": label,
                "proxy_runs": len(data.table(data.planned["swarms"][name])),
                "target_bpb": measured[name],
                "target_error": errors[name],
                "below_natural": natural - measured[name],
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
            "labels": table["label"].to_dict(),
            "lowest_target_bpb": table["target_bpb"].idxmin(),
            "target_bpb": table["target_bpb"].to_dict(),
            "below_natural": table["below_natural"].to_dict(),
            "proxy_runs": table["proxy_runs"].to_dict(),
        }
    )
