from pathlib import Path

import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.updates.operators import Add, Remove, Update
from olmix.updates.planning import RunBatch, additional_runs, swarm_size
from olmix.updates.sequence import Step, UpdateSequence, load_updates
from olmix.updates.strategies import PARTIAL_MIXTURE_REUSE, SWARM_REUSE, strategy_of

PAPER = Path(__file__).resolve().parents[2] / "config/updates/paper.yaml"

# The paper's four cost tables: domains recomputed, then runs for c = 1, 2, 3, stage by stage.
COSTS = {
    "full_recomputation": [
        (24, 25, 32, 64),
        (39, 40, 64, 128),
        (45, 46, 64, 128),
        (45, 46, 64, 128),
        (44, 45, 64, 128),
        (64, 65, 128, 256),
    ],
    "swarm_reuse": [
        (24, 25, 32, 64),
        (39, 15, 32, 64),
        (45, 6, 6, 6),
        (45, 6, 6, 6),
        (44, 5, 5, 5),
        (64, 20, 59, 123),
    ],
    "full_mixture_reuse": [
        (24, 25, 32, 64),
        (16, 17, 32, 64),
        (7, 8, 8, 16),
        (2, 3, 4, 8),
        (0, 0, 0, 0),
        (22, 23, 32, 64),
    ],
}
TOTALS = {
    "full_recomputation": (267, 416, 832),
    "swarm_reuse": (77, 140, 268),
    "full_mixture_reuse": (76, 108, 216),
}


@pytest.mark.parametrize("strategy", COSTS)
@pytest.mark.parametrize("c", [1, 2, 3])
def test_cost_tables_cell_by_cell(strategy, c):
    plans = strategy_of(strategy).plan(load_updates(PAPER), c)
    expected = [(row[0], row[c]) for row in COSTS[strategy]]
    assert [(stage.domains_recomputed, stage.runs) for stage in plans] == expected
    assert sum(stage.runs for stage in plans) == TOTALS[strategy][c - 1]


def test_partial_reuse_cost_table():
    plans = PARTIAL_MIXTURE_REUSE.plan(load_updates(PAPER), 3)
    assert [(stage.domains_recomputed, stage.runs) for stage in plans] == [
        (24, 64), (17, 64), (8, 32), (8, 32), (7, 16), (27, 64)
    ]  # fmt: skip
    assert sum(stage.runs for stage in plans) == 272


def nearest_by_search(number):
    """The nearest power of two, smaller first, found by trying them all."""
    return min((2**e for e in range(40)), key=lambda power: (abs(power - number), power))


@pytest.mark.parametrize("m", [*range(2, 300), 1000, 4095])
def test_swarm_size_against_a_search(m):
    assert swarm_size(m, 1) == m + 1
    assert swarm_size(m, 3) == nearest_by_search(3 * (m + 1))
    assert swarm_size(m, 2) * 2 == swarm_size(m, 3)
    assert swarm_size(m, 4) == 4 * (m + 1)
    # Halving the rounded size never goes below what a log-linear model needs.
    assert swarm_size(m, 2) >= m + 1


def test_nothing_to_weigh_needs_no_runs():
    assert [swarm_size(m, 3) for m in (0, 1)] == [0, 0]


def test_swarm_sizes_between_whole_multipliers_lie_between_theirs():
    # The paper's for 20 domains are 21, 32 and 64 runs.
    assert [swarm_size(20, c) for c in (0.5, 1, 1.5, 2, 2.5, 3)] == [11, 21, 27, 32, 48, 64]
    assert swarm_size(20, 2.0) == swarm_size(20, 2)
    assert swarm_size(1, 0.5) == 0


@pytest.mark.parametrize(("m", "c"), [(-1, 1), (2.5, 1), (3, 0), (3, -1), (3, "2"), (3, True)])
def test_swarm_size_refuses_nonsense(m, c):
    with pytest.raises(OlmixError, match="swarm size"):
        swarm_size(m, c)


def test_additional_runs_with_runs_that_miss_a_domain():
    names = ("a", "b", "c", "d")  # c = 1: 5 runs
    sparse = [RunBatch(Mix(names, [0.5, 0.5, 0, 0]), 4)]
    assert additional_runs(names, sparse, 1) == 2  # one is missing, but two domains lack support
    assert additional_runs(names, [RunBatch(Mix(names, [0.25] * 4), 3)], 1) == 2
    assert additional_runs(names, [RunBatch(Mix(names, [0.25] * 4), 50)], 3) == 0


def test_sparing_runs_survive_the_removal_of_a_domain_they_did_not_use():
    base = DomainSet.from_token_counts({"a": 1, "b": 1, "c": 1})
    grow = Step("grow", Update((Add(DomainSet.from_token_counts({"d": 1}).domains),)))
    shrink = Step("shrink", Update((Remove(("d",)),)))
    runs = [stage.runs for stage in SWARM_REUSE.plan(UpdateSequence(base, (grow, shrink)), 1)]
    assert runs == [4, 1, 0]  # the first 4 never had d, and are enough again


def test_unknown_strategy():
    with pytest.raises(OlmixError, match="unknown strategy 'guess', expected one of full_recomp"):
        strategy_of("guess")
