"""ODM: online data mixing as a bandit whose arms are domains and whose reward is their loss."""

import math

import numpy as np

from olmix.systems.kinds.steering import MovingMix, Seen

__all__ = ["ODM", "exploration"]


def exploration(arms: int, step: int) -> float:
    """ε = min(1/K, √(ln K/(K·t))): the least probability of each of K arms after t steps."""
    return min(1 / arms, math.sqrt(math.log(arms) / (arms * step)))


class ODM(MovingMix):
    """Domains that are still hard are read more.

    The reward R of a domain is a running average of exp(loss); the mix is
    (1 − Kε)·R/ΣR + ε, decided ``updates`` times along the run. ε counts the run's steps, however
    seldom the mix is decided.
    """

    kept = ("rewards", "turn")

    def __init__(
        self, mix: np.ndarray, steps: int, *, updates: int = 100, memory: float = 0.9
    ) -> None:
        super().__init__(mix, steps, updates)
        self.memory = memory
        self.rewards, self.turn = np.zeros(len(mix)), np.zeros(1)

    def next_mix(self, seen: Seen) -> np.ndarray:
        """Note the rewards of the domains read; the next mix is the bandit's probabilities."""
        known = ~np.isnan(seen.losses)
        fresh = self.memory * self.rewards[known] + (1 - self.memory) * np.exp(seen.losses[known])
        self.rewards = self.rewards.copy()
        self.rewards[known] = fresh
        self.turn = self.turn + 1
        arms = len(self.rewards)
        least = exploration(arms, self.ends[int(self.turn[0]) - 1])
        return (1 - arms * least) * self.rewards / self.rewards.sum() + least


ALGORITHM = ODM
