"""Each update operator alone: full mixture reuse and natural beside full recomputation (App. D)."""

from olmix.study.chain import chains
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.single_updates import MULTIPLIER, TIGHT, follow_alone, told
from olmix.study.spec import Reads
from olmix.updates.strategies import FULL_MIXTURE_REUSE, FULL_RECOMPUTATION

__all__ = ["QUESTION"]


def plan(study: Plan) -> Reads:
    """An update per operator, as the scale names them; R tight, as in the paper."""
    compared = (FULL_RECOMPUTATION, FULL_MIXTURE_REUSE)
    updates, left_out = {}, {}
    for operator, name in study.scale["single_updates"]["operators"].items():
        if name is None:
            left_out[operator] = "the scale leaves it out"
            continue
        lacking = study.lacks(study.single_update(name))
        if lacking:
            left_out[operator] = lacking
            continue
        update = follow_alone(
            study, name, chains(compared, [MULTIPLIER], TIGHT, study.scale.seeds()), natural=True
        )
        updates[operator] = told(update)
    return Reads(
        swarms=[update["target"] for update in updates.values()],
        stages=[tuple(update["at"]) for update in updates.values()],
        planned={"operators": updates, "left_out": left_out},
    )


QUESTION = Question(
    title="Each update operator alone",
    doing="Comparing each kind of update alone with full recomputation",
    place=2,
    plan=plan,
    tables=("operators",),
    settings=("single_updates",),
)
