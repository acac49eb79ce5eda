"""Own text: a swarm over its domains, the mix proposed from it, and target runs that check it.

After an update the swarm is over what is recomputed, the frozen domains being one of it.
"""

from dataclasses import replace

from olmix.errors import OlmixError
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.space import open_space
from olmix.study.spec import FixedMixSpec, MixesSpec, ProposalSpec, Reads, SpaceSpec, as_params
from olmix.updates.planning import swarm_size

__all__ = ["KEPT", "NATURAL", "PROPOSED", "QUESTION", "UNIFORM"]

PROPOSED, NATURAL, UNIFORM, KEPT = "proposed", "natural", "uniform", "kept"
_SEED = 70


def plan(study: Plan) -> Reads:
    """The swarm of the stage at hand, its proposal, and the mixes it is compared with."""
    stage, settings = study.scale["stage"], study.scale["mix"]
    if stage["name"] != study.updates.last:
        raise OlmixError(
            f"scale '{study.scale.name}': stage '{stage['name']}', but {study.updates.file} ends "
            f"with '{study.updates.last}': was an update interrupted? Call it again"
        )
    existing = stage["previous"]
    space = SpaceSpec(stage["name"], frozen=tuple(stage["frozen"]), existing=existing)
    name = f"mix-{stage['name']}"
    fixed = [FixedMixSpec(kind, kind, space) for kind in (NATURAL, UNIFORM)]
    if existing is not None:
        fixed.append(FixedMixSpec(KEPT, KEPT, space))
    weights = open_space(space, study.updates.sequence).split.dimension
    proposals, swarms = [], []
    if weights:
        size = swarm_size(weights, settings["multiplier"])
        swarms = [study.sample(MixesSpec(name, space, size, kind="two_level", seed=_SEED))]
        proposals = [_proposal(study, name)]
    else:
        fixed.append(FixedMixSpec(PROPOSED, "reused", space))
    study.propose(name, proposals, fixed)
    targets = study.train_targets(name)
    return Reads(
        studies=[name],
        swarms=[*swarms, *targets],
        planned={
            "study": name,
            "swarms": swarms,
            "targets": targets,
            "space": as_params(space),
            "proposals": [as_params(proposal) for proposal in proposals],
        },
    )


def _proposal(study: Plan, swarm: str) -> ProposalSpec:
    """What the scale's method proposes, with tasks as they count."""
    settings = study.scale["mix"]
    if settings["method"] not in study.methods:
        raise OlmixError(
            f"scale '{study.scale.name}', mix.method: no method '{settings['method']}', expected "
            f"one of {', '.join(study.methods)}"
        )
    proposal = study.methods[settings["method"]].proposal(PROPOSED, swarm, study.scale)
    return replace(proposal, task_weights=dict(settings["task_weights"]))


QUESTION = Question(
    title="Which mix of your text?",
    doing="Answering which mix of your text, and how sure that is",
    place=0,
    plan=plan,
    tables=("mix", "gains", "tasks", "targets", "bpb"),
    settings=("mix", "stage", "models"),
    own_text=True,
)
