"""RQ3: sparse or dense swarms; natural, strong or weak prior; held-out mixes around both optima."""

from olmix.study.plan import SOURCES, TOPICS, Plan
from olmix.study.question import Question
from olmix.study.spec import MixesSpec, Reads

__all__ = ["DISTRIBUTIONS", "LEVELS", "PRIORS", "QUESTION", "proposal_name", "swarm_name"]

LEVELS = {"topics": TOPICS, "sources": SOURCES}
DISTRIBUTIONS = ("sparse", "dense")
PRIORS = ("natural", "strong", "weak")
_MAIN = {"topics": "sparse", "sources": "dense"}


def swarm_name(level: str, distribution: str) -> str:
    """The swarm of a distribution; one of each level is the main swarm that questions share."""
    return level if distribution == _MAIN[level] else f"{level}-{distribution}"


def proposal_name(level: str, distribution: str) -> str:
    """OlmixBase's proposal from a swarm of a distribution."""
    return f"{level}-{distribution}"


def plan(study: Plan) -> Reads:
    """A swarm per level and distribution, two around other priors, and what each proposes."""
    swarms = {
        ("topics", "sparse"): study.topics(),
        ("topics", "dense"): _other(study, "topics", "dense"),
        ("sources", "sparse"): _other(study, "sources", "sparse"),
        ("sources", "dense"): study.sources(),
    }
    # The weak prior maximises BPB, which takes a search (App. RQ3).
    weak = study.olmix_base("weak", study.topics(), proposer="search", kl=0.0, maximise=True)
    compared = [study.olmix_base(proposal_name(*key), swarm) for key, swarm in swarms.items()]
    study.propose("rq3", [*compared, weak])
    tests = {key: _around(study, *key) for key in swarms}
    centred = {
        "strong": _centred(study, "strong", proposal_name("topics", "sparse")),
        "weak": _centred(study, "weak", weak.name),
    }
    study.propose("rq3-priors", [study.olmix_base(*named) for named in centred.items()])
    targets = study.train_targets("rq3", [proposal.name for proposal in compared])
    prior_targets = study.train_targets("rq3-priors")
    return Reads(
        studies=["rq3", "rq3-priors"],
        swarms=[
            *swarms.values(), *centred.values(), *tests.values(), *targets, *prior_targets
        ],
        planned={
            "swarms": _by_level(swarms),
            "around": _by_level(tests),
            "priors": {"natural": study.topics(), **centred},
            "target": targets,
            "prior_target": prior_targets,
        },
    )  # fmt: skip


def _other(study: Plan, level: str, kind: str) -> str:
    """The swarm of the distribution that is not the level's main one."""
    size = study.scale["swarm_sizes"][level]
    return study.sample(MixesSpec(swarm_name(level, kind), LEVELS[level], size, kind=kind, seed=3))


def _around(study: Plan, level: str, kind: str) -> str:
    """Held-out mixes around the optimum of a level and distribution."""
    centre = proposal_name(level, kind)
    return study.sample(
        MixesSpec(
            f"rq3-around-{centre}", LEVELS[level], study.scale["rq3"]["held_out"], kind="dense",
            prior=("rq3", centre), seed=4,
        )
    )  # fmt: skip


def _centred(study: Plan, prior: str, proposal: str) -> str:
    """A sparse swarm around a proposal instead of the natural mix."""
    size = study.scale["swarm_sizes"]["topics"]
    return study.sample(MixesSpec(f"topics-{prior}", TOPICS, size, prior=("rq3", proposal), seed=5))


def _by_level(swarms: dict[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    return {level: {kind: swarms[level, kind] for kind in DISTRIBUTIONS} for level in LEVELS}


QUESTION = Question(
    title="RQ3 Which swarm distribution?",
    doing="Answering RQ3: from which distribution to sample a swarm",
    place=6,
    plan=plan,
    tables=("swarm_distribution", "dirichlet_priors", "fit_by_task", "fit_resampled"),
    settings=("rq3",),
)
