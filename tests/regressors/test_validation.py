from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from olmix.errors import OlmixError
from olmix.regressors.validation import score, validate
from olmix.study.proposals import olmix_base


@pytest.fixture
def world(make_world):
    return make_world(4, 6, seed=1)


def test_held_out_runs_are_not_fitted(world):
    swarm = world.swarm(30, seed=0)
    result = validate(olmix_base(), swarm, held_out=8, seed=3)
    assert len(result.test) == 8
    assert len(result.train) == 22
    assert not set(result.test.runs) & set(result.train.runs)
    assert result.by_output.shape == (6,)
    assert result.mean == pytest.approx(result.by_output.mean())
    # Data without noise: the law is found.
    assert result.by_output.min() > 0.99
    assert result.average > 0.99
    assert result.ranks.shape == (6,)
    predicted = result.surrogate.average(result.test.mixes)
    assert result.average_ranks == pytest.approx(spearmanr(predicted, result.test.average)[0])


def test_seeds_and_sizes(world):
    swarm = world.swarm(30, seed=0)
    first = validate(olmix_base(), swarm, held_out=8, seed=3, size=10)
    assert len(first.train) == 10
    whole = validate(olmix_base(), swarm, held_out=8, seed=3)
    assert first.test.runs == whole.test.runs
    assert set(first.train.runs) < set(whole.train.runs)
    assert validate(olmix_base(), swarm, held_out=8, seed=4).test.runs != whole.test.runs
    for wrong in (0, 30):
        with pytest.raises(OlmixError, match=f"held-out runs: {wrong}, expected 1 to 29"):
            validate(olmix_base(), swarm, held_out=wrong, seed=0)


def test_scores_are_pearson_correlations(world):
    test = world.swarm(12, seed=5, noise=0.3)
    result = score(world.surrogate, test, test)
    exact = world.bpb(test.mixes)
    expected = [np.corrcoef(exact[:, i], test.metrics[:, i])[0, 1] for i in range(6)]
    assert result.by_output == pytest.approx(expected)
    average = np.corrcoef(exact.mean(1), test.metrics.mean(1))[0, 1]
    assert result.average == pytest.approx(average)


def test_families_are_scored_as_families(world):
    swarm = world.swarm(30, seed=0)
    tasks = list(swarm.tasks)
    families = {"few": tasks[:1], "many": tasks[1:]}
    method = replace(olmix_base(), granularity="family")
    result = validate(method, swarm, held_out=10, seed=0, families=families)
    assert result.by_output.shape == (2,)
    predicted = result.surrogate.predict(result.test.mixes)
    many = result.test.metrics[:, 1:].mean(1)
    assert result.by_output[1] == pytest.approx(np.corrcoef(predicted[:, 1], many)[0, 1])
    overall = predicted @ [1 / 6, 5 / 6]
    assert result.average == pytest.approx(np.corrcoef(overall, result.test.metrics.mean(1))[0, 1])
