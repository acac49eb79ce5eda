"""The collapsed space of mixture reuse: groups of frozen ratios as virtual domains (§4.2.2).

Each frozen group of a `ReuseSplit` becomes one virtual domain. A mix r over the collapsed domains
stands for the mix q = Φ(r) over D', where a group's weight is spread by the ratios of p̃.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.proposers.proposal import Proposal, Request
from olmix.updates.operators import ReuseSplit

__all__ = ["Collapse"]


@dataclass(frozen=True)
class Collapse:
    """The change of variables between D' and the collapsed domains (Lemma collapsed_space).

    Parameters
    ----------
    domains
        D', after the update.
    split
        Which domains are frozen together and which are recomputed; it must cover D'.
    existing
        p̃, the mix before the update; only the ratios inside the groups are used.
    """

    domains: DomainSet
    split: ReuseSplit
    existing: Mix

    def __post_init__(self) -> None:
        """Refuse a split that is not over D', and groups the existing mix gives no ratios for."""
        if set(self.split.members) != set(self.domains.names):
            odd = sorted(set(self.split.members) ^ set(self.domains.names))
            raise OlmixError(
                f"reuse: the split and the updated domains differ on {len(odd)}, e.g. '{odd[0]}'"
            )
        for name, members in self.split.groups.items():
            unknown = [member for member in members if member not in self.existing.names]
            if unknown:
                raise OlmixError(
                    f"reuse: '{unknown[0]}' of the virtual domain '{name}' has no weight to reuse, "
                    "it is not in the existing mix"
                )
            self.existing.restricted(members)  # raises if the group has no weight at all

    @property
    def names(self) -> tuple[str, ...]:
        """The collapsed domains: virtual ones first."""
        return self.split.names

    @property
    def expansion(self) -> np.ndarray:
        """Φ as a matrix E of shape (collapsed, domains): q = r·E."""
        matrix = self.membership.astype(float)
        for row, name in enumerate(self.names):
            members = self.split.groups.get(name, ())
            if len(members) > 1:
                inside = [member for member in self.domains.names if member in set(members)]
                matrix[row, self.membership[row]] = self.existing.restricted(inside).weights
        return matrix

    @property
    def membership(self) -> np.ndarray:
        """Which domains each collapsed one stands for: (collapsed, domains)."""
        groups = [set(self.split.groups.get(name, (name,))) for name in self.names]
        return np.array([[name in group for name in self.domains.names] for group in groups])

    def expand(self, collapsed: Mix) -> Mix:
        """Φ(r): the mix over D' that a collapsed mix stands for."""
        return Mix(self.domains.names, collapsed.aligned(self.names).weights @ self.expansion)

    def collapse(self, mix: Mix) -> Mix:
        """The collapsed form of a mix over D': weights of a group are summed."""
        return Mix(self.names, self.membership @ mix.aligned(self.domains.names).weights)

    @property
    def tokens(self) -> np.ndarray:
        """What each collapsed domain has to give: min_j N_j/p̃_j over a group.

        Beyond that the group's scarcest domain repeats more than its share, which turns k·N/R into
        the virtual domain's cap of Algorithm 2.
        """
        expansion = self.expansion
        with np.errstate(divide="ignore"):
            return np.where(expansion > 0, self.domains.tokens / expansion, np.inf).min(1)

    def request(
        self,
        *,
        kl: float = 0.05,
        repetition: float = np.inf,
        requested: float | None = None,
        prior: Mix | None = None,
    ) -> Request:
        """The collapsed optimisation problem; ``prior`` is over D', natural by default."""
        prior = self.domains.natural() if prior is None else prior
        return Request(self.collapse(prior), kl, self.tokens, repetition, requested)

    def expand_proposal(self, proposal: Proposal, request: Request) -> Proposal:
        """A proposal for a collapsed request as one over D', with what was frozen on record."""
        full = Request.for_domains(
            self.domains, kl=0.0, repetition=request.repetition, requested=request.requested
        )
        expanded = Proposal.from_weights(
            self.expand(proposal.mix).weights,
            full,
            status=proposal.status,
            solver={},
            objective=proposal.objective,
            average=proposal.average,
            predicted=proposal.predicted,
        )
        return replace(
            expanded,
            solver=proposal.solver,
            made_from=proposal.made_from
            | {"collapsed_mix": proposal.mix.to_dict()}
            | self.record(),
        )

    def record(self) -> dict[str, Any]:
        """What was frozen, and at the ratios of which mix, as plain JSON values."""
        return {"frozen": self.split.to_dict()["frozen"], "existing_mix": self.existing.to_dict()}
