import numpy as np
import pytest
from scipy.stats import pearsonr

from olmix.errors import OlmixError
from olmix.questions.held_out import fits, join_runs


def test_joined_runs_keep_their_rows(make_world):
    world = make_world(3, 2, seed=0)
    one, two = world.swarm(4, seed=0), world.swarm(3, seed=1)
    both = join_runs([one, two])
    assert both.runs == one.runs + two.runs
    assert np.array_equal(both.mixes[4:], two.mixes)
    assert np.array_equal(both.metrics[:4], one.metrics)


def test_runs_over_other_domains_are_not_joined(make_world):
    with pytest.raises(OlmixError, match="other domains or tasks"):
        join_runs(
            [make_world(3, 2, seed=0).swarm(4, seed=0), make_world(4, 2, seed=0).swarm(4, seed=0)]
        )


def test_fit_is_the_mean_correlation_over_tasks(make_world):
    world, other = make_world(4, 3, seed=0), make_world(4, 3, seed=1)
    held_out = world.swarm(25, seed=2)
    found = fits({"law": world.surrogate, "other": other.surrogate}, held_out)
    assert (found["law"].mean, found["law"].low, found["law"].high) == pytest.approx((1, 1, 1))
    predicted = other.bpb(held_out.mixes)
    expected = [pearsonr(predicted[:, i], held_out.metrics[:, i]).statistic for i in range(3)]
    assert list(found["other"].by_task.values()) == pytest.approx(expected)
    assert found["other"].mean == pytest.approx(np.mean(expected))
    assert found["other"].low < found["other"].mean < found["other"].high


def test_a_model_over_other_domains_is_refused(make_world):
    with pytest.raises(OlmixError, match="'small' is not over the domains and tasks"):
        fits(
            {"small": make_world(3, 2, seed=0).surrogate},
            make_world(4, 2, seed=0).swarm(5, seed=0),
        )
