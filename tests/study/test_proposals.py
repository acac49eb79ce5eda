from dataclasses import replace

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.proposers.exact import propose_exact
from olmix.simulation.law import random_law
from olmix.study.proposals import chosen_runs, fit_proposal, make_proposal
from olmix.study.space import open_space
from olmix.study.spec import ProposalSpec, SpaceSpec
from olmix.updates.sequence import UpdateSequence

DOMAINS = DomainSet.from_token_counts({"web:a": 400, "web:b": 300, "books": 200, "wiki": 100})
LAW = random_law(DOMAINS, [f"t{i}" for i in range(5)], seed=1, noise=0.0)
SEQUENCE = UpdateSequence(DOMAINS, ())
BASE = ProposalSpec(
    "base", "s", regressor="log_linear", granularity="task", proposer="exact", kl=0.05, repetition=4
)


def spec(name: str = "base", **changes) -> ProposalSpec:
    return replace(BASE, name=name, **changes)


@pytest.fixture(scope="module")
def swarm():
    mixes = np.random.default_rng(0).dirichlet(np.ones(4), size=30)
    return LAW.run_swarm(mixes, [f"run{i}" for i in range(30)], 0)


def propose(wanted, swarm, space=SpaceSpec(), requested=1000.0):  # noqa: B008 (frozen)
    return make_proposal(
        wanted, fit_proposal(wanted, swarm, {}), swarm, open_space(space, SEQUENCE), requested
    )


def test_runs_are_drawn_by_the_seed(swarm):
    assert chosen_runs(spec("all"), swarm) is swarm
    ten = chosen_runs(spec("ten", runs=10, seed=1), swarm)
    assert len(set(ten.runs)) == 10
    assert ten.runs == chosen_runs(spec("ten", runs=10, seed=1), swarm).runs
    assert ten.runs != chosen_runs(spec("ten", runs=10, seed=2), swarm).runs
    more = chosen_runs(spec("more", runs=20, seed=1), swarm)
    assert set(ten.runs) < set(more.runs)
    with pytest.raises(OlmixError, match="'big' wants 31 runs, swarm 's' has 30"):
        chosen_runs(spec("big", runs=31), swarm)


def test_a_proposal_is_the_laws_optimum_under_the_caps(swarm):
    proposal = propose(spec(), swarm, requested=2000.0)
    request = open_space(SpaceSpec(), SEQUENCE).request(kl=0.05, repetition=4, requested=2000.0)
    best = propose_exact(LAW.surrogate(), request)
    assert proposal.mix.total_variation(best.mix) < 0.02
    assert (proposal.mix.weights <= 4 * DOMAINS.tokens / 2000 + 1e-9).all()


def test_without_repetition_there_are_no_caps(swarm):
    free = propose(spec("free", repetition=None, kl=0.0), swarm, requested=1e9)
    assert set(free.caps.values()) == {None}
    with pytest.raises(OlmixError, match="caps"):
        propose(spec("capped"), swarm, requested=1e9)


def test_maximise_finds_a_mix_worse_than_natural(swarm):
    worst = propose(spec("weak", maximise=True, kl=0.0), swarm)
    natural = LAW.bpb(DOMAINS.natural().weights).mean()
    assert LAW.bpb(worst.mix.weights).mean() > natural
    # The highest of a convex function is at a corner.
    corners = LAW.bpb(np.eye(4)).mean(1)
    assert worst.mix.weights.argmax() == corners.argmax()


def test_over_sources_the_answer_is_over_domains():
    space = open_space(SpaceSpec(split="sources"), SEQUENCE)
    mixes = np.random.default_rng(1).dirichlet(np.ones(3), size=20)
    swarm = LAW.run_swarm(mixes @ space.expansion, [f"r{i}" for i in range(20)], 0)
    collapsed = type(swarm)(swarm.runs, space.names, mixes, swarm.tasks, swarm.metrics)
    proposal = propose(spec("sources"), collapsed, SpaceSpec(split="sources"))
    assert proposal.mix.names == DOMAINS.names
    assert proposal.mix["web:a"] / proposal.mix["web:b"] == pytest.approx(4 / 3)


def test_the_search_family_answers_with_its_best_run(swarm):
    wanted = spec("search", runs=12, seed=3, regressor="search", proposer="best_run",
                  repetition=None)  # fmt: skip
    proposal, runs = propose(wanted, swarm), chosen_runs(wanted, swarm)
    assert proposal.solver["run"] == runs.runs[runs.metrics.mean(1).argmin()]
