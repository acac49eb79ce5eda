"""RegMix's mixes: where they are centred, what is drawn again, what is refused."""

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.swarm.tempered import distinct_tempered, tempered_dirichlet

NATURAL = np.array([0.64, 0.16, 0.1, 0.1])


def test_mixes_are_centred_on_the_tempered_prior():
    """At one strength and without rejections the mean is the square root of the shares."""
    mixes = tempered_dirichlet(
        NATURAL, 40_000, seed=0, strengths=(3.0, 3.0), most=np.inf, least=0.0
    )
    root = np.sqrt(NATURAL)
    assert mixes.mean(0) == pytest.approx(root / root.sum(), abs=5e-3)
    prior = root / root.sum()
    # The variance of a Dirichlet of total strength s: p(1 − p)/(s + 1).
    assert mixes.var(0) == pytest.approx(prior * (1 - prior) / 4, abs=2e-3)


def test_no_domain_is_read_much_more_than_its_share():
    mixes = tempered_dirichlet(NATURAL, 2000, seed=1, most=3.0)
    assert (mixes <= 3 * NATURAL + 1e-12).all()
    assert mixes.sum(1) == pytest.approx(np.ones(2000))
    assert ((mixes == 0) | (mixes >= 1e-4)).all()
    assert (mixes == 0).any()


def test_the_same_seed_gives_the_same_mixes_whatever_their_number():
    few, many = (tempered_dirichlet(NATURAL, size, seed=4) for size in (5, 9000))
    assert np.array_equal(few, many[:5])
    assert not np.array_equal(few, tempered_dirichlet(NATURAL, 5, seed=5))


def test_what_cannot_be_met_is_refused():
    with pytest.raises(OlmixError, match=r"of 10 mixes in .* keep every domain under 1 times"):
        tempered_dirichlet(NATURAL, 10, seed=0, most=1.0, max_tries=20_000)


def test_a_swarm_of_them_holds_no_mix_twice():
    natural = np.array([0.4, 0.3, 0.2, 0.1])
    drawn = tempered_dirichlet(natural, 200, seed=0)
    assert len(np.unique(drawn, axis=0)) < 200
    distinct = distinct_tempered(natural, 200, seed=0)
    assert len(np.unique(distinct, axis=0)) == 200
    # The first of each are kept, in their order.
    longer = tempered_dirichlet(natural, 400, seed=0)
    places = [int(np.flatnonzero((longer == mix).all(1))[0]) for mix in distinct]
    assert places == sorted(places)
