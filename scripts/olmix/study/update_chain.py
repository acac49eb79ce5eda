"""Follow chains through a stage: sample, choose what to recompute, propose (§4, §5.1)."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.method import Method
from olmix.proposers.proposal import Proposal, Request, read_mix
from olmix.regressors import make_regressor
from olmix.regressors.log_linear import LogLinear
from olmix.study.chain import Chain
from olmix.study.space import stage_domains
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
from olmix.tables import SwarmTable, read_swarms
from olmix.updates.auto_reuse import AutoChoice, choose_reuse, join_swarms
from olmix.updates.collapse import Collapse
from olmix.updates.constructed_reuse import reuse_on_model, weak_ratios
from olmix.updates.operators import ReuseSplit
from olmix.updates.reuse import (
    carry_swarm,
    collapse_swarm,
    keep_ratios,
    propose_with_reuse,
    recompute,
)
from olmix.updates.sequence import INITIAL, STATED, UpdateSequence, load_updates

__all__ = ["ChainWork", "StageWork", "read_choices"]


@dataclass(frozen=True)
class StageWork:
    """One stage of the sequence, with what its jobs need to know.

    Parameters
    ----------
    sequence, stage
        The updates, and the stage the work is about.
    previous
        Folder of the mixes of the stage before, one JSON per chain; None at the initial stage.
    method
        What a swarm is answered with; None where nothing is proposed.
    request
        kl, repetition (None: no caps), and requested tokens by label.
    distribution
        Strengths and smallest weight of the stage's swarms.
    tables
        Collected swarms by stage and role: chains' ``own`` runs, a ``probe``, or a ``pool``.
    choices
        Chain -> what it chose to recompute.
    families
        Task families, for a method that fits one model per family.
    parts
        Into how many parts a pool is split, one for each seed; None if every seed draws from all.
    """

    sequence: UpdateSequence
    stage: str
    previous: Path | None = None
    method: Method | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    distribution: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[tuple[str, str], SwarmTable] = field(default_factory=dict)
    choices: Mapping[str, ReuseSplit] = field(default_factory=dict)
    families: Mapping[str, list[str]] = field(default_factory=dict)
    parts: int | None = None

    @classmethod
    def from_job(cls, job: Any) -> "StageWork":
        """The work that a stage's rule hands over, from its ``snakemake`` object."""
        data, told = Path(job.input.data), job.params.get
        previous, chosen = job.input.get("previous"), job.input.get("choices")
        labels = list(map(tuple, told("tables", ())))
        answered = told("method")
        ratios, metrics = job.input.get("ratios", ()), job.input.get("metrics", ())
        return cls(
            load_updates(
                job.params.updates,
                DomainSet.load(data / "domains.json"),
                priors=told("priors", STATED),
            ),
            job.params.stage,
            Path(previous) if previous else None,
            Method(**answered) if answered and "system" not in answered else None,
            told("request", {}),
            told("distribution", {}),
            read_swarms(labels, ratios, metrics) if labels else {},
            read_choices(chosen) if chosen else {},
            read_json(data / "families.json"),
            told("parts"),
        )

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

    def of(self, chain: Chain) -> "ChainWork":
        """The work of one chain at this stage."""
        return ChainWork(self, chain)

    def same_mix(self, chain: Chain) -> Hashable:
        """What is equal for chains that have the same mix at this stage, as strategies do at first.

        They draw the same runs from the pool, by seed and budget, and ask the same of them.
        """
        if self.stage != INITIAL:
            return chain
        return chain.seed, self.of(chain).budget(INITIAL), chain.requested, chain.law

    def propose(self, chain: Chain) -> Proposal:
        """A chain's mix at this stage. At the first, all strategies do alike."""
        at = self.of(chain)
        if self.stage == INITIAL:
            return at.recompute(at.drawn(INITIAL))
        return chain.follows.propose(at)


@dataclass(frozen=True)
class ChainWork:
    """A chain at a stage: what strategies do, on the tables of a `StageWork`."""

    work: StageWork
    chain: Chain

    @property
    def sequence(self) -> UpdateSequence:
        """The updates that the chain goes through."""
        return self.work.sequence

    @property
    def stage(self) -> str:
        """The name of the stage."""
        return self.work.stage

    @property
    def choice(self) -> ReuseSplit | None:
        """What the chain chose to recompute at this stage, if it did."""
        return self.work.choices.get(self.chain.name)

    @property
    def existing(self) -> Mix:
        """p̃: the chain's mix at the stage before."""
        if self.work.previous is None:
            raise OlmixError(f"chain '{self.chain.name}' at {self.stage}: no stage before")
        return read_mix(self.work.previous / f"{self.chain.name}.json")

    @property
    def method(self) -> Method:
        """The method that a swarm is answered with: the study's, with the chain's own law."""
        if self.work.method is None:
            raise OlmixError(f"chain '{self.chain.name}' at {self.stage}: no method is given")
        if not self.chain.law:
            return self.work.method
        return replace(self.work.method, regressor=self.chain.law)

    def collapse(self, split: ReuseSplit) -> Collapse:
        """The collapsed space in which everything but the frozen ratios is recomputed."""
        return Collapse(self.work.domains, split, self.existing)

    def sample(self, runs: int, seed: int) -> np.ndarray:
        """``runs`` mixes over D' that keep what the strategy freezes: expanded collapsed ones."""
        distribution = SwarmDistribution("sparse", **self.work.distribution)
        prior = self.sequence.prior(self.stage, reuse=True)
        collapse = self.collapse(self.chain.follows.split(self))
        swarm = sample_swarm(collapse.collapse(prior), runs, seed=seed, distribution=distribution)
        return swarm.mixes @ collapse.expansion

    def own(self, stage: str, role: str) -> SwarmTable | None:
        """The rows of a stage's swarm or probe that belong to the chain, None if it has none."""
        table = self.work.tables.get((stage, role))
        if table is None:
            return None
        rows = [i for i, run in enumerate(table.runs) if self.chain.owns(run)]
        return table.rows(rows) if rows else None

    def budget(self, stage: str) -> int:
        """How many runs the chain has at a stage."""
        return self.chain.follows.budget(self.sequence, self.chain.c)[stage]

    def drawn(self, stage: str) -> SwarmTable:
        """The runs the chain draws from the pool of a stage, by its seed.

        Where the pool is split, each seed has a part of it: no two have a run in common.
        """
        size, parts = self.budget(stage), self.work.parts
        pool = self.work.tables[stage, "pool"]
        room = len(pool) // (parts or 1)
        if size > room:
            raise OlmixError(
                f"a pool of {len(pool)} runs in {parts or 1} parts, {self.chain.name} draws {size}"
            )
        order = np.random.default_rng(0 if parts else self.chain.seed).permutation(len(pool))
        first = room * self.chain.seed if parts else 0
        return pool.rows(np.sort(order[first : first + size]))

    def accumulated(self, *, before: bool = False) -> SwarmTable:
        """All runs so far that can be represented on D' (Algorithm Swarm Reuse Mixing).

        ``before`` leaves those of this stage out.
        """
        stages = self.sequence.stages()
        place = [entry.name for entry in stages].index(self.stage)
        joined = self.drawn(INITIAL)
        for position in range(1, place + 1):
            name, update = stages[position].name, stages[position].update
            if update is not None:
                joined = carry_swarm(joined, update, stages[position - 1].domains)
            new: list[SwarmTable | None] = []
            if before and position == place:
                pass
            elif self.chain.follows.draws(name, last=False):
                new = [self.drawn(name)] if self.budget(name) else []
            else:
                new = [self.own(name, "probe"), self.own(name, "own")]
            for runs in new:
                if runs is not None:
                    joined = join_swarms(joined, runs) if len(joined) else runs
        return joined

    def choose(self, budget: int) -> AutoChoice:
        """What to recompute within a budget, from the probe's runs and the old ones."""
        probe = self.own(self.stage, "probe")
        if probe is None:
            raise OlmixError(f"chain '{self.chain.name}' at {self.stage}: no probe to choose by")
        old = self.accumulated(before=True).select_tasks(probe.tasks)
        joined, work = join_swarms(old, probe), self.work
        family = self.chain.law or LogLinear.family
        law = make_regressor(family).fit(joined.mixes, joined.metrics)
        return choose_reuse(
            joined, work.before, work.domains, budget=budget, c=self.chain.c, model=law
        )

    def recompute(self, swarm: SwarmTable) -> Proposal:
        """The method's answer to a swarm over D'."""
        request = Request.for_domains(self.work.domains, **self.options())
        return recompute(swarm, request, self.method, families=self.work.families)

    def reuse(self, split: ReuseSplit) -> Proposal:
        """The frozen ratios kept, the rest recomputed from the chain's own runs (Algorithm 2)."""
        collapse, options = self.collapse(split), self.options(reuse=True)
        if collapse.split.dimension == 0:
            limits = {key: options[key] for key in ("repetition", "requested")}
            return keep_ratios(collapse, **limits)
        found = [self.own(self.stage, role) for role in ("own", "probe")]
        parts = [part for part in found if part is not None]
        swarm = None
        if parts:
            own = parts[0] if len(parts) == 1 else join_swarms(*parts)
            swarm = collapse_swarm(own, collapse)
        return propose_with_reuse(
            swarm,
            collapse,
            collapse.request(**options),
            self.method,
            families=self.work.families,
        )

    def reuse_on_model(self, swarm: SwarmTable, ratios: Callable[[Mix, Mix], Mix]) -> Proposal:
        """Reuse of ratios made from the weak and the optimal ones, on full reuse's split (§5.2)."""
        method, options = self.method, self.options()
        request = Request.for_domains(self.work.domains, **options)
        model = method.fit(swarm, self.work.families)
        split = self.sequence.full_reuse(self.stage)
        (fixed,) = split.groups.values()
        weak = weak_ratios(model, request, fixed)
        best = method.propose(model, swarm, request).mix.restricted(fixed)
        collapse = Collapse(self.work.domains, split, ratios(weak, best))
        return reuse_on_model(model, collapse, collapse.request(**options))

    def options(self, *, reuse: bool = False) -> dict[str, Any]:
        """What is asked of every mix of the chain: λ, k, R and the prior."""
        asked = self.work.request
        return {
            "kl": asked["kl"],
            "repetition": np.inf if asked["repetition"] is None else asked["repetition"],
            "requested": asked["requested_tokens"][self.chain.requested],
            "prior": self.sequence.prior(self.stage, reuse=reuse),
        }


def read_choices(path: str | Path) -> dict[str, ReuseSplit]:
    """What each chain chose to recompute, from the file that recorded it."""
    return {chain: ReuseSplit.from_dict(record) for chain, record in read_json(path).items()}
