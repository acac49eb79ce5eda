"""Follow chains through a stage: sample, choose what to recompute, propose (§4, §5.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from olmix.auto_reuse import AutoChoice, choose_reuse, join_swarms
from olmix.collapse import Collapse
from olmix.constructed_reuse import intermediate_ratios, reuse_on_model, weak_ratios
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.method import OLMIX_BASE
from olmix.mix import Mix
from olmix.planning import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
    plan,
    swarm_size,
)
from olmix.proposers.proposal import Proposal, Request, read_mix
from olmix.reuse import carry_swarm, keep_ratios, propose_with_reuse, recompute
from olmix.study.space import stage_domains
from olmix.study.update_plan import AUTO, CONSTRUCTED, OPTIMAL_REUSE, WEAK_REUSE, Chain
from olmix.swarm import SwarmDistribution, sample_swarm
from olmix.tables import SwarmTable
from olmix.update_sequence import INITIAL, UpdateSequence
from olmix.updates import ReuseSplit

__all__ = ["StageWork", "split_from_record", "split_record"]


@dataclass(frozen=True)
class StageWork:
    """One stage of the sequence, with what its jobs need to know.

    Parameters
    ----------
    sequence, stage
        The updates, and the stage the work is about.
    previous
        Folder of the mixes of the stage before, one JSON per chain; None at the initial stage.
    request
        kl, repetition, and requested tokens by label.
    distribution
        Strengths and smallest weight of the stage's swarms.
    """

    sequence: UpdateSequence
    stage: str
    previous: Path | None
    request: Mapping[str, Any]
    distribution: Mapping[str, Any]

    @property
    def domains(self) -> DomainSet:
        """D', the domains of the stage."""
        return stage_domains(self.sequence, self.stage)

    @property
    def before(self) -> DomainSet:
        """D, the domains before the update."""
        stages = self.sequence.stages()
        position = [entry.name for entry in stages].index(self.stage)
        return stages[position - 1].domains

    def existing(self, chain: Chain) -> Mix:
        """p̃: the chain's mix at the stage before."""
        return read_mix(self.previous / f"{chain.name}.json")

    def collapse(self, chain: Chain, choice: ReuseSplit | None) -> Collapse:
        """The collapsed space a mixture reuse chain recomputes in."""
        if chain.strategy == FULL_MIXTURE_REUSE:
            split = self.sequence.full_reuse(self.stage)
        elif chain.strategy == PARTIAL_MIXTURE_REUSE:
            split = self.sequence.partial_reuse(self.stage)
        elif chain.strategy == AUTO:
            split = choice or self.sequence.full_reuse(self.stage)
        else:
            raise OlmixError(f"strategy '{chain.strategy}' collapses nothing")
        return Collapse(self.domains, split, self.existing(chain))

    def sample(self, chain: Chain, runs: int, choice: ReuseSplit | None, seed: int) -> np.ndarray:
        """``runs`` mixes over D' for a mixture reuse chain: expanded collapsed ones."""
        distribution = SwarmDistribution("sparse", **self.distribution)
        prior = self.sequence.prior(self.stage)
        collapse = self.collapse(chain, choice)
        swarm = sample_swarm(collapse.collapse(prior), runs, seed=seed, distribution=distribution)
        return swarm.mixes @ collapse.expansion

    def accumulated(
        self, chain: Chain, tables: Mapping[str, SwarmTable], pools: Mapping[str, SwarmTable]
    ) -> SwarmTable:
        """All runs of a chain so far that can be represented on D' (Algorithm Swarm Reuse Mixing).

        ``tables`` and ``pools`` are by stage: swarms of the chains' own (a stage's probe is under
        ``<stage>-probe``), and what is drawn from.
        """
        stages = self.sequence.stages()
        place = [entry.name for entry in stages].index(self.stage)
        joined = self.drawn(chain, INITIAL, pools)
        for position in range(1, place + 1):
            joined = carry_swarm(joined, stages[position].update, stages[position - 1].domains)
            name = stages[position].name
            if chain.strategy == SWARM_REUSE:
                new = [self.drawn(chain, name, pools)]
            else:
                new = [self._own_runs(chain, tables.get(key)) for key in (f"{name}-probe", name)]
            for runs in new:
                if runs is not None:
                    joined = join_swarms(joined, runs) if len(joined) else runs
        return joined

    def _own_runs(self, chain: Chain, table: SwarmTable | None) -> SwarmTable | None:
        """The rows of a stage's swarm that belong to a chain, None if it has none."""
        runs = () if table is None else table.runs
        rows = [i for i, run in enumerate(runs) if run.startswith(f"{chain.name}-")]
        return table.rows(rows) if rows else None

    def drawn(self, chain: Chain, stage: str, pools: Mapping[str, SwarmTable]) -> SwarmTable | None:
        """The runs a chain draws from the pool of a stage, by its seed; None if it needs none.

        A swarm of K(c), or for swarm reuse after an update, what it needs beside its old runs.
        """
        size = swarm_size(len(stage_domains(self.sequence, stage)), chain.c)
        if chain.strategy == SWARM_REUSE and stage != INITIAL:
            planned = plan(self.sequence, SWARM_REUSE, chain.c)
            size = {entry.stage: entry.runs for entry in planned}[stage]
        if size == 0:
            return None
        pool = pools[stage]
        if size > len(pool):
            raise OlmixError(f"a pool of {len(pool)} runs, {chain.name} draws {size}")
        order = np.random.default_rng(chain.seed).permutation(len(pool))
        return pool.rows(np.sort(order[:size]))

    def choose(self, chain: Chain, probe: SwarmTable, old: SwarmTable, budget: int) -> AutoChoice:
        """What auto partial reuse recomputes, from the probe's runs and the old ones."""
        joined = join_swarms(old, self._own_runs(chain, probe))
        return choose_reuse(joined, self.before, self.domains, budget=budget, c=chain.c)

    def propose(
        self,
        chain: Chain,
        tables: Mapping[str, SwarmTable],
        pools: Mapping[str, SwarmTable],
        probe: SwarmTable | None,
        choice: ReuseSplit | None,
    ) -> Proposal:
        """The chain's mix at this stage; ``tables`` and ``pools`` as in `accumulated`."""
        options = {
            "kl": self.request["kl"],
            "repetition": self.request["repetition"],
            "requested": self.request["requested_tokens"][chain.requested],
            "prior": self.sequence.prior(self.stage),
        }
        if self.stage == INITIAL or chain.strategy == FULL_RECOMPUTATION:
            drawn = self.drawn(chain, self.stage, pools)
            return recompute(drawn, Request.for_domains(self.domains, **options))
        if chain.strategy in CONSTRUCTED:
            return self._reuse_constructed(chain, self.drawn(chain, self.stage, pools), options)
        if chain.strategy == SWARM_REUSE:
            swarm = self.accumulated(chain, tables, pools)
            return recompute(swarm, Request.for_domains(self.domains, **options))
        collapse = self.collapse(chain, choice)
        if collapse.split.dimension == 0:
            limits = {key: options[key] for key in ("repetition", "requested")}
            return keep_ratios(collapse, **limits)
        parts = [self._own_runs(chain, table) for table in (tables.get(self.stage), probe)]
        parts = [part for part in parts if part is not None]
        swarm = None
        if parts:
            own = parts[0] if len(parts) == 1 else join_swarms(*parts)
            mixes = own.mixes @ collapse.membership.T
            swarm = replace(own, domains=collapse.names, mixes=mixes)
        return propose_with_reuse(swarm, collapse, collapse.request(**options))

    def _reuse_constructed(
        self, chain: Chain, swarm: SwarmTable, options: Mapping[str, Any]
    ) -> Proposal:
        """Reuse of weak, intermediate or optimal ratios on what full reuse would freeze (§5.2)."""
        request = Request.for_domains(self.domains, **options)
        model = OLMIX_BASE.fit(swarm)
        split = self.sequence.full_reuse(self.stage)
        (fixed,) = split.groups.values()
        weak = weak_ratios(model, request, fixed)
        best = OLMIX_BASE.propose(model, swarm, request).mix.restricted(fixed)
        middle = intermediate_ratios(weak, best)
        ratios = {WEAK_REUSE: weak, OPTIMAL_REUSE: best}.get(chain.strategy, middle)
        collapse = Collapse(self.domains, split, ratios)
        return reuse_on_model(model, collapse, collapse.request(**options))


def split_record(choice: AutoChoice) -> dict[str, Any]:
    """A choice as plain JSON values."""
    return {
        "frozen": {name: list(members) for name, members in choice.split.groups.items()},
        "recomputed": list(choice.split.recomputed),
        "initial_coupling": choice.initial_coupling,
        "steps": [
            {"domain": step.domain, "coupling": step.coupling, "reduction": step.reduction}
            for step in choice.steps
        ],
        "why": choice.explain(),
    }


def split_from_record(record: Mapping[str, Any]) -> ReuseSplit:
    """The split of a recorded choice."""
    groups = {name: tuple(members) for name, members in record["frozen"].items()}
    return ReuseSplit(groups, tuple(record["recomputed"]))
