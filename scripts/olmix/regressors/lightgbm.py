"""Gradient-boosted trees with RegMix's settings (§3.3, RQ4; App. RQ4)."""

from functools import partial
from typing import Any

import lightgbm
import numpy as np

from olmix.regressors.base import Regressor

__all__ = ["LightGBM"]

_PATIENCE = 20
"""Rounds of boosting without a better score on the held-out runs after which it stops."""


class LightGBM(Regressor):
    """One booster per task.

    Parameters
    ----------
    learning_rate, iterations, random_state
        RegMix's: 0.01, 1000, 42.
    depth, smallest_leaf, l1, l2
        LightGBM's own limits of its trees; its defaults, as in RegMix.
    held_out
        Share of the runs that boosting stops early by; none, as these are runs it cannot learn
        from.
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
        depth: int = -1,
        smallest_leaf: int = 20,
        l1: float = 0.0,
        l2: float = 0.0,
        held_out: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.learning_rate = learning_rate
        self.iterations = iterations
        self.random_state = random_state
        self.depth = depth
        self.smallest_leaf = smallest_leaf
        self.l1 = l1
        self.l2 = l2
        self.held_out = held_out
        self.threads = threads

    def _fit(self, X: np.ndarray, Y: np.ndarray) -> None:
        settings = {
            "boosting_type": "gbdt",
            "objective": "regression",
            "learning_rate": self.learning_rate,
            "seed": self.random_state,
            "max_depth": self.depth,
            "min_data_in_leaf": self.smallest_leaf,
            "lambda_l1": self.l1,
            "lambda_l2": self.l2,
            "num_threads": self.threads,
            "verbosity": -1,
        }
        order = np.random.default_rng(self.random_state).permutation(len(X))
        kept = np.sort(order[round(self.held_out * len(X)) :])
        stopped_by = np.sort(order[: round(self.held_out * len(X))])
        self._loaded = [self._boosted(settings, X, target, kept, stopped_by) for target in Y.T]
        self.boosters_ = [booster.model_to_string() for booster in self._loaded]

    def _boosted(
        self,
        settings: dict[str, Any],
        X: np.ndarray,
        target: np.ndarray,
        kept: np.ndarray,
        stopped_by: np.ndarray,
    ) -> lightgbm.Booster:
        """One task's trees, fitted on the runs ``kept`` and stopped by the others, if any."""
        data = lightgbm.Dataset(X[kept], target[kept])
        # Kept as trained: else LightGBM writes every model as text and reads it again.
        train = partial(
            lightgbm.train,
            settings,
            data,
            num_boost_round=self.iterations,
            keep_training_booster=True,
        )
        if not len(stopped_by):
            return train()
        return train(
            valid_sets=[data.create_valid(X[stopped_by], target[stopped_by])],
            callbacks=[lightgbm.early_stopping(_PATIENCE, verbose=False)],
        )

    def _boosters(self) -> list[lightgbm.Booster]:
        if not hasattr(self, "_loaded"):
            self._loaded = [lightgbm.Booster(model_str=text) for text in self.boosters_]
        return self._loaded

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [booster.predict(X, num_threads=self.threads) for booster in self._boosters()]
        )
