"""Designed swarms, against mixes written out by hand."""

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.swarm.designs import (
    DESIGNS,
    designed_swarm,
    entropy_weighted,
    exponential_grid,
    one_at_a_time,
    token_entropy,
)

NATURAL = np.array([0.5, 0.3, 0.2])


def no_entropies():
    raise AssertionError("asked for entropies")


def test_one_at_a_time_perturbs_each_domain_up_and_down():
    mixes = one_at_a_time(NATURAL, 7, factor=2.0)
    assert mixes[0] == pytest.approx(NATURAL)
    # The first domain doubled: 1.0, 0.3, 0.2 of 1.5; halved: 0.25, 0.3, 0.2 of 0.75.
    assert mixes[1] == pytest.approx([2 / 3, 0.2, 2 / 15])
    assert mixes[2] == pytest.approx([1 / 3, 0.4, 4 / 15])
    # The others keep their ratios in every mix.
    assert (mixes[1:3, 1] / mixes[1:3, 2]) == pytest.approx([1.5, 1.5])
    with pytest.raises(OlmixError, match="there are 7 for 3 domains"):
        one_at_a_time(NATURAL, 8)


def test_the_exponential_grid_halves_and_doubles_natural_shares():
    mixes = exponential_grid(NATURAL, 40, seed=0)
    assert mixes.sum(1) == pytest.approx(np.ones(40))
    # Up to the renormalisation, every weight is a power of two times its natural one.
    exponents = np.log2(mixes / NATURAL)
    steps = exponents - exponents[:, [0]]
    assert steps == pytest.approx(np.round(steps), abs=1e-9)
    assert np.abs(steps).max() <= 4
    assert len(np.unique(np.round(mixes, 9), axis=0)) == 40
    assert np.array_equal(mixes, exponential_grid(NATURAL, 40, seed=0))
    assert not np.array_equal(mixes, exponential_grid(NATURAL, 40, seed=1))


def test_a_grid_gives_all_its_points_and_no_more():
    # Two domains with exponents -1, 0, 1: ratios 1/4, 1/2, 1, 2, 4.
    mixes = exponential_grid(np.array([0.5, 0.5]), 5, seed=0, doublings=1)
    assert sorted(mixes[:, 0] / mixes[:, 1]) == pytest.approx([0.25, 0.5, 1, 2, 4])
    with pytest.raises(OlmixError, match="6 points of an exponential grid that has 5"):
        exponential_grid(np.array([0.5, 0.5]), 6, seed=0, doublings=1)


def test_entropy_weighted_goes_from_natural_to_effective_vocabulary():
    entropies = np.log([10.0, 20.0, 70.0])
    mixes = entropy_weighted(NATURAL, entropies, 3)
    assert mixes[0] == pytest.approx(NATURAL)
    assert mixes[2] == pytest.approx([0.1, 0.2, 0.7])
    between = np.sqrt(NATURAL * [0.1, 0.2, 0.7])
    assert mixes[1] == pytest.approx(between / between.sum())


def test_entropy_of_tokens():
    assert token_entropy(np.array([5.0, 5.0, 0.0, 5.0, 5.0])) == pytest.approx(np.log(4))
    assert token_entropy(np.array([3.0, 0.0])) == 0.0


@pytest.mark.parametrize("kind", DESIGNS)
def test_every_design_is_a_swarm_of_mixes(kind):
    natural = Mix(("a", "b", "c"), NATURAL)
    size = {"natural": 1, "uniform": 1, "one_domain": 3}.get(kind, 4)
    entropies = (lambda: [1.0, 2.0, 3.0]) if kind == "entropy_weighted" else no_entropies
    swarm = designed_swarm(kind, natural, size, seed=0, entropies=entropies)
    assert len(list(swarm)) == size  # each row passes as a Mix
    assert swarm.report.warning is None
    if kind in ("one_domain", "tempered"):
        assert (swarm.mixes == 0).any()
    else:
        assert swarm.report.coverage == {"a": size, "b": size, "c": size}


@pytest.mark.parametrize(("kind", "weights"), [("natural", [0.8, 0.2]), ("uniform", [0.5, 0.5])])
def test_a_single_mix_may_be_trained_again_and_again(kind, weights):
    natural = Mix(("a", "b"), [0.8, 0.2])
    swarm = designed_swarm(kind, natural, 3, seed=0, entropies=no_entropies)
    assert swarm.mixes.tolist() == [weights] * 3


def test_a_design_with_equal_mixes_is_refused():
    natural = Mix(("a", "b"), [0.5, 0.5])
    with pytest.raises(OlmixError, match="holds the same mix twice"):
        designed_swarm("entropy_weighted", natural, 4, seed=0, entropies=lambda: [1.0, 1.0])
    with pytest.raises(OlmixError, match="'grid', expected one of natural"):
        designed_swarm("grid", natural, 2, seed=0, entropies=no_entropies)
