"""Intervals of unseen runs: from the runs a fit has, checked on runs it has not."""

import numpy as np
import pytest

from olmix.proposers.method import Method
from olmix.regressors.validation import covered, unseen_errors, validate
from olmix.study.proposals import olmix_base


@pytest.mark.parametrize("family", ["log_linear", "diminishing", "ensemble"])
def test_intervals_hold_as_many_unseen_runs_as_they_say(make_world, family):
    world, rng = make_world(4, 3, seed=0), np.random.default_rng(1)
    swarm = world.swarm(240, seed=2)
    noisy = type(swarm)(
        swarm.runs, swarm.domains, swarm.mixes, swarm.tasks,
        swarm.metrics + rng.normal(0, 0.03, swarm.metrics.shape),
    )  # fmt: skip
    method = Method(family, olmix_base().granularity, olmix_base().proposer)
    held_out = validate(method, noisy, held_out=160, seed=0)
    share = covered(held_out, 0.8).mean()
    assert 0.68 < share < 0.92
    assert covered(held_out, 0.5).sum() < covered(held_out, 0.95).sum()


def test_errors_are_of_refits_without_the_run(make_world):
    """A run that was fitted is never as far away as it is from refits that have not seen it."""
    swarm = make_world(3, 2, seed=3).swarm(14, seed=4)
    method = Method("diminishing", olmix_base().granularity, olmix_base().proposer)
    surrogate = method.fit(swarm)
    errors = unseen_errors(surrogate, swarm)
    assert errors.shape == (14,)
    assert np.abs(errors).max() > np.abs(swarm.average - surrogate.average(swarm.mixes)).max()
