"""Gaussian process: constant × RBF + white noise, as ADMIRE-BayesOpt uses (§3.3, RQ4)."""

import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from olmix.regressors.base import Regressor

__all__ = ["GaussianProcess"]


class GaussianProcess(Regressor):
    """One Gaussian process per task, on standardised BPB.

    Parameters
    ----------
    restarts, random_state
        Restarts of scikit-learn's kernel optimiser, and their seed.

    Attributes
    ----------
    mixes_ : (runs, domains), what it was fitted on; ``kernels_`` : (tasks, 2), signal variance and
    length scale; ``duals_`` : (tasks, runs), the weights of the runs; ``centre_`` and ``spread_`` :
    (tasks,), the standardisation.
    """

    family = "gaussian_process"
    learned = ("mixes_", "kernels_", "duals_", "centre_", "spread_")

    def __init__(self, *, restarts: int = 0, random_state: int = 0) -> None:
        self.restarts = restarts
        self.random_state = random_state

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        self.mixes_ = X.copy()
        self.centre_ = Y.mean(0)
        self.spread_ = np.maximum(Y.std(0), 1e-12)
        kernels, duals = [], []
        for target in ((Y - self.centre_) / self.spread_).T:
            kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(0.5, (1e-2, 1e2)) + WhiteKernel(
                0.1, (1e-6, 1e1)
            )
            process = GaussianProcessRegressor(
                kernel, n_restarts_optimizer=self.restarts, random_state=self.random_state
            )
            with warnings.catch_warnings():
                # A hyper-parameter at its bound is usual for a flat task and does no harm.
                warnings.simplefilter("ignore", ConvergenceWarning)
                process.fit(X, target)
            signal = process.kernel_.k1
            kernels.append([signal.k1.constant_value, signal.k2.length_scale])
            duals.append(process.alpha_.ravel())
        self.kernels_, self.duals_ = np.array(kernels), np.array(duals)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        squared = cdist(X, self.mixes_, "sqeuclidean")
        columns = [
            variance * np.exp(-0.5 * squared / length**2) @ dual
            for (variance, length), dual in zip(self.kernels_, self.duals_, strict=True)
        ]
        return self.centre_ + self.spread_ * np.column_stack(columns)
