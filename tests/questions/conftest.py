"""Inputs of a question made by hand: swarm tables, proposals and task families on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.files import write_json
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.questions.answer import QuestionData
from olmix.questions.catalogue import plan_study, settings_of
from olmix.simulation.law import Law
from olmix.study.jobs import Jobs
from olmix.study.mixes import sample_mixes
from olmix.study.plan import Plan
from olmix.study.proposals import olmix_base
from olmix.study.scale import Scale, load_scale
from olmix.study.spec import SpaceSpec
from olmix.study.update_chain import StageWork
from olmix.study.update_plan import UpdatePlan
from olmix.tables import SwarmTable, read_mixes, write_table
from olmix.updates.sequence import INITIAL

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"


@pytest.fixture
def question(tmp_path: Path) -> Callable[..., QuestionData]:
    """``question(settings, tables={swarm: table}, proposals={study: {name: record}}, ...)``.

    ``planned`` is what the plan says of them: which swarm is what to the question.
    """

    def make(
        settings: Mapping[str, Any],
        tables: Mapping[str, SwarmTable],
        proposals: Mapping[str, Mapping[str, Any]] | None = None,
        families: Mapping[str, Sequence[str]] | None = None,
        planned: Mapping[str, Any] | None = None,
    ) -> QuestionData:
        for name, table in tables.items():
            folder = tmp_path / "tables" / name
            write_table(folder / "ratios.csv", table.runs, table.domains, table.mixes)
            write_table(folder / "metrics.csv", table.runs, table.tasks, table.metrics)
        for study, records in (proposals or {}).items():
            for name, record in records.items():
                write_json(tmp_path / "proposals" / study / f"{name}.json", record)
        grouped = families or {"all": next(iter(tables.values())).tasks}
        write_json(
            tmp_path / "data" / "families.json", {name: list(t) for name, t in grouped.items()}
        )
        return QuestionData(
            scale="made-up",
            settings={"seeds": 1, "target_repeats": 1, "pool_share": 2.0, **settings},
            data=tmp_path / "data",
            tables={name: both(tmp_path / "tables" / name) for name in tables},
            proposals={study: tmp_path / "proposals" / study for study in proposals or {}},
            method=olmix_base(),
            planned=planned or {},
        )

    return make


def both(folder: Path) -> tuple[Path, Path]:
    """The tables of a collected swarm."""
    return folder / "ratios.csv", folder / "metrics.csv"


@dataclass(frozen=True)
class ExactUpdates:
    """The single updates of `smoke`, followed as the workflow does on a law known exactly.

    Nothing is trained: a run measures its law without noise. There is no KL term, so that the
    mixes are what the theorems speak of. A domain's coefficients go by its name; a source as one
    domain has the natural average of its topics'.
    """

    folder: Path
    seed: int
    tasks: tuple[str, ...] = tuple(f"task{number}" for number in range(12))

    @cached_property
    def scale(self) -> Scale:
        """Smoke, with two seeds and no KL term."""
        scale = load_scale(CONFIG / "scales", "smoke")
        return replace(scale, content=scale.content | {"kl": 0.0})

    @cached_property
    def plan(self) -> Plan:
        """What is sampled and trained."""
        return plan_study(self.scale, REPOSITORY)

    def law(self, domains: DomainSet) -> Law:
        """The law over a domain set."""
        catalogue = DomainSet.load(CONFIG / "domains" / "tiny.yaml")
        rng = np.random.default_rng(self.seed)
        known = {d.name: rng.normal(-0.5, 2.0, len(self.tasks)) for d in catalogue}
        for source in catalogue.sources:
            parts = catalogue.of_source(source)
            rows, tokens = [known[d.name] for d in parts], [d.tokens for d in parts]
            known.setdefault(source, np.average(rows, axis=0, weights=tokens))
        columns = np.column_stack([known[name] for name in domains.names])
        size = len(self.tasks)
        return Law(domains.names, self.tasks, columns, np.linspace(0.5, 1.5, size), np.zeros(size))

    def work(self, update: UpdatePlan, stage: str) -> StageWork:
        """A stage of an update."""
        previous = None if stage == INITIAL else self.folder / f"{update.name}-{INITIAL}"
        return StageWork(
            update.sequence, stage, previous, olmix_base(),
            Jobs(self.plan).request_of("olmix_base"), self.scale["swarm"]["updates"],
        )  # fmt: skip

    def pool(self, update: UpdatePlan, stage: str) -> SwarmTable:
        """The pool of a stage, measured."""
        name, domains = update.pools[stage], self.work(update, stage).domains
        spec = replace(self.plan.mixes[name], space=SpaceSpec(stage))
        swarm = sample_mixes(
            spec, update.sequence, prior=None, distributions=self.scale["swarm"], caps={}
        )
        names = [f"{name}-{number:04d}" for number in range(len(swarm))]
        return self.law(domains).run_swarm(swarm.mixes, names, 0)

    def follow(self, update: UpdatePlan) -> dict[str, SwarmTable]:
        """Write the mixes of both stages; return the last pool and the target runs."""
        group, tables = update.groups[update.name], {}
        for stage in update.stages:
            work, step = self.work(update, stage), Jobs(self.plan).stage(group.at(stage))
            tables[stage, "pool"] = self.pool(update, stage)
            if step.sampled:
                path = self.folder / f"{group.at(stage)}-sampled.csv"
                script("sample_stage").main(work, step.sampled, 1, path)
                runs, _, mixes = read_mixes(path)
                tables[stage, "own"] = self.law(work.domains).run_swarm(mixes, runs, 0)
            out = self.folder / group.at(stage)
            script("update_mixes").main(
                replace(work, tables=tables), step.chains, out, out.with_suffix(".csv")
            )
        runs, _, mixes = read_mixes(self.folder / f"{group.at(update.last)}.csv")
        targets = self.law(work.domains).run_swarm(mixes, runs, 0)
        return {update.pools[update.last]: tables[update.last, "pool"], group.target: targets}

    def least(self, name: str, requested: str) -> float:
        """The lowest BPB that any mix can have by the law, after an update and under the caps."""
        work = self.work(self.plan.single_updates[name], "updated")
        request = Request.for_domains(
            work.domains,
            kl=0.0,
            repetition=self.scale["repetition"],
            requested=self.scale["requested_tokens"][requested],
        )
        return propose_exact(self.law(work.domains).surrogate(), request).average

    def data(self, question: str) -> QuestionData:
        """The inputs of a question's analysis."""
        job = Jobs(self.plan).question(question)
        groups = [group for group, _ in self.plan.reads[question].stages]
        updates = [self.plan.single_updates[name] for name in groups]
        tables = {}
        for update in updates:
            for name, table in self.follow(update).items():
                ratios, metrics = tables[name] = both(self.folder / "tables" / name)
                write_table(ratios, table.runs, table.domains, table.mixes)
                write_table(metrics, table.runs, table.tasks, table.metrics)
        DomainSet.load(CONFIG / "domains" / "tiny.yaml").save(self.folder / "domains.json")
        write_json(self.folder / "families.json", {"all": list(self.tasks)})
        mixes = [update.groups[update.name].at(update.last) for update in updates]
        return QuestionData(
            scale="made-up",
            settings=settings_of(question, self.scale),
            data=self.folder,
            tables=tables,
            proposals={name: self.folder / name for name in mixes},
            method=olmix_base(),
            planned=job.planned,
        )


def script(name: str) -> ModuleType:
    """A script of the workflow, as a module."""
    spec = spec_from_file_location(name, REPOSITORY / "scripts" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.slow)])
def exact_updates(request: pytest.FixtureRequest, tmp_path_factory) -> ExactUpdates:
    """Two laws: by the first little moves to the added domains, by the second much."""
    return ExactUpdates(tmp_path_factory.mktemp("exact"), request.param)
