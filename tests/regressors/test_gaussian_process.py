import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from olmix.regressors.gaussian_process import GaussianProcess


def data():
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(4), size=40)
    return X, 1 + np.exp(X @ rng.normal(0, 1, (4, 3))) + 0.02 * rng.standard_normal((40, 3))


def test_predicts_what_scikit_learn_predicts():
    X, Y = data()
    model = GaussianProcess().fit(X, Y)
    probes = np.vstack([np.eye(4), np.random.default_rng(1).dirichlet(np.ones(4), size=50)])
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(0.5, (1e-2, 1e2)) + WhiteKernel(
        0.1, (1e-6, 1e1)
    )
    for task, y in enumerate(Y.T):
        own = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own.fit(X, y)
        np.testing.assert_allclose(model.predict(probes)[:, task], own.predict(probes), rtol=1e-6)


def test_a_flat_task_is_predicted_flat():
    X, _ = data()
    model = GaussianProcess().fit(X, np.full((40, 1), 1.1))
    np.testing.assert_allclose(model.predict(np.eye(4)), 1.1, atol=1e-9)
