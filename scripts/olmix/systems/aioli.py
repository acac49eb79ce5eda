"""Aioli: short sweeps in the run itself say how every domain helps every other."""

import numpy as np

from olmix.errors import OlmixError
from olmix.systems.kinds.steering import MovingMix, Seen, equal_stretches

__all__ = ["Aioli", "one_hots"]


def one_hots(domains: int, most: float) -> np.ndarray:
    """A mix per domain: ``most`` on it, the rest even over the others."""
    mixes = np.full((domains, domains), (1 - most) / max(1, domains - 1))
    np.fill_diagonal(mixes, most)
    return mixes


class Aioli(MovingMix):
    """Rounds of a sweep and a longer stretch under what the sweep says.

    A sweep reads, one after another in a random order and ``sweep_share`` of the round in all,
    mixes with ``most`` on one domain. The drops of the held-out losses over each are taken as
    linear in the mix: drops = P·Aᵀ gives A, which is shifted to be ≥ 0, divided by its sum, and
    averaged with the round before (which counts ``memory``). The mix is then
    ∝ exp(``rate``·column sums of A).
    """

    kept = ("place", "round", "losses", "drops", "matrix")

    def __init__(
        self,
        mix: np.ndarray,
        steps: int,
        *,
        rounds: int = 4,
        sweep_share: float = 0.3,
        most: float = 0.75,
        rate: float = 0.5,
        memory: float = 0.1,
        held_out: int = 4,
    ) -> None:
        super().__init__(mix, steps, rounds)
        self.sweep_share, self.rate, self.memory = sweep_share, rate, memory
        self.held_out, size = held_out, len(mix)
        self.mixes = one_hots(size, most)
        if steps < rounds * (size + 1) + 1:
            raise OlmixError(
                f"algorithm 'aioli': {steps} steps for {rounds} rounds over {size} domains; "
                f"expected at least {rounds * (size + 1) + 1}"
            )
        # The place in the round; 0 is what comes before its sweep.
        self.place, self.round, self.losses = np.zeros(1), np.zeros(1), np.empty(0)
        self.drops, self.matrix = np.zeros((size, size)), np.empty((0, size))

    @property
    def ends(self) -> list[int]:
        """The first step alone (to measure from), then of each round a sweep and the rest."""
        size, ends = len(self.first), [1]
        for last in equal_stretches(self.steps - 1, self.updates):
            length = 1 + last - ends[-1]
            each = max(1, int(self.sweep_share * length / size))
            ends += [ends[-1] + each * number for number in range(1, size + 1)]
            ends.append(1 + last)
        return ends

    @property
    def order(self) -> np.ndarray:
        """The domains in the order of this round's sweep: losses fall less and less, on any."""
        return np.random.default_rng(int(self.round[0])).permutation(len(self.first))

    def next_mix(self, seen: Seen) -> np.ndarray:
        """The next mix of the sweep, or what the sweep says when it is over."""
        place, size, order = int(self.place[0]), len(self.first), self.order
        if place:
            self.drops = self.drops.copy()
            self.drops[order[place - 1]] = self.losses - seen.held_out
        self.losses = seen.held_out
        if place < size:
            self.place = np.array([place + 1.0])
            return self.mixes[order[place]]
        self.place, self.round = np.zeros(1), self.round + 1
        self._learn()
        logs = self.rate * self.matrix.sum(0)
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()

    def _learn(self) -> None:
        """The matrix of this round, averaged with what is known from the rounds before."""
        matrix = np.linalg.solve(self.mixes, self.drops).T.copy()
        matrix = matrix - min(0.0, matrix.min())
        total = matrix.sum()
        matrix = matrix / total if total > 0 else np.full_like(matrix, 1 / matrix.size)
        known = self.memory if len(self.matrix) else 0.0
        self.matrix = known * self.matrix + (1 - known) * matrix if known else matrix


ALGORITHM = Aioli
