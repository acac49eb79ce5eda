"""Gradient-boosted trees with RegMix's settings (§3.3, RQ4; App. RQ4)."""

import lightgbm
import numpy as np

from olmix.regressors.base import Regressor

__all__ = ["LightGBM"]


class LightGBM(Regressor):
    """One booster per task; no early stopping, as an evaluation set would leak into the fit.

    Parameters
    ----------
    learning_rate, iterations, random_state
        RegMix's: 0.01, 1000, 42.
    threads
        Threads of one booster; trees on a swarm are too small to gain from more than one.

    Attributes
    ----------
    boosters_ : LightGBM's text form of each task's model (no pickles).
    """

    family = "lightgbm"
    learned = ("boosters_",)

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        iterations: int = 1000,
        random_state: int = 42,
        threads: int = 1,
    ) -> None:
        self.learning_rate = learning_rate
        self.iterations = iterations
        self.random_state = random_state
        self.threads = threads

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        settings = {
            "boosting_type": "gbdt",
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "seed": self.random_state,
            "num_threads": self.threads,
            "verbosity": -1,
        }
        self._loaded = [
            lightgbm.train(settings, lightgbm.Dataset(X, target), num_boost_round=self.iterations)
            for target in Y.T
        ]
        self.boosters_ = [booster.model_to_string() for booster in self._loaded]

    def _boosters(self) -> list[lightgbm.Booster]:
        if not hasattr(self, "_loaded"):
            self._loaded = [lightgbm.Booster(model_str=text) for text in self.boosters_]
        return self._loaded

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [booster.predict(X, num_threads=self.threads) for booster in self._boosters()]
        )
