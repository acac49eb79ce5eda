"""A known law in place of training: swarms whose true answer is known.

The law is the paper's own assumption (§4.3): f_i(q) = c_i + exp(A_iᵀq), plus noise. Its numbers are
drawn to look like the laws fitted on the swarm of real 30M proxies that the authors released:
coefficients of a few latent skills, levels, constants and noise of the same size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import Surrogate
from olmix.tables import SwarmTable

__all__ = ["Law", "random_law"]


@dataclass(frozen=True)
class Law:
    """c_i + exp(A_iᵀq) for every task, with the noise of one proxy run.

    ``shared`` is the share of the noise's variance that all tasks of a run have in common.
    """

    domains: tuple[str, ...]
    tasks: tuple[str, ...]
    coefficients: np.ndarray  # A, (tasks, domains)
    constants: np.ndarray  # c, (tasks,)
    noise: np.ndarray  # standard deviation per task, in BPB
    shared: float = 0.0

    def bpb(self, mixes: np.ndarray) -> np.ndarray:
        """The exact BPB of every task: (mixes, tasks)."""
        return self.constants + np.exp(np.atleast_2d(mixes) @ self.coefficients.T)

    def run_swarm(self, mixes: np.ndarray, runs: Sequence[str], seed: int) -> SwarmTable:
        """What proxies trained on these mixes would measure, noise included."""
        metrics = self.bpb(mixes) + self.draw_noise(len(mixes), seed)
        return SwarmTable(tuple(runs), self.domains, np.asarray(mixes), self.tasks, metrics)

    def draw_noise(self, runs: int, seed: int) -> np.ndarray:
        """The noise of so many runs: (runs, tasks), in BPB."""
        rng = np.random.default_rng(seed)
        alone = rng.normal(size=(runs, len(self.tasks)))
        together = rng.normal(size=(runs, 1))
        return (np.sqrt(1 - self.shared) * alone + np.sqrt(self.shared) * together) * self.noise

    def observe(
        self, mixes: np.ndarray, seed: int, *, noise: float, disturbance: float
    ) -> np.ndarray:
        """What runs measure, with ``noise`` times the law's own; all models follow the same law."""
        return self.bpb(mixes) + noise * self.draw_noise(len(np.atleast_2d(mixes)), seed)

    def surrogate(self) -> Surrogate:
        """The law itself as a fitted model: full recomputation with nothing to learn."""
        model = LogLinear.from_dict(
            {
                "settings": {},
                "domains": len(self.domains),
                "learned": {
                    "coef_": self.coefficients.tolist(),
                    "constant_": self.constants.tolist(),
                    "loss_": [0.0] * len(self.tasks),
                    "converged_": [1.0] * len(self.tasks),
                },
            }
        )
        share = np.full(len(self.tasks), 1 / len(self.tasks))
        return Surrogate(self.domains, self.tasks, share, "task", model)

    def to_dict(self) -> dict[str, Any]:
        """The law as plain JSON values."""
        return {
            "domains": list(self.domains),
            "tasks": list(self.tasks),
            "coefficients": self.coefficients.tolist(),
            "constants": self.constants.tolist(),
            "noise": self.noise.tolist(),
            "shared": self.shared,
        }

    def save(self, path: str | Path) -> None:
        """Write ``law.json``."""
        write_json(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> "Law":
        """Read ``law.json``."""
        record = read_json(path)
        try:
            return cls(
                domains=tuple(record["domains"]),
                tasks=tuple(record["tasks"]),
                coefficients=np.array(record["coefficients"], dtype=float),
                constants=np.array(record["constants"], dtype=float),
                noise=np.array(record["noise"], dtype=float),
                shared=float(record["shared"]),
            )
        except (KeyError, TypeError) as error:
            raise OlmixError(f"{path}: not a law, {error} is missing") from error


def random_law(
    domains: DomainSet, tasks: Sequence[str], *, seed: int, skills: int = 4, noise: float = 0.05
) -> Law:
    """A law over these domains and tasks, made of a few latent skills.

    A domain teaches skills, sources more alike within than between; a task needs some. The more a
    domain teaches what a task needs, the lower its coefficient, so the lower the BPB.
    ``noise`` is the median standard deviation of a run's BPB.
    """
    rng = np.random.default_rng(seed)
    by_source = {source: rng.gamma(1.0, size=skills) for source in domains.sources}
    teaches = np.array(
        [0.5 * by_source[domain.source] + 0.5 * rng.gamma(0.7, size=skills) for domain in domains]
    )
    needs = rng.dirichlet(np.full(skills, 0.3), size=len(tasks))
    spread = rng.uniform(0.7, 1.7, size=len(tasks))
    help_ = needs @ teaches.T  # (tasks, domains)
    help_ = (help_ - help_.mean(1, keepdims=True)) / help_.std(1, keepdims=True)
    level = rng.uniform(-1.4, 0.2, size=len(tasks))
    return Law(
        domains=domains.names,
        tasks=tuple(tasks),
        coefficients=level[:, None] - spread[:, None] * help_,
        constants=rng.uniform(0.8, 2.2, size=len(tasks)),
        noise=noise * rng.uniform(0.5, 1.5, size=len(tasks)),
    )
