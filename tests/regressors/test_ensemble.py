import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.regressors.ensemble import Ensemble, _stack
from olmix.regressors.surrogate import pearson_by_output


def straight(domains, tasks, runs, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.full(domains, 0.5), size=runs)
    Y = 0.5 + np.exp(X @ rng.normal(-0.5, 1, (domains, tasks)))
    return X, Y + noise * rng.normal(size=Y.shape)


def test_weights_are_those_of_least_squares_on_the_simplex():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(300, 1))
    good, poor = truth + 0.3 * rng.normal(size=(2, 300, 1)) * np.array([1, 2])[:, None, None]
    grid = np.linspace(0, 1, 2001)
    for laws in ([good, poor], [poor, good]):
        first, last = laws
        # Ten more runs, as far from the law that is trusted as these are, are measured on it.
        errors = [
            ((w * first + (1 - w) * last - truth) ** 2).sum()
            + 10 / 300 * ((w * (first - last)) ** 2).sum()
            for w in grid
        ]
        weights = _stack(laws, truth)
        assert weights[0] == pytest.approx(grid[int(np.argmin(errors))], abs=1e-3)
        assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(("runs", "weight"), [(10, 0.25), (90, 0.45), (990, 0.495)])
def test_the_last_law_is_trusted_until_runs_say_otherwise(runs, weight):
    # Two laws that are as wrong, and not alike: half each, but for ten runs' worth of trust.
    measured = np.linspace(0, 1, runs)[:, None]
    wrong = np.tile([1.0, -1.0], runs // 2)[:, None]
    assert _stack([measured + 1, measured + wrong], measured)[0] == pytest.approx(weight, rel=1e-3)


def test_a_member_that_knows_nothing_gets_no_weight():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(100, 3))
    assert _stack([-truth, truth + 0.01 * rng.normal(size=truth.shape)], truth).tolist() == [0, 1]


# With a dozen runs or fewer the folds say too little to promise it.
@pytest.mark.parametrize("runs", [24, 80])
def test_never_much_worse_than_its_better_member(runs):
    X, Y = straight(8, 6, runs + 300, 0.02)
    model = Ensemble().fit(X[:runs], Y[:runs])
    fits = [
        pearson_by_output(m.predict(X[runs:]), Y[runs:]).mean() for m in (model, *model.members_)
    ]
    assert fits[0] >= max(fits[1:]) - 0.01


@pytest.mark.parametrize("value", [0.0, 2.7])
def test_a_task_that_is_the_same_in_every_run_is_predicted_so(value):
    X, Y = straight(5, 3, 30, 0.02)
    model = Ensemble().fit(X, np.column_stack([Y, np.full(30, value)]))
    assert model.predict(X)[:, 3] == pytest.approx(value, abs=0.01)
    assert np.ptp(model.predict(np.eye(5))[:, 3]) < 0.01


def test_it_is_the_weighted_sum_of_its_members():
    X, Y = straight(5, 4, 40, 0.05)
    model = Ensemble().fit(X, Y)
    expected = sum(w * m.predict(X) for w, m in zip(model.weights_, model.members_, strict=True))
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)


def test_refits_keep_the_weights_and_resample_the_members():
    X, Y = straight(4, 3, 30, 0.05)
    model = Ensemble().fit(X, Y)
    counts = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), size=2)
    replicates = model.refit(X, Y, counts.astype(float))
    assert len(replicates) == 2
    for replicate in replicates:
        np.testing.assert_array_equal(replicate.weights_, model.weights_)
        assert not np.array_equal(replicate.predict(X), model.predict(X))


def test_a_member_nobody_knows_is_refused():
    X, Y = straight(4, 3, 30, 0.05)
    with pytest.raises(OlmixError, match=r"lightgbm.*expected some of log_linear, diminishing"):
        Ensemble(members=("lightgbm",)).fit(X, Y)
