"""What all families promise alike."""

import json

import numpy as np
import pytest
from sklearn.base import clone

from olmix.errors import OlmixError
from olmix.regressors import FAMILIES, make_regressor, regressor_from_dict
from olmix.regressors.terms import predict_terms

# LightGBM with RegMix's 1000 iterations takes seconds: the promises hold for fewer just as well.
QUICK = {"lightgbm": {"iterations": 30}}
# Families whose law has the form that `olmix.regressors.terms` describes.
IN_TERMS = {"log_linear", "diminishing", "ensemble"}


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


def make(family):
    return make_regressor(family, **QUICK.get(family, {}))


def data(seed, runs=30, domains=4, tasks=3):
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.ones(domains), size=runs)
    return X, 0.8 + np.exp(X @ rng.normal(-1, 1, (domains, tasks)))


def test_there_are_the_papers_six_and_ours():
    assert set(FAMILIES) == {
        "diminishing",
        "ensemble",
        "search",
        "lightgbm",
        "gaussian_process",
        "bimix",
        "autoscale",
        "log_linear",
    }


def test_fit_returns_itself_and_predicts_all_tasks(family):
    X, Y = data(0)
    model = make(family)
    assert model.fit(X, Y) is model
    assert model.predict(X).shape == (30, 3)
    assert model.predict(X[0]).shape == (1, 3)
    assert model.family == family


def test_json_round_trip_predicts_the_same_numbers(family):
    X, Y = data(0)
    model = make(family).fit(X, Y)
    text = json.dumps(model.to_dict(), allow_nan=False)
    again = regressor_from_dict(json.loads(text))
    probes = np.vstack([np.eye(4), data(1)[0]])
    np.testing.assert_array_equal(again.predict(probes), model.predict(probes))
    assert again.get_params() == model.get_params()
    assert json.dumps(again.to_dict()) == text


def test_a_family_with_terms_predicts_by_them(family):
    X, Y = data(0)
    model = make(family).fit(X, Y)
    terms, probes = model.terms(), np.vstack([np.eye(4), data(1)[0]])
    assert bool(terms) == (family in IN_TERMS)
    if terms:
        assert model.convex
        assert all(term.curved is None or (term.curved >= 0).all() for term in terms)
        np.testing.assert_allclose(predict_terms(terms, probes), model.predict(probes), rtol=1e-12)


def test_a_second_fit_forgets_the_first(family):
    model = make(family).fit(*data(0, domains=6, tasks=5))
    X, Y = data(1)
    again = model.fit(X, Y).predict(X)
    np.testing.assert_array_equal(again, make(family).fit(X, Y).predict(X))


def test_the_callers_arrays_are_left_alone(family):
    X, Y = data(0)
    before = X.copy(), Y.copy()
    model = make(family).fit(X, Y)
    predicted = model.predict(X[:3])
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])
    X[:], Y[:] = 0.25, 9.0
    np.testing.assert_array_equal(model.predict(before[0][:3]), predicted)


def test_scikit_learn_can_clone_it(family):
    model = make(family).fit(*data(0))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "n_domains_")


def test_finite_at_every_corner(family):
    """Sparse runs hold zeros, and corners are all zeros but one."""
    X, Y = data(2)
    X = np.where(X < 0.15, 0, X)
    X /= X.sum(1, keepdims=True)
    assert np.isfinite(make(family).fit(X, Y).predict(np.eye(4))).all()


@pytest.mark.parametrize("what", [0, 1])
def test_nan_is_refused_with_its_place(family, what):
    arrays = list(data(0))
    arrays[what][7, 2] = np.nan
    with pytest.raises(OlmixError, match=r"(mixes|metrics) hold nan at row 7, column 2"):
        make(family).fit(*arrays)


@pytest.mark.parametrize(
    ("X", "Y"),
    [
        (np.ones((3, 2)) / 2, np.ones((4, 1))),
        (np.ones((3, 2)) / 2, np.ones(3)),
        (np.ones(3), np.ones((3, 1))),
        (np.ones((0, 2)), np.ones((0, 1))),
    ],
)
def test_wrong_shapes_are_refused(family, X, Y):
    with pytest.raises(OlmixError, match=r"needs X \(runs, domains\) and Y \(runs, tasks\)"):
        make(family).fit(X, Y)


def test_another_number_of_domains_is_refused(family):
    model = make(family).fit(*data(0))
    with pytest.raises(OlmixError, match="fitted on 4 domains, asked about 5"):
        model.predict(np.full((1, 5), 0.2))


def test_unknown_family():
    with pytest.raises(OlmixError, match=r"unknown regression family 'lasso'.*log_linear"):
        make_regressor("lasso")


def test_unknown_setting(family):
    with pytest.raises(OlmixError, match=rf"'{family}' has no setting 'colour'"):
        make_regressor(family, colour="red")
