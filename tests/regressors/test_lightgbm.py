import re

import lightgbm
import numpy as np
import pytest

from olmix.regressors.lightgbm import LightGBM


@pytest.fixture(scope="module")
def swarm():
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(3), size=60)
    return X, 1 + X[:, :1] ** 2


@pytest.fixture(scope="module")
def fitted(swarm):
    return LightGBM().fit(*swarm)


def test_settings_are_regmixs(fitted):
    """gbdt, learning rate 0.01, 1000 iterations, seed 42, no early stopping: in the model text."""
    (text,) = fitted.boosters_
    stated = dict(re.findall(r"^\[(\w+): (.*)\]$", text, flags=re.MULTILINE))
    assert stated["boosting"] == "gbdt"
    assert float(stated["learning_rate"]) == 0.01
    assert int(stated["num_iterations"]) == 1000
    assert int(stated["seed"]) == 42
    assert int(stated["early_stopping_round"]) == 0
    assert stated["objective"] == "regression"
    assert text.count("\nTree=") == 1000


def test_predicts_what_lightgbm_predicts(fitted, swarm):
    X, Y = swarm
    settings = {"learning_rate": 0.01, "seed": 42, "num_threads": 1, "verbosity": -1}
    own = lightgbm.train(settings, lightgbm.Dataset(X, Y[:, 0]), num_boost_round=1000)
    np.testing.assert_array_equal(fitted.predict(X)[:, 0], own.predict(X))


def test_learns_something(fitted, swarm):
    X, Y = swarm
    assert np.corrcoef(fitted.predict(X)[:, 0], Y[:, 0])[0, 1] > 0.9
