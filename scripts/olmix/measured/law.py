"""A measured law: what released runs say about every mix, in place of training.

The law is over the measured domains, and over others that no released run has: each of those
stands for a mix of measured ones, which is an assumption (config/measured.yaml).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.measured.fit import Fitted
from olmix.measured.form import LawForm
from olmix.measured.noise import Noise, significant

__all__ = ["MeasuredLaw", "Transfer", "load_replica"]

# A coefficient's significant digits in files; the runs do not determine the third.
DIGITS = 4


@dataclass(frozen=True)
class Transfer:
    """How a target differs from what proxies measure: random slopes drawn from a seed.

    The logarithm of a task's loss changes by ``strength`` times a random slope per domain, over the
    domains' diminishing returns. The strength is set so that a proxy ranks mixes as well as the
    paper's do.
    """

    seed: int
    strength: float

    def slopes(self, domains: int, noise: Noise) -> np.ndarray:
        """A slope per domain and task, correlated over tasks as noise is: (domains, tasks)."""
        return noise.standard(domains, np.random.default_rng(self.seed))


@dataclass(frozen=True)
class MeasuredLaw:
    """A fitted form, its noise, what unmeasured domains stand for, and a target's disturbance.

    ``stands_for`` has a row per unmeasured domain: its shares over the measured ones.
    """

    tasks: tuple[str, ...]
    fitted: Fitted
    noise: Noise
    stands_for: Mapping[str, np.ndarray]
    transfer: Transfer

    @property
    def domains(self) -> tuple[str, ...]:
        """Everything the law can be asked about: measured domains, then the others."""
        return (*self.fitted.form.domains, *self.stands_for)

    def bpb(self, mixes: np.ndarray, disturbance: float = 0.0) -> np.ndarray:
        """BPB of every task without noise, for a proxy (0) or a target (1): (mixes, tasks)."""
        measured = self._measured(mixes)
        predicted = self.fitted.predict(measured)
        if disturbance == 0:
            return predicted
        form, constants = self.fitted.form, self.fitted.constants
        moved = (form.returns(measured) - form.returns(form.mean[None])) @ self._slopes
        return constants + (predicted - constants) * np.exp(
            disturbance * self.transfer.strength * moved
        )

    def observe(
        self, mixes: np.ndarray, seed: int, *, noise: float, disturbance: float
    ) -> np.ndarray:
        """What runs measure, ``noise`` times the deviation of proxies included: (mixes, tasks)."""
        mixes = np.atleast_2d(mixes)
        deviation = self.noise.deviation(self.fitted.form.alone(self._measured(mixes)))
        drawn = self.noise.standard(len(mixes), np.random.default_rng(seed))
        return self.bpb(mixes, disturbance) + noise * deviation * drawn

    @cached_property
    def _slopes(self) -> np.ndarray:
        return self.transfer.slopes(len(self.fitted.form.domains), self.noise)

    def _measured(self, mixes: np.ndarray) -> np.ndarray:
        """Mixes over the measured domains: others are replaced by what they stand for."""
        mixes = np.atleast_2d(np.asarray(mixes, dtype=float))
        count = len(self.fitted.form.domains)
        if mixes.shape[1] == count or not self.stands_for:
            return mixes
        return mixes[:, :count] + mixes[:, count:] @ np.stack(list(self.stands_for.values()))

    def to_dict(self) -> dict[str, Any]:
        """What is the replica's own, as plain values."""
        fitted = self.fitted
        return {
            "form": fitted.form.settings.to_dict(),
            "constants": significant(fitted.constants, DIGITS),
            "intercepts": significant(fitted.intercepts, DIGITS),
            "coefficients": significant(fitted.coefficients, DIGITS),
            "stands_for": {
                name: {
                    domain: float(f"{share:.{DIGITS}g}")
                    for domain, share in zip(fitted.form.domains, shares, strict=True)
                    if share > 0
                }
                for name, shares in self.stands_for.items()
            },
            "transfer": {"seed": self.transfer.seed, "strength": round(self.transfer.strength, 4)},
        }

    @classmethod
    def from_dict(
        cls,
        record: Mapping[str, Any],
        *,
        domains: Sequence[str],
        tasks: Sequence[str],
        mean: np.ndarray,
        first: str,
        noise: Noise,
    ) -> "MeasuredLaw":
        """The replica that `to_dict` wrote; what all replicas share is said beside it."""
        form = LawForm.from_dict(record["form"], domains, mean, first)
        learned = [np.array(record[name], float) for name in
                   ("constants", "intercepts", "coefficients")]  # fmt: skip
        stands_for = {
            name: np.array([shares.get(domain, 0.0) for domain in domains])
            for name, shares in record["stands_for"].items()
        }
        transfer = Transfer(**record["transfer"])
        return cls(tuple(tasks), Fitted(form, *learned), noise, stands_for, transfer)


def load_replica(path: str | Path, number: int) -> MeasuredLaw:
    """One replica of a file of measured laws, by its number from 0 on."""
    record = read_json(path)
    try:
        replicas = record["replicas"]
        if not 0 <= number < len(replicas):
            raise OlmixError(f"{path}: no replica {number}, expected 0 to {len(replicas) - 1}")
        return MeasuredLaw.from_dict(
            replicas[number],
            domains=record["domains"],
            tasks=record["tasks"],
            mean=np.array(record["mean_mix"], float),
            first=record["first_source"],
            noise=Noise.from_dict(record["noise"]),
        )
    except (KeyError, TypeError) as error:
        raise OlmixError(f"{path}: not a file of measured laws, {error} is missing") from error
