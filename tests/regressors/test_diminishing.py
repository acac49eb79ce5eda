import numpy as np
import pytest

from olmix.regressors.diminishing import Diminishing, _leave_one_out
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import pearson_by_output


def world(domains, tasks, runs, seed=0, noise=0.0):
    """Mixes and losses whose returns diminish: 0.5 + exp(a − B·log(1 + p/0.05))."""
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.full(domains, 0.3), size=runs)
    B = rng.exponential(0.3, (tasks, domains)) * (rng.random((tasks, domains)) < 0.5)
    Y = 0.5 + np.exp(0.3 - np.log1p(X / 0.05) @ B.T)
    return X, Y * np.exp(noise * rng.normal(size=Y.shape))


@pytest.mark.parametrize("group", [np.arange(12), np.arange(12) % 8])
def test_leaving_out_in_closed_form_is_what_refitting_gives(group):
    rng = np.random.default_rng(0)
    features, targets, ridge = rng.normal(size=(12, 5))[group], rng.normal(size=(12, 3)), 0.7
    errors = np.zeros((12, 3))
    for left in range(12):
        kept = group != group[left]
        F, T = features[kept], targets[kept]
        # The intercept is not penalised: it is one more unknown.
        G = np.column_stack([F, np.ones(len(F))])
        penalty = np.diag([ridge] * 5 + [0.0])
        solution = np.linalg.solve(G.T @ G + penalty, G.T @ T)
        errors[left] = np.r_[features[left], 1] @ solution - targets[left]
    found = _leave_one_out(features, targets, np.array([ridge]), group)[0]
    np.testing.assert_allclose(found, (errors**2).mean(0), rtol=1e-10)


def test_unseen_mixes_of_a_world_with_diminishing_returns_are_predicted():
    X, Y = world(10, 6, 260)
    model = Diminishing().fit(X[:60], Y[:60])
    fit = pearson_by_output(model.predict(X[60:]), Y[60:])
    assert fit.min() > 0.97
    straight = LogLinear().fit(X[:60], Y[:60])
    assert fit.mean() > pearson_by_output(straight.predict(X[60:]), Y[60:]).mean()


def test_as_many_runs_as_domains_and_one_more_suffice_where_log_linear_fails():
    X, Y = world(24, 8, 425, noise=0.01)
    train, test = slice(0, 25), slice(25, None)
    ours, theirs = (
        pearson_by_output(family().fit(X[train], Y[train]).predict(X[test]), Y[test]).mean()
        for family in (Diminishing, LogLinear)
    )
    assert ours > theirs + 0.1


def test_more_of_a_domain_never_bends_upwards():
    X, Y = world(6, 4, 50, noise=0.05)
    model = Diminishing().fit(X, Y)
    assert (model.curved_ >= 0).all()
    ends = np.random.default_rng(1).dirichlet(np.ones(6), size=(2, 200))
    middle = (model.predict(ends[0]) + model.predict(ends[1])) / 2
    assert (model.predict(ends.mean(0)) <= middle + 1e-12).all()


@pytest.mark.parametrize("factor", [1e-3, 1.0, 500.0])
def test_units_do_not_matter(factor):
    X, Y = world(5, 3, 40, noise=0.02)
    plain, other = Diminishing().fit(X, Y), Diminishing().fit(X, factor * Y)
    np.testing.assert_allclose(other.predict(X), factor * plain.predict(X), rtol=1e-9)


def test_a_domain_that_no_run_holds_moves_nothing():
    X, Y = world(5, 3, 40)
    X = np.column_stack([X, np.zeros(40)])
    model = Diminishing().fit(X, Y)
    np.testing.assert_allclose(model.linear_[:, -1], 0, atol=1e-12)
    np.testing.assert_allclose(model.curved_[:, -1], 0, atol=1e-12)


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_very_few_runs_still_give_a_finite_law(runs):
    X, Y = world(4, 2, runs)
    assert np.isfinite(Diminishing().fit(X, Y).predict(np.eye(4))).all()


def test_given_settings_are_kept():
    X, Y = world(4, 2, 30)
    model = Diminishing(onset=3.0, ease=1.0).fit(X, Y)
    assert (model.onset_, model.ease_) == (3.0, 1.0)
    np.testing.assert_allclose(model.shift_, 3 * X.mean(0))
