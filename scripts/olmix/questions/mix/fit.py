"""The law behind a mix of one's own text, and what can be asked of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from olmix.proposers.method import Method
from olmix.proposers.proposal import Proposal, Request
from olmix.proposers.uncertainty import Bootstrap, bootstrap
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.validation import validate
from olmix.study.spec import ProposalSpec
from olmix.tables import SwarmTable
from olmix.updates.collapse import Collapse

__all__ = ["ProposalFit"]

REPLICATES = 100
# Of the swarm, set aside to see how well the law predicts runs it has not seen.
HELD_OUT_SHARE = 0.25
VALIDATIONS = 8


@dataclass(frozen=True)
class ProposalFit:
    """The law behind a proposal, over the space its swarm is in."""

    spec: ProposalSpec
    swarm: SwarmTable
    space: Collapse
    families: Mapping[str, list[str]]
    requested: float

    @property
    def method(self) -> Method:
        """The method that is used: regression family, granularity and solver."""
        return Method(self.spec.regressor, self.spec.granularity, self.spec.proposer)

    @cached_property
    def law(self) -> Surrogate:
        """The method's law, fitted on all runs of the swarm."""
        return self.method.fit(self.swarm, self.families)

    def request(self, repetition: float | None) -> Request:
        """The problem that was solved, under some repetition factor."""
        return self.space.request(
            kl=self.spec.kl,
            repetition=math.inf if repetition is None else repetition,
            requested=self.requested,
        )

    def propose(self, law: Surrogate, request: Request) -> Proposal:
        """The method's answer, over the space of the swarm."""
        return self.method.propose(law, self.swarm, request)

    @cached_property
    def proposal(self) -> Proposal:
        """The proposed mix over the space of the swarm."""
        return self.propose(self.law, self.request(self.spec.repetition))

    def spread(self, level: float) -> Bootstrap:
        """The proposal again and again, on resampled runs."""
        request = self.request(self.spec.repetition)
        return bootstrap(
            self.swarm,
            self.law,
            request,
            self.proposal,
            self.propose,
            baseline=self.space.collapse(self.space.domains.natural()),
            families=dict(self.families),
            replicates=REPLICATES,
            level=level,
        )

    @cached_property
    def correlation(self) -> float | None:
        """Mean correlation of predicted and measured average BPB on runs set aside, over splits."""
        held_out = round(HELD_OUT_SHARE * len(self.swarm))
        if held_out < 3 or len(self.swarm) - held_out < len(self.space.names) + 1:
            return None
        found = [
            validate(
                self.method, self.swarm, held_out=held_out, seed=seed, families=self.families
            ).average
            for seed in range(VALIDATIONS)
        ]
        return float(np.mean(found))

    @cached_property
    def lost_to_caps(self) -> float:
        """Predicted BPB that the caps cost, in % of the proposal's."""
        free = self.propose(self.law, self.request(None))
        averages = self.law.average(np.vstack([self.proposal.mix.weights, free.mix.weights]))
        return float(100 * (1 - averages[1] / averages[0]))
