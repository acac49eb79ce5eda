"""Methods in rounds on known laws: what they ask for, and the regret they end with."""

from dataclasses import replace

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.simulated import propose_simulated
from olmix.regressors.surrogate import fit_surrogate
from olmix.simulation.law import random_law
from olmix.study.proposals import olmix_base
from olmix.swarm.sampling import sample_swarm
from olmix.swarm.tempered import tempered_dirichlet
from olmix.systems import with_settings
from olmix.systems.climb import _BOOSTED
from olmix.systems.disagreement import most_disputed
from olmix.systems.kinds.rounds import Done, round_sizes
from olmix.tables import SwarmTable

SIZES = [800, 640, 420, 400, 300, 160, 160, 120]
DOMAINS = DomainSet.from_token_counts({f"web:{i}": 1000 * s for i, s in enumerate(SIZES)})
TASKS = tuple(f"task{number}" for number in range(15))


class Diminishing:
    """A law that is none of ours: the more there is of a domain already, the less more helps."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.help = rng.gamma(0.6, 1.0, (len(TASKS), len(SIZES)))
        self.constants = rng.uniform(0.8, 2.2, len(TASKS))
        self.scale = rng.uniform(0.5, 1.5, len(TASKS))

    def bpb(self, mixes):
        mixes = np.atleast_2d(mixes)
        return self.constants + self.scale * np.exp(-(mixes / (mixes + 0.15)) @ self.help.T)

    def run_swarm(self, mixes, runs, seed):
        noise = 0.03 * np.random.default_rng(seed).normal(size=(len(mixes), len(TASKS)))
        return SwarmTable(tuple(runs), DOMAINS.names, mixes, TASKS, self.bpb(mixes) + noise)


def add(one: Done | None, swarm: SwarmTable, models: tuple[str, ...]) -> Done:
    if one is None:
        return Done(swarm, models, olmix_base())
    joined = replace(
        one.swarm,
        runs=one.swarm.runs + swarm.runs,
        mixes=np.vstack([one.swarm.mixes, swarm.mixes]),
        metrics=np.vstack([one.swarm.metrics, swarm.metrics]),
    )
    return replace(one, swarm=joined, models=one.models + models)


def play(method, law, request, sizes, seed) -> Done:
    done = None
    for number, size in enumerate(sizes):
        asked = method.ask(done, request, size, seed=100 * seed + number)
        assert asked.mixes.shape == (len(asked.models), len(DOMAINS))
        assert asked.mixes.sum(1) == pytest.approx(np.ones(len(asked.mixes)))
        if not len(asked.mixes):
            break
        runs = [f"{number}-{index}" for index in range(len(asked.mixes))]
        done = add(done, law.run_swarm(asked.mixes, runs, 7919 * seed + number), asked.models)
    return done


def regret(law, request, weights) -> float:
    """The share of the gain over natural that a mix leaves on the table."""
    best = propose_exact(law.surrogate(), replace(request, kl=0.0)).mix.weights
    mixes = np.array([request.prior.weights, best, weights])
    natural, least, found = law.bpb(mixes).mean(1)
    return float((found - least) / (natural - least))


def test_round_sizes():
    assert round_sizes([64 / 21, 32 / 21, 16 / 21], 21) == [64, 32, 16]
    assert round_sizes([0.01, 2], 8) == [1, 16]
    assert round_sizes(101 / 17, 17) == [1] * 101
    assert round_sizes(101 / 17, 17, most_rounds=10) == [11] + [10] * 9
    assert round_sizes(0.1, 4, most_rounds=9) == [1, 1]


# CLIMB


def test_climb_draws_from_the_top_of_its_candidates():
    law = random_law(DOMAINS, TASKS, seed=0, noise=0.02)
    request = Request.for_domains(DOMAINS, kl=0.0)
    climb = with_settings("climb", {"30m": 1.0}, settings={"candidates": 2000})
    done = play(climb, law, request, [24], seed=0)
    asked = climb.ask(done, request, 6, seed=5)
    predicted = fit_surrogate(
        done.swarm, family="lightgbm", granularity="aggregated", settings=_BOOSTED
    )
    candidates = tempered_dirichlet(request.prior.weights, 2000, seed=5)
    top = np.sort(predicted.average(candidates))[127]
    assert (predicted.average(asked.mixes) <= top).all()
    assert asked.models == ("30m",) * 6


@pytest.mark.slow
def test_climb_finds_more_of_the_gain_than_as_many_runs_at_once():
    """42 runs in three rounds leave less than half of the gain, one round of 42 over half."""
    rounds, at_once = [], []
    for seed in range(6):
        law = random_law(DOMAINS, TASKS, seed=seed, noise=0.02)
        request = Request.for_domains(DOMAINS, kl=0.0)
        climb = with_settings("climb", {"30m": 1.0}, settings={"candidates": 20_000})
        done = play(climb, law, request, [24, 12, 6], seed)
        rounds.append(regret(law, request, climb.propose(done, request, seed=seed).mix.weights))
        mixes = tempered_dirichlet(request.prior.weights, 42, seed=seed + 50)
        swarm = law.run_swarm(mixes, list(map(str, range(42))), seed + 999)
        fitted = fit_surrogate(
            swarm, family="lightgbm", granularity="aggregated", settings=_BOOSTED
        )
        once = propose_simulated(fitted, request, seed=seed, candidates=20_000, kept=1)
        at_once.append(regret(law, request, once.mix.weights))
    assert np.mean(rounds) < 0.45
    assert np.mean(at_once) > 0.5


# ADMIRE-BayesOpt


@pytest.mark.slow
def test_admire_beats_twice_as_many_random_runs():
    """12 runs, most of them cheap, come within 0.05 of the pool's best mix; 24 random do not."""
    pytest.importorskip("botorch", reason="ADMIRE-BayesOpt needs BoTorch")
    models, left, random = {"1m": 0.1, "30m": 1.0}, [], []
    pool = tempered_dirichlet(DOMAINS.natural().weights, 128, seed=0)
    for seed in range(2):
        law = random_law(DOMAINS, TASKS, seed=seed, noise=0.02)
        request = Request.for_domains(DOMAINS, kl=0.0)
        admire = with_settings("admire", models, settings={"pool": 128})
        best = min(regret(law, request, mix) for mix in pool)
        done = play(admire, law, request, [1] * 12, seed)
        assert done.models[0] == "1m"
        assert sum(models[name] for name in done.models) <= 12
        # Nothing is trained twice.
        trained = np.column_stack([done.swarm.mixes, [models[name] for name in done.models]])
        assert len(np.unique(np.round(trained, 9), axis=0)) == 12
        found = admire.propose(done, request, seed=seed).mix.weights
        left.append(regret(law, request, found) - best)
        chosen = np.random.default_rng(seed).choice(128, 24, replace=False)
        swarm = law.run_swarm(pool[chosen], list(map(str, range(24))), seed + 99)
        found = admire.propose(Done(swarm, ("30m",) * 24, olmix_base()), request, seed=0)
        random.append(regret(law, request, found.mix.weights) - best)
    assert np.mean(left) < 0.05
    assert np.mean(left) < np.mean(random)


def test_admire_refuses_more_runs_than_its_pool_has():
    pytest.importorskip("botorch", reason="ADMIRE-BayesOpt needs BoTorch")
    admire = with_settings("admire", {"1m": 0.1, "30m": 1.0}, settings={"pool": 4})
    with pytest.raises(OlmixError, match="5 runs asked of a pool of 4 mixes, with 4 left"):
        admire.ask(None, Request.for_domains(DOMAINS), 5, seed=0)


# Ours


def test_most_disputed_by_hand():
    """Of candidates that may be best, the largest disagreement first, then what it leaves open."""
    candidates = np.eye(5)
    predictions = np.array(
        [
            [1.00, 1.10, 1.20, 1.05, 9.0],
            [1.20, 1.10, 1.00, 1.05, 9.0],
        ]
    )
    # Candidate 4 is bad for every law; 0 and 2 are disputed, and are one dispute; 1 and 3 are not.
    chosen = most_disputed(candidates, predictions, 3, near=0.3)
    assert chosen[0] in (0, 2)
    assert 4 not in chosen
    assert len(set(chosen.tolist())) == 3
    # Only what some law holds for best may be chosen.
    assert set(most_disputed(candidates, predictions, 5, near=0.0)) == {0, 2}


def test_rounds_end_when_the_gain_is_known_well_enough():
    law = random_law(DOMAINS, TASKS, seed=1, noise=0.001)
    request = Request.for_domains(DOMAINS)
    ours = with_settings("disagreement", {"30m": 1.0}, settings={"tolerance": 0.05})
    done = play(ours, law, request, [27], seed=0)
    asked = ours.ask(done, request, 6, seed=1)
    assert len(asked.mixes) == 0
    assert "narrow enough" in asked.why
    low, high = ours.gain_interval(done, request, seed=1)
    natural, found = law.bpb(
        np.array([request.prior.weights, ours.propose(done, request, seed=0).mix.weights])
    ).mean(1)
    assert low - 0.01 < (natural - found) / natural < high + 0.01


@pytest.mark.slow
def test_rounds_beat_as_many_runs_at_once_where_no_law_is_true():
    """28 runs in rounds find a better mix than 28 at once, on a law we do not fit."""
    rounds, at_once = [], []
    for seed in range(3):
        law, request = Diminishing(seed), Request.for_domains(DOMAINS, kl=0.01)
        method = olmix_base()
        ours = with_settings("disagreement", {"30m": 1.0}, settings={"tolerance": 0.0})
        done = play(ours, law, request, [10, 6, 6, 6], seed)
        mixes = [ours.propose(done, request, seed=0).mix.weights]
        swarm = sample_swarm(request.prior, 28, seed=seed + 77)
        table = law.run_swarm(swarm.mixes, list(map(str, range(28))), seed + 999)
        mixes.append(method.propose(method.fit(table), table, request).mix.weights)
        found = law.bpb(np.array(mixes)).mean(1)
        rounds.append(found[0])
        at_once.append(found[1])
    assert np.mean(rounds) < np.mean(at_once)
