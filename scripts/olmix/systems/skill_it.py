"""Skill-It: read what teaches the domains that are still hard, by a graph measured beforehand."""

import numpy as np

from olmix.errors import OlmixError
from olmix.systems.kinds.steering import MovingMix, Seen

__all__ = ["SkillIt", "skill_graph"]


def skill_graph(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """A_ij: the share of domain j's loss that a run on domain i alone takes away, at least 0.

    ``before`` are the losses (m,) of the untrained model, ``after[i]`` those of the run on i.
    """
    return np.clip(1 - after / before, 0.0, None)


class SkillIt(MovingMix):
    """The mix of a stretch is ∝ exp(``rate``·Σ A·loss over the last ``window`` measurements).

    ``graph`` is `skill_graph` of one short run per domain; the loss is that of held-out sequences.
    """

    kept = ("measured",)

    def __init__(
        self,
        mix: np.ndarray,
        steps: int,
        *,
        graph: list[list[float]],
        updates: int = 10,
        rate: float = 0.2,
        window: int = 3,
        held_out: int = 4,
    ) -> None:
        super().__init__(mix, steps, updates)
        self.graph = np.asarray(graph, dtype=float)
        if self.graph.shape != (len(mix), len(mix)):
            raise OlmixError(
                f"algorithm 'skill_it': a graph of {self.graph.shape} for {len(mix)} domains"
            )
        self.rate, self.window, self.held_out = rate, window, held_out
        self.measured = np.empty((0, len(mix)))

    def next_mix(self, seen: Seen) -> np.ndarray:
        """Note the held-out losses; the next mix is what they and the graph ask for."""
        self.measured = np.vstack([self.measured, seen.held_out])[-self.window :]
        logs = self.rate * (self.graph @ self.measured.T).sum(1)
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()


ALGORITHM = SkillIt
