"""Runs whose mix, or whose domains' weights, an algorithm moves while they train.

The algorithms are in `olmix.systems`; here is what they are told and what becomes of their answers.
Everything they know is part of a checkpoint, and the same in every process.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from olmix.corpus.mixing import MixedData
from olmix.errors import OlmixError
from olmix.model.transformer import Transformer
from olmix.proposers.proposal import within_caps
from olmix.systems.kinds.steering import MovingMix, MovingWeights, Seen
from olmix.training.domain_gradients import inner_products
from olmix.training.domain_losses import domain_means, domain_sums
from olmix.training.optimizer import Optimizer, learning_rate
from olmix.training.passes import Passes
from olmix.training.run_data import run_steering
from olmix.training.settings import RunSettings

__all__ = ["Steered", "steered"]


class Steered(ABC):
    """A run's algorithm between the data, which it may change, and the passes over them."""

    def __init__(self, settings: RunSettings, data: MixedData, passes: Passes) -> None:
        self.settings, self.data, self.passes, self.team = settings, data, passes, passes.team
        self.size = len(data.domains)

    def before(self, step: int) -> None:  # noqa: B027  (most have nothing to do)
        """Get ready for a step, before its rows are read."""

    @abstractmethod
    def gradients(self, step: int, rows: Tensor) -> Tensor:
        """Add up the gradients of this process's ``rows`` of a step; their mean loss."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """The state of the algorithm: all that `resume` needs."""

    @abstractmethod
    def resume(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state that `state` gave."""

    def record(self) -> dict[str, Any]:
        """What the run's record says of the algorithm."""
        return {}

    def _domains(self, step: int) -> tuple[Tensor, np.ndarray]:
        """The domains (rows, T − 1) of this process's predictions, and the counts of all."""
        whole = self.data.batch_domains(step, self.settings.batch_size)[:, 1:]
        counts = np.bincount(whole.reshape(-1), minlength=self.size)
        mine = np.array_split(whole, self.team.count)[self.team.rank]
        return torch.from_numpy(mine).to(self.team.device), counts


class SteeredMix(Steered):
    """The algorithm chooses the mix of each stretch of the run when the one before is over."""

    def __init__(
        self, settings: RunSettings, data: MixedData, passes: Passes, algorithm: MovingMix
    ) -> None:
        super().__init__(settings, data, passes)
        self.algorithm = algorithm
        self.per_step = settings.sequence_length * settings.batch_size
        self.sums = torch.zeros(2, self.size, dtype=torch.float64, device=self.team.device)
        rows = [stream.last_of_first_epoch(algorithm.held_out) for stream in data.streams]
        self.held_out = np.concatenate(rows)
        self.held_out_domains = np.repeat(np.arange(self.size), [len(part) for part in rows])
        if algorithm.held_out and not all(len(part) for part in rows):
            short = data.domains[[len(part) for part in rows].index(0)]
            raise OlmixError(f"domain {short!r} has no whole sequence to hold out")

    def gradients(self, step: int, rows: Tensor) -> Tensor:
        domains, counts = self._domains(step)
        equal = torch.full(domains.shape, 1 / counts.sum(), device=rows.device)
        loss, losses = self.passes.weighted(rows, equal)
        self.sums += self.team.mean(domain_sums(losses, domains, self.size))
        return loss

    def before(self, step: int) -> None:
        """Choose the next mix, where the last stretch is over."""
        if step * self.per_step < self.data.planned:
            return
        tokens = np.array([self.data.counts[domain] for domain in self.data.domains], dtype=float)
        seen = Seen(tokens, domain_means(self.sums), self._held_out_losses())
        self._extend(self.algorithm.next_mix(seen))
        self.sums.zero_()

    def _extend(self, weights: np.ndarray) -> None:
        end = self.algorithm.ends[len(self.data.ends)] * self.per_step
        # No domain is read more often than the run allows, whatever the algorithm wants of it.
        left = [
            self.data.max_repetition * stream.tokens - self.data.counts[stream.domain]
            for stream in self.data.streams
        ]
        # A sequence less: stretches are of whole sequences.
        room = np.maximum(np.array(left) - self.settings.sequence_length, 0.0)
        weights = within_caps(weights, room / (end - self.data.planned))[0]
        weights = weights / weights.sum()
        self.data.extend(dict(zip(self.data.domains, weights.tolist(), strict=True)), end)

    def _held_out_losses(self) -> np.ndarray:
        """The loss of each domain on its held-out sequences, which the processes share out."""
        if not self.algorithm.held_out:
            return np.empty(0)
        count = self.team.count
        fill = -len(self.held_out) % count
        rows = np.concatenate([self.held_out, self.held_out[:fill]])[self.team.rank :: count]
        domains = np.append(self.held_out_domains, np.full(fill, -1))[self.team.rank :: count]
        losses = self.passes.losses(torch.from_numpy(rows).to(self.team.device))
        numbers = torch.from_numpy(domains).to(self.team.device)[:, None].expand_as(losses)
        return domain_means(self.team.mean(domain_sums(losses, numbers, self.size)))

    def state(self) -> dict[str, np.ndarray]:
        mixes = [[mix[domain] for domain in self.data.domains] for mix in self.data.mixes]
        sums = self.sums.cpu().numpy()
        return {"mixes": np.array(mixes), "sums": sums, **self.algorithm.state()}

    def resume(self, state: dict[str, np.ndarray]) -> None:
        for mix in state["mixes"][1:]:
            end = self.algorithm.ends[len(self.data.ends)] * self.per_step
            self.data.extend(dict(zip(self.data.domains, mix.tolist(), strict=True)), end)
        self.sums = torch.from_numpy(state["sums"]).to(self.team.device)
        self.algorithm.resume(state)


class SteeredWeights(Steered):
    """The algorithm weighs the domains' losses in every step; the run's answer is their mean."""

    def __init__(
        self,
        settings: RunSettings,
        data: MixedData,
        passes: Passes,
        algorithm: MovingWeights,
        optimizer: Optimizer,
        reference: Transformer | None,
    ) -> None:
        super().__init__(settings, data, passes)
        self.algorithm, self.optimizer, self.reference = algorithm, optimizer, reference

    def gradients(self, step: int, rows: Tensor) -> Tensor:
        domains, counts = self._domains(step)
        if self.algorithm.measures == "gradients":
            found = inner_products(self.passes, self.optimizer, rows, domains, counts)
            rate = learning_rate(self.settings, step) / self.settings.learning_rate
            self.algorithm.update(*found, rate)
        loss, losses = self.passes.weighted(rows, self._weights(domains, counts))
        if self.reference is not None:
            with self.passes.precision(), torch.no_grad():
                parts = rows.split(self.passes.micro_batch)
                usual = torch.cat([self.reference.token_losses(part)[1] for part in parts])
            excess = (losses - usual).clamp(min=0)
            sums = self.team.mean(domain_sums(excess, domains, self.size))
            self.algorithm.update(domain_means(sums))
        return loss

    def _weights(self, domains: Tensor, counts: np.ndarray) -> Tensor:
        """The weight of each prediction: an equal share of its domain's; they sum to one."""
        present = self.algorithm.weights * (counts > 0)
        each = present / present.sum() / np.maximum(counts, 1)
        return torch.from_numpy(each).to(domains.device, torch.float)[domains.long()]

    def state(self) -> dict[str, np.ndarray]:
        return self.algorithm.state()

    def resume(self, state: dict[str, np.ndarray]) -> None:
        self.algorithm.resume(state)

    def record(self) -> dict[str, Any]:
        """The run's answer, a mix, for its record."""
        answer = self.algorithm.answer
        return {"answer": dict(zip(self.data.domains, answer.tolist(), strict=True))}


def steered(
    settings: RunSettings,
    data: MixedData,
    passes: Passes,
    optimizer: Optimizer,
    reference: Transformer | None,
) -> Steered | None:
    """What steers a run; None for one that nothing steers."""
    algorithm = run_steering(settings)
    if algorithm is None or settings.steering is None:
        return None
    if isinstance(algorithm, MovingMix):
        return SteeredMix(settings, data, passes, algorithm)
    if algorithm.measures != "excess":
        reference = None
    elif reference is None:
        raise OlmixError(f"algorithm '{settings.steering.algorithm}' needs a reference run")
    return SteeredWeights(settings, data, passes, algorithm, optimizer, reference)
