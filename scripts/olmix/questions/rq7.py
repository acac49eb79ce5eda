"""RQ7: exact, exact with KL 0.01 and 0.05, or search? (§3.3; App. RQ7)."""

import pandas as pd

from olmix.questions.answer import Answer, QuestionData

__all__ = ["SOLVERS", "answer"]

SOLVERS = ("exact", "kl-0.01", "kl-0.05", "search")
LEVELS = ("topics", "sources")


def answer(data: QuestionData, result: Answer) -> None:
    """Measured (target) and predicted (proxy) BPB of each solver's mix, at both levels."""
    measured, errors = data.averages("rq7-target"), data.errors("rq7-target")
    rows = []
    for level in LEVELS:
        for solver in SOLVERS:
            name = f"{level}-{solver}"
            rows.append(
                {
                    "level": level,
                    "solver": solver,
                    "measured_bpb": measured[name],
                    "measured_error": errors[name],
                    "predicted_bpb": data.proposal("rq7", name)["average"],
                }
            )
    frame = pd.DataFrame(rows)
    result.table("solvers", frame)
    summary = {}
    for level, part in frame.groupby("level", sort=False):
        part = part.set_index("solver")
        summary[level] = {
            "lowest_predicted": part["predicted_bpb"].idxmin(),
            "lowest_measured": part["measured_bpb"].idxmin(),
            "measured_bpb": part["measured_bpb"].to_dict(),
            "predicted_bpb": part["predicted_bpb"].to_dict(),
        }
    result.finish(summary)
