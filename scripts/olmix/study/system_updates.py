"""A stage of updates that a system answers: the mixing problem that each chain leaves to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from olmix.proposers.proposal import Proposal, Request
from olmix.study.chain import Chain
from olmix.study.system_answers import RoundRuns, RunsSoFar, answer, ask, read_rounds
from olmix.study.systems import System, as_system
from olmix.study.update_chain import StageWork
from olmix.systems.kinds.rounds import NextRuns
from olmix.updates.collapse import Collapse
from olmix.updates.operators import ReuseSplit
from olmix.updates.reuse import collapse_swarm, keep_ratios
from olmix.updates.sequence import INITIAL

__all__ = ["SystemAtStage"]


@dataclass(frozen=True)
class SystemAtStage:
    """What chains ask a system at a stage, over what each of them recomputes.

    Parameters
    ----------
    work
        The stage, with the mixes before it.
    system, told
        The system, and what one in rounds is told (models and their costs, the method to fit by).
    rounds
        The runs of the stage's rounds so far, of all chains, over the stage's domains.
    """

    work: StageWork
    system: System
    told: Mapping[str, Any]
    rounds: Mapping[str, RoundRuns | None] = field(default_factory=dict)

    @classmethod
    def from_job(cls, job: Any) -> "SystemAtStage":
        """The work that a stage's rule hands over, from its ``snakemake`` object."""
        told, files = job.params.method, job.input
        tables = [files.get(key, []) for key in ("asked", "ratios", "metrics")]
        rounds = read_rounds(job.params.rounds, *tables)
        return cls(StageWork.from_job(job), as_system(told["system"]), told, rounds)

    def ask(self, chain: Chain, *, size: int, number: int) -> NextRuns:
        """A chain's runs of a round, as mixes over the stage's domains."""
        space, request = self._problem(chain)
        asked = ask(
            self.system,
            list(self.rounds),
            self.told,
            self._known(chain, space),
            request,
            size=size,
            seed=1000 * chain.seed + number,
        )
        return NextRuns(asked.mixes @ space.expansion, asked.models, asked.why)

    def propose(self, chain: Chain) -> Proposal:
        """A chain's mix at the stage: the system's answer, expanded."""
        space, request = self._problem(chain)
        if space.split.dimension == 0:
            return keep_ratios(space, repetition=request.repetition, requested=request.requested)
        known = self._known(chain, space)
        proposal = answer(self.system, list(self.rounds), self.told, known, request)
        return space.expand_proposal(proposal, request)

    def _problem(self, chain: Chain) -> tuple[Collapse, Request]:
        """What a chain leaves to recompute, all of it at the first stage, and what is asked."""
        at, domains = self.work.of(chain), self.work.domains
        reuse = self.work.stage != INITIAL and not chain.follows.from_scratch
        if reuse:
            space = at.collapse(chain.follows.split(at))
        else:
            space = Collapse(domains, ReuseSplit({}, domains.names), domains.natural())
        return space, space.request(**at.options(reuse=reuse))

    def _known(self, chain: Chain, space: Collapse) -> RunsSoFar:
        """A chain's own runs of the rounds so far, over its collapsed domains."""
        rounds: dict[str, RoundRuns | None] = {}
        for name, found in self.rounds.items():
            rows = (
                []
                if found is None
                else [row for row, run in enumerate(found.swarm.runs) if chain.owns(run)]
            )
            rounds[name] = None
            if found is not None and rows:
                own = collapse_swarm(found.swarm.rows(rows), space)
                rounds[name] = RoundRuns(own, tuple(found.models[row] for row in rows))
        return RunsSoFar(self.work.domains, rounds, families=self.work.families)
