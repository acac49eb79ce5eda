"""What the jobs of chains of updates read and are told at a stage (§5.1)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olmix.study.chain import Chain
from olmix.study.swarm_jobs import SwarmJobs, both_tables
from olmix.study.system_jobs import rounds_input, system_params
from olmix.study.update_plan import Group, UpdatePlan
from olmix.updates.sequence import INITIAL

if TYPE_CHECKING:
    from olmix.study.jobs import Jobs

__all__ = ["StageJobs"]


@dataclass(frozen=True)
class StageJobs:
    """Sampling, choosing and proposing for the chains of a group at a stage (§5.1).

    Tables are labelled (stage, role): the chains' ``own`` runs, a ``probe``, or a ``pool``.
    """

    all: "Jobs"
    updates: UpdatePlan
    group: Group
    stage: str

    @property
    def number(self) -> int:
        """The place of the stage in its sequence, from 0 on."""
        return self.updates.stages.index(self.stage)

    @property
    def rerun_when(self) -> str:
        """What the sequence says of the stage and of those before it."""
        return self.updates.lineage_prints[self.stage]

    @property
    def method(self) -> dict[str, Any]:
        """The sequence's mixing method after its swarm, or the system that answers instead."""
        if self.updates.system is not None:
            return system_params(self.all, self.updates.system)
        return self.all.method_of(self.updates.sequence.method)

    @property
    def request(self) -> dict[str, Any]:
        """What the stage's method asks of every mix: kl, repetition, requested tokens by label."""
        system, scale = self.updates.system, self.all.plan.scale
        if system is not None:
            repetition = scale["repetition"] if system.repetition_constraint else None
            return {
                "kl": scale["kl"],
                "repetition": repetition,
                "requested_tokens": scale["requested_tokens"],
            }
        return self.all.request_of(self.updates.sequence.method)

    @property
    def own(self) -> SwarmJobs | None:
        """The swarm of the chains' own runs at the stage, if one of them trains any."""
        return self._swarm(self.group.at(self.stage))

    @property
    def probe(self) -> SwarmJobs | None:
        """The probe swarm of the stage, run before it is chosen what to recompute, if any."""
        return self._swarm(self.group.probe(self.stage))

    @property
    def pool(self) -> SwarmJobs | None:
        """The pool of runs that the chains draw from, if any does."""
        return self._swarm(self.updates.pools[self.stage])

    def _swarm(self, name: str) -> SwarmJobs | None:
        return self.all.swarm(name) if name in self.all.plan.swarms else None

    @property
    def rounds(self) -> list[str]:
        """The swarms of the rounds at the stage, where a system answers in rounds."""
        name, rounds = self.group.at(self.stage), self.all.plan.rounds.values()
        return [spec.name for spec in rounds if spec.step == name]

    def asked(self, number: int) -> list[tuple[dict[str, Any], int]]:
        """The chains with a round of this number, each with how many runs: (chain, runs)."""
        chains = self.updates.active(self.group.name, self.stage)
        sizes = [(chain, self.updates.round_sizes(chain, self.stage)) for chain in chains]
        return [(chain.to_dict(), each[number]) for chain, each in sizes if number < len(each)]

    @property
    def mixes(self) -> str:
        """The folder of the chains' mixes."""
        return f"{self.all.results}/update_mixes/{self.group.at(self.stage)}"

    @property
    def previous(self) -> dict[str, str]:
        """The mixes of the stage before, which chains start from; none at the first."""
        if self.stage == INITIAL:
            return {}
        return {"previous": self._at(self.updates.previous(self.stage)).mixes}

    @property
    def choices(self) -> dict[str, str]:
        """What chains chose to recompute, where one of them probed."""
        if self.probe is None:
            return {}
        name = self.group.at(self.stage)
        return {"choices": f"{self.all.results}/choose_recomputed/{name}.json"}

    def _at(self, stage: str) -> "StageJobs":
        return StageJobs(self.all, self.updates, self.group, stage)

    def _tables(self, *roles: tuple[str, str]) -> dict[tuple[str, str], SwarmJobs]:
        """Collected swarms by stage and role, those that there are."""
        found = {(stage, role): getattr(self._at(stage), role) for stage, role in roles}
        return {label: swarm for label, swarm in found.items() if swarm is not None}

    @property
    def known_before(self) -> dict[tuple[str, str], SwarmJobs]:
        """What a choice is made from: the probe, all earlier runs, and the initial pool."""
        before = self.updates.stages[: self.number]
        earlier = [(stage, role) for stage in before for role in ("own", "probe")]
        return self._tables((self.stage, "probe"), *earlier, (INITIAL, "pool"))

    @property
    def known(self) -> dict[tuple[str, str], SwarmJobs]:
        """What mixes are proposed from: the stage's runs, and all pools so far.

        None where a system answers: it has its `rounds`.
        """
        if self.updates.system is not None:
            return {}
        pools = [(stage, "pool") for stage in self.updates.stages[: self.number + 1]]
        return self._tables((self.stage, "own"), (self.stage, "probe"), *pools)

    @property
    def tables_before(self) -> dict[str, list[str]]:
        """The files of the tables that a choice is made from (`known_before`)."""
        return both_tables(self.known_before.values())

    @property
    def tables(self) -> dict[str, list[str]]:
        """The files of the tables that mixes are proposed from (`known`, or `rounds`)."""
        if self.updates.system is not None:
            return rounds_input(self.all, self.rounds)
        return both_tables(self.known.values())

    @property
    def chains(self) -> list[dict[str, Any]]:
        """The chains that have a mix at this stage."""
        return [chain.to_dict() for chain in self.updates.active(self.group.name, self.stage)]

    @property
    def sampled(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that train runs of their own, each with how many: (chain, runs)."""
        return self._counted(self.updates.runs)

    @property
    def probed(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that run a probe, each with how many runs: (chain, runs)."""
        return self._counted(self.updates.probe_runs)

    def _counted(self, count: Callable[[Chain, str], int]) -> list[tuple[dict[str, Any], int]]:
        counted = [(chain.to_dict(), count(chain, self.stage)) for chain in self.group.chains]
        return [(chain, runs) for chain, runs in counted if runs]

    @property
    def budgets(self) -> list[tuple[dict[str, Any], int]]:
        """The chains that run a probe, each with all the runs it may spend: (chain, budget)."""
        return [
            (chain.to_dict(), self.updates.budget(chain, self.stage))
            for chain in self.group.chains
            if self.updates.probe_runs(chain, self.stage)
        ]
