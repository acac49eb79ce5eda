"""The "search" family: no law at all, a mix is as good as the swarm's nearest run (§3.3, RQ4)."""

import numpy as np
from scipy.spatial.distance import cdist

from olmix.regressors.base import Regressor

__all__ = ["NearestRun"]


class NearestRun(Regressor):
    """Remembers the swarm; the best of its runs is the proposal.

    Off the swarm it predicts the nearest run's BPB (Euclidean distance of mixes), so that its fit
    can be scored like the others'.
    """

    family = "search"
    learned = ("mixes_", "metrics_")

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        self.mixes_, self.metrics_ = X.copy(), Y.copy()

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self.metrics_[cdist(X, self.mixes_).argmin(1)]
