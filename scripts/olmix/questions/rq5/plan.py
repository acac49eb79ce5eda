"""RQ5: granularity per task, per family, aggregated; held-out mixes around each proposal."""

from olmix.study.plan import TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["GRANULARITIES", "QUESTION"]

GRANULARITIES = ("task", "family", "aggregated")


def plan(study: Plan) -> Reads:
    """OlmixBase at each granularity; a proposal is named by it."""
    swarm = study.topics()
    study.propose("rq5", [study.olmix_base(g, swarm, granularity=g) for g in GRANULARITIES])
    held_out = study.scale["rq5"]["held_out"]
    around = {
        g: study.sample(
            MixesSpec(
                f"rq5-around-{g}", TOPICS, held_out, kind="dense", prior=("rq5", g), seed=6
            )
        )
        for g in GRANULARITIES
    }  # fmt: skip
    repeats = study.scale["target_repeats"]
    proxies = study.train_proposals("rq5", study.scale.proxy, repeats=repeats)
    targets = study.train_targets("rq5")
    return Reads(
        studies=["rq5"],
        swarms=[swarm, *around.values(), *proxies, *targets],
        planned={"swarm": swarm, "around": around, "proxy": proxies, "target": targets},
    )


QUESTION = Question(
    title="RQ5 Per task, per family, aggregated?",
    doing="Answering RQ5: at which granularity to fit",
    place=8,
    plan=plan,
    tables=("granularity", "held_out"),
    settings=("rq5",),
)
