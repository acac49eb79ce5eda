import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.regressors.surrogate import Surrogate, fit_surrogate, outputs_of, pearson_by_output

FAMILIES = {"small": ["task3"], "large": ["task0", "task2", "task1", "task4"]}


@pytest.fixture
def swarm(make_world):
    return make_world(3, 5, seed=0).swarm(40, seed=1)


def test_per_task(swarm):
    surrogate = fit_surrogate(swarm)
    assert surrogate.outputs == swarm.tasks
    np.testing.assert_allclose(surrogate.weights, 0.2)
    np.testing.assert_allclose(
        surrogate.average(swarm.mixes), surrogate.predict(swarm.mixes).mean(1)
    )


def test_per_family_weighs_by_number_of_tasks(swarm):
    names, weights, values = outputs_of(swarm, "family", FAMILIES)
    assert names == ("small", "large")
    assert weights.tolist() == [0.2, 0.8]
    np.testing.assert_allclose(values[:, 1], swarm.metrics[:, [0, 1, 2, 4]].mean(1))
    # Whatever the families are, the measured values average to the tasks' average.
    np.testing.assert_allclose(values @ weights, swarm.metrics.mean(1))
    surrogate = fit_surrogate(swarm, granularity="family", families=FAMILIES)
    assert surrogate.predict(swarm.mixes).shape == (40, 2)


def test_aggregated(swarm):
    surrogate = fit_surrogate(swarm, granularity="aggregated")
    assert surrogate.outputs == ("average",)
    np.testing.assert_allclose(
        surrogate.average(swarm.mixes), swarm.metrics.mean(1), atol=0.02, rtol=0.02
    )


def test_settings_and_family_reach_the_regressor(swarm):
    surrogate = fit_surrogate(swarm, family="bimix", settings={"floor": 0.01})
    assert surrogate.regressor.family == "bimix"
    assert surrogate.regressor.floor == 0.01


def test_bad_granularity(swarm):
    with pytest.raises(OlmixError, match="granularity 'word': expected one of task, family"):
        fit_surrogate(swarm, granularity="word")
    with pytest.raises(OlmixError, match="needs the task families"):
        fit_surrogate(swarm, granularity="family")


def test_a_named_mix_in_any_order(swarm):
    surrogate = fit_surrogate(swarm)
    mix = Mix(("d2", "d0", "d1"), [0.5, 0.2, 0.3])
    expected = surrogate.predict(np.array([[0.2, 0.3, 0.5]]))[0]
    assert surrogate.predict_mix(mix) == dict(zip(swarm.tasks, expected, strict=True))


@pytest.mark.parametrize("family", ["log_linear", "lightgbm"])
def test_save_and_load_predict_the_same(swarm, tmp_path, family):
    settings = {"iterations": 20} if family == "lightgbm" else {}
    surrogate = fit_surrogate(
        swarm, family=family, granularity="family", families=FAMILIES, settings=settings
    )
    surrogate.save(tmp_path / "model.json")
    again = Surrogate.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.average(swarm.mixes), surrogate.average(swarm.mixes))
    assert again.domains == surrogate.domains
    assert again.granularity == "family"


def test_what_is_not_a_model_is_refused(tmp_path):
    (tmp_path / "model.json").write_text('{"domains": ["a"]}')
    with pytest.raises(OlmixError, match=r"model\.json: not a fitted model, 'outputs' is missing"):
        Surrogate.load(tmp_path / "model.json")


def test_pearson_is_numpys_and_a_constant_scores_zero():
    rng = np.random.default_rng(0)
    predicted, measured = rng.random((12, 3)), rng.random((12, 3))
    predicted[:, 2] = 0.7
    expected = [np.corrcoef(predicted[:, i], measured[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(pearson_by_output(predicted, measured), [*expected, 0.0])
