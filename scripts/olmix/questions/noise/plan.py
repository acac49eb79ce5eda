"""Noise: the natural mix and OlmixBase's, each trained with several data seeds."""

from olmix.study.plan import TARGET, TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["QUESTION"]


def plan(study: Plan) -> Reads:
    """Repeat a mix in every run of a swarm: proxies, and targets of the mixes the scale lists."""
    settings = study.scale["noise"]
    study.propose("noise", [study.olmix_base("olmix_base", study.topics())])
    priors = {"natural": None, "olmix_base": ("noise", "olmix_base")}
    proxies = {
        mix: study.sample(
            MixesSpec(
                f"noise-{mix}", TOPICS, settings["seeds"], kind="fixed", prior=prior, seed=8
            )
        )
        for mix, prior in priors.items()
    }  # fmt: skip
    targets = {mix: study.train_on(proxies[mix], TARGET) for mix in settings["target"]}
    return Reads(
        studies=["noise"],
        swarms=[*proxies.values(), *targets.values()],
        planned={"proxy": proxies, TARGET: targets},
    )


QUESTION = Question(
    title="Noise of single runs",
    doing="Measuring how much runs of one mix differ",
    place=12,
    plan=plan,
    paper=False,
    tables=("runs", "noise"),
    settings=("noise",),
)
