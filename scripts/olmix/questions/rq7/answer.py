"""RQ7: exact, exact with a KL term, or search? (§3.3; App. RQ7)."""

import pandas as pd

from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq7.plan import LEVELS, proposal_name

__all__ = ["answer"]


def answer(data: QuestionData, result: Answer) -> None:
    """Measured (target) and predicted (proxy) BPB of each solver's mix, at both levels."""
    target = data.planned["target"]
    measured, errors = data.averages(target), data.errors(target)
    rows = []
    for level in LEVELS:
        for solver in data.planned["solvers"]:
            name = proposal_name(level, solver)
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
