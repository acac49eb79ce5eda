import numpy as np

from olmix.regressors.nearest_run import NearestRun


def test_remembers_its_runs_and_answers_with_the_nearest():
    X = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    Y = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    model = NearestRun().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)
    np.testing.assert_array_equal(model.predict(np.array([[0.8, 0.2]])), Y[:1])
    np.testing.assert_array_equal(model.predict(np.array([[0.7, 0.3]])), Y[1:2])
