"""What each question of §3.3 samples, trains and proposes: `plan_questions` builds the whole plan.

A function per question, in the paper's order. Swarms are shared by name: ``topics`` is the sparse
swarm over the initial domains that most questions fit, ``sources`` the dense one over sources.
"""

from collections.abc import Iterable
from dataclasses import replace

from olmix.study.scale import Scale
from olmix.study.spec import MixesSpec, Plan, ProposalSpec, SpaceSpec

__all__ = ["FAMILY_SOLVERS", "NOISE_MIXES", "plan_questions"]

TARGET = "target"
TOPICS = SpaceSpec()
SOURCES = SpaceSpec(stage="final", split="sources")

# The solver the paper settles on for each regression family (App. RQ4).
FAMILY_SOLVERS = {
    "log_linear": {"proposer": "exact", "kl": 0.05},
    "bimix": {"proposer": "search", "kl": 0.0},
    "autoscale": {"proposer": "exact", "kl": 0.0},
    "lightgbm": {"proposer": "search", "kl": 0.0},
    "gaussian_process": {"proposer": "search", "kl": 0.0},
    "search": {"proposer": "best_run", "kl": 0.0},
}


# The mixes whose run-to-run noise is measured.
NOISE_MIXES = ("natural", "olmix_base")


def plan_questions(scale: Scale) -> Plan:
    """The plan of RQ1 to RQ7 at a scale, and of the noise they are judged by."""
    plan = Plan()
    for question in (_rq1, _rq2, _rq3, _rq4, _rq5, _rq6, _rq7, _noise):
        question(plan, scale)
    return plan


def _topics(plan: Plan, scale: Scale) -> str:
    """The main swarm: sparse, over topics."""
    return plan.sample(MixesSpec("topics", TOPICS, scale["swarm_sizes"]["topics"]), scale.proxy)


def _sources(plan: Plan, scale: Scale) -> str:
    """The main swarm over sources: dense."""
    size = scale["swarm_sizes"]["sources"]
    return plan.sample(MixesSpec("sources", SOURCES, size, kind="dense"), scale.proxy)


def _targets(plan: Plan, scale: Scale, study: str, only: Iterable[str] | None = None) -> list[str]:
    """The target runs of a study's proposals, repeated as often as the scale says."""
    name, repeats = f"{study}-target", scale["target_repeats"]
    return plan.train_proposals(study, TARGET, name, only, repeats=repeats)


def _rq1(plan: Plan, scale: Scale) -> None:
    """Proxy sizes against the target, all on the same mixes and with the same data seeds."""
    settings = scale["rq1"]
    mixes = plan.sample(MixesSpec("rq1", TOPICS, settings["mixes"], seed=1), scale.proxy)
    sizes = [name for name in settings["models"] if name != scale.proxy]
    swarms = [plan.train_on(mixes, model, f"rq1-{model}") for model in [*sizes, TARGET]]
    plan.question("rq1", studies=(), swarms=[mixes, *swarms])


def _rq2(plan: Plan, scale: Scale) -> None:
    """Swarm size c(m+1) for several m: proposals by search and without caps, as the paper did."""
    settings = scale["rq2"]
    counts = settings["domains"]
    pools = {}
    for m in counts:
        if m == max(counts):
            pools[m] = _topics(plan, scale)
            continue
        size = settings["pool_multiplier"] * (m + 1)
        space = replace(TOPICS, largest=m)
        pools[m] = plan.sample(MixesSpec(f"topics-{m}", space, size, seed=2), scale.proxy)
    proposals = [
        ProposalSpec(
            f"m{m}-c{c}-seed{seed}", pools[m], runs=c * (m + 1), seed=seed,
            proposer="search", kl=0.0, repetition=None,
        )
        for m in counts for c in settings["multipliers"] for seed in scale.seeds()
    ]  # fmt: skip
    plan.propose("rq2", proposals)
    at_target = [
        f"m{m}-c{c}-seed{seed}"
        for m in (min(counts), max(counts))
        for c in settings["target_multipliers"]
        for seed in scale.seeds()
    ]
    proxies = plan.train_proposals("rq2", scale.proxy, "rq2-proxy")
    targets = plan.train_proposals("rq2", TARGET, "rq2-target", at_target)
    plan.question("rq2", studies=["rq2"], swarms=[*proxies, *targets])


def _rq3(plan: Plan, scale: Scale) -> None:
    """Sparse or dense; natural, strong or weak prior; held-out mixes around both optima."""
    held_out, sizes = scale["rq3"]["held_out"], scale["swarm_sizes"]
    swarms = {
        "topics-sparse": _topics(plan, scale),
        "topics-dense": plan.sample(
            MixesSpec("topics-dense", TOPICS, sizes["topics"], kind="dense", seed=3), scale.proxy
        ),
        "sources-sparse": plan.sample(
            MixesSpec("sources-sparse", SOURCES, sizes["sources"], seed=3), scale.proxy
        ),
        "sources-dense": _sources(plan, scale),
    }
    # The weak prior maximises BPB, which takes a search (App. RQ3).
    weak = ProposalSpec("weak", "topics", proposer="search", kl=0.0, maximise=True)
    plan.propose("rq3", [*(ProposalSpec(name, swarm) for name, swarm in swarms.items()), weak])
    tests = [
        plan.sample(
            MixesSpec(
                f"rq3-around-{name}", SOURCES if name.startswith("sources") else TOPICS, held_out,
                kind="dense", prior=f"rq3/{name}", seed=4,
            ),
            scale.proxy,
        )
        for name in swarms
    ]  # fmt: skip
    centred = {
        prior: plan.sample(
            MixesSpec(f"topics-{prior}", TOPICS, sizes["topics"], prior=f"rq3/{source}", seed=5),
            scale.proxy,
        )
        for prior, source in (("strong", "topics-sparse"), ("weak", "weak"))
    }
    plan.propose("rq3-priors", [ProposalSpec(prior, swarm) for prior, swarm in centred.items()])
    targets = _targets(plan, scale, "rq3", swarms) + _targets(plan, scale, "rq3-priors")
    plan.question(
        "rq3",
        studies=["rq3", "rq3-priors"],
        swarms=[*swarms.values(), *centred.values(), *tests, *targets],
    )


def _rq4(plan: Plan, scale: Scale) -> None:
    """Six regression families: fit, downstream BPB, both levels; BiMix and AutoScale's solvers."""
    swarms = {"topics": _topics(plan, scale), "sources": _sources(plan, scale)}
    proposals = [
        ProposalSpec(f"{level}-{family}", swarm, regressor=family, **solver)
        for level, swarm in swarms.items()
        for family, solver in FAMILY_SOLVERS.items()
    ]
    solvers = {
        "exact": {"proposer": "exact", "kl": 0.0},
        "exact-kl": {"proposer": "exact", "kl": 0.05},
        "search": {"proposer": "search", "kl": 0.0},
    }
    # The solver a family uses above is one of the three: train only the other two.
    for family in ("bimix", "autoscale"):
        proposals += [
            ProposalSpec(f"topics-{family}-{name}", "topics", regressor=family, **solver)
            for name, solver in solvers.items()
            if solver != FAMILY_SOLVERS[family]
        ]
    plan.propose("rq4", proposals)
    targets = _targets(plan, scale, "rq4")
    pools = [f"topics-{m}" for m in scale["rq2"]["domains"] if m != max(scale["rq2"]["domains"])]
    plan.question("rq4", studies=["rq4"], swarms=[*swarms.values(), *pools, *targets])


def _rq5(plan: Plan, scale: Scale) -> None:
    """Granularity per task, per family, aggregated; held-out mixes around each proposal."""
    swarm = _topics(plan, scale)
    granularities = ("task", "family", "aggregated")
    plan.propose("rq5", [ProposalSpec(g, swarm, granularity=g) for g in granularities])
    tests = [
        plan.sample(
            MixesSpec(
                f"rq5-around-{g}", TOPICS, scale["rq5"]["held_out"], kind="dense",
                prior=f"rq5/{g}", seed=6,
            ),
            scale.proxy,
        )
        for g in granularities
    ]  # fmt: skip
    runs = plan.train_proposals("rq5", scale.proxy, "rq5-proxy") + _targets(plan, scale, "rq5")
    plan.question("rq5", studies=["rq5"], swarms=[swarm, *tests, *runs])


def _rq6(plan: Plan, scale: Scale) -> None:
    """Where to enforce the repetition factor, and what it does to the mix."""
    swarm, k = _topics(plan, scale), scale["repetition"]
    capped = plan.sample(
        MixesSpec("topics-capped", TOPICS, scale["swarm_sizes"]["capped"], capped=True, seed=7),
        scale.proxy,
    )
    approaches = [
        ProposalSpec("constrained-swarm", capped, repetition=None),
        ProposalSpec("constrained-optimization", swarm, repetition=k),
        ProposalSpec("constrained-both", capped, repetition=k),
    ]
    factors = [
        ProposalSpec(f"k{factor}", swarm, repetition=None if factor == "inf" else float(factor))
        for factor in scale["rq6"]["factors"]
    ]
    plan.propose("rq6", [*approaches, *factors])
    targets = _targets(plan, scale, "rq6", [a.name for a in approaches])
    plan.question("rq6", studies=["rq6"], swarms=[swarm, capped, *targets])


def _rq7(plan: Plan, scale: Scale) -> None:
    """Exact, exact with two KL weights, search; topics and sources."""
    swarms = {"topics": _topics(plan, scale), "sources": _sources(plan, scale)}
    solvers = {
        "exact": {"kl": 0.0},
        "kl-0.01": {"kl": 0.01},
        "kl-0.05": {"kl": 0.05},
        "search": {"kl": 0.0, "proposer": "search"},
    }
    plan.propose(
        "rq7",
        [
            ProposalSpec(f"{level}-{name}", swarm, **solver)
            for level, swarm in swarms.items()
            for name, solver in solvers.items()
        ],
    )
    targets = _targets(plan, scale, "rq7")
    plan.question("rq7", studies=["rq7"], swarms=[*swarms.values(), *targets])


def _noise(plan: Plan, scale: Scale) -> None:
    """The natural mix and OlmixBase's, each trained with several data seeds: how much runs vary."""
    settings = scale["noise"]
    plan.propose("noise", [ProposalSpec("olmix_base", _topics(plan, scale))])
    swarms = []
    for mix in NOISE_MIXES:
        prior = None if mix == "natural" else f"noise/{mix}"
        spec = MixesSpec(
            f"noise-{mix}", TOPICS, settings["seeds"], kind="fixed", prior=prior, seed=8
        )
        swarms.append(plan.sample(spec, scale.proxy))
        if mix in settings["target"]:
            swarms.append(plan.train_on(spec.name, TARGET, f"{spec.name}-target"))
    plan.question("noise", studies=["noise"], swarms=swarms)
