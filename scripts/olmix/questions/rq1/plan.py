"""RQ1: proxy sizes against the target, all on the same mixes and with the same data seeds."""

from olmix.study.plan import TARGET, TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["QUESTION"]


def plan(study: Plan) -> Reads:
    """Train the same mixes at every proxy size and at the target's."""
    settings, proxy = study.scale["rq1"], study.scale.proxy
    mixes = study.sample(MixesSpec("rq1", TOPICS, settings["mixes"], seed=1))
    sizes = {
        size: mixes if size == proxy else study.train_on(mixes, size) for size in settings["models"]
    }
    target = study.train_on(mixes, TARGET)
    return Reads(
        swarms=[mixes, *sizes.values(), target],
        planned={
            "sizes": sizes,
            "target": target,
            "shapes": {name: study.scale.model(name)["shape"] for name in (*sizes, TARGET)},
        },
    )


QUESTION = Question(
    title="RQ1 How small can a proxy be?",
    doing="Answering RQ1: how small a proxy may be",
    place=4,
    plan=plan,
    tables=("proxy_size", "correlations"),
    settings=("rq1",),
    needs={"rq1": "models of other sizes", "proxy_size": "models of other sizes"},
)
