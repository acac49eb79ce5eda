"""RQ2: swarms of K = c(m+1) runs for several numbers of domains m."""

from olmix.study.plan import TARGET, Plan
from olmix.study.question import Question
from olmix.study.spec import Reads

__all__ = ["QUESTION", "proposal_name"]


def proposal_name(m: int, c: int, seed: int) -> str:
    """The proposal from c(m+1) runs over the m largest topics."""
    return f"m{m}-c{c}-seed{seed}"


def plan(study: Plan) -> Reads:
    """Proposals by search and without caps, as the paper did, measured at both sizes."""
    settings, seeds = study.scale["rq2"], study.scale.seeds()
    counts = settings["domains"]
    pools = {m: study.some_topics(m) for m in counts}
    study.propose(
        "rq2",
        [
            study.olmix_base(
                proposal_name(m, c, seed),
                pools[m],
                runs=c * (m + 1),
                seed=seed,
                proposer="search",
                kl=0.0,
                repetition=None,
            )
            for m in counts
            for c in settings["multipliers"]
            for seed in seeds
        ],
    )
    at_target = [
        proposal_name(m, c, seed)
        for m in (min(counts), max(counts))
        for c in settings["target_multipliers"]
        for seed in seeds
    ]
    proxies = study.train_proposals("rq2", study.scale.proxy)
    targets = study.train_proposals("rq2", TARGET, at_target)
    return Reads(
        studies=["rq2"],
        swarms=[*proxies, *targets],
        planned={"pools": list(pools.items()), "proxy": proxies, "target": targets},
    )


QUESTION = Question(
    title="RQ2 How many proxy runs for m domains?",
    doing="Answering RQ2: how many proxy runs a swarm needs",
    place=5,
    plan=plan,
    tables=(
        "swarm_size",
        "swarm_size_proposals",
        "swarm_size_target",
        "swarm_size_target_proposals",
    ),
    settings=("rq2",),
)
