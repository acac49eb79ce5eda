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
from olmix.simulate import Law
from olmix.study.mixes import sample_mixes
from olmix.study.scale import Scale, load_scale
from olmix.study.single_updates import SingleUpdate, add_single_updates, load_single_updates
from olmix.study.spec import Plan, SpaceSpec
from olmix.study.update_chain import StageWork
from olmix.study.update_plan import FROM_SCRATCH, UpdatePlan
from olmix.tables import SwarmTable, read_mixes, write_table
from olmix.update_sequence import INITIAL, load_updates

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"


@pytest.fixture
def question(tmp_path: Path) -> Callable[..., QuestionData]:
    """``question(settings, tables={swarm: table}, proposals={study: {name: record}}, ...)``."""

    def make(
        settings: Mapping[str, Any],
        tables: Mapping[str, SwarmTable],
        proposals: Mapping[str, Mapping[str, Any]] | None = None,
        families: Mapping[str, Sequence[str]] | None = None,
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
            settings={"seeds": 1, "target_repeats": 1, **settings},
            data=tmp_path / "data",
            tables={name: tmp_path / "tables" / name for name in tables},
            proposals={study: tmp_path / "proposals" / study for study in proposals or {}},
        )

    return make


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
    def plan(self) -> tuple[Plan, dict[str, SingleUpdate]]:
        """What is sampled and trained."""
        main = UpdatePlan(load_updates(REPOSITORY / self.scale["updates"]), self.scale)
        plan, updates = Plan(), load_single_updates(REPOSITORY, main)
        main.add_to(plan)
        add_single_updates(plan, updates)
        return plan, updates

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

    def work(self, update: SingleUpdate, stage: str) -> StageWork:
        """A stage of an update."""
        previous = None if stage == INITIAL else self.folder / f"{update.name}-{INITIAL}"
        request = {key: self.scale[key] for key in ("kl", "repetition", "requested_tokens")}
        distribution = self.scale["swarm"]["updates"]
        return StageWork(update.sequence, stage, previous, request, distribution)

    def pool(self, update: SingleUpdate, stage: str) -> SwarmTable:
        """The pool of a stage, measured."""
        name, domains = update.pool(stage), self.work(update, stage).domains
        spec = replace(self.plan[0].mixes[name], space=SpaceSpec(stage))
        swarm = sample_mixes(
            spec, update.sequence, prior=None, distributions=self.scale["swarm"], caps={}
        )
        names = [f"{name}-{number:04d}" for number in range(len(swarm))]
        return self.law(domains).run_swarm(swarm.mixes, names, 0)

    def follow(self, update: SingleUpdate) -> dict[str, SwarmTable]:
        """Write the mixes of both stages; return the last pool and the target runs."""
        chains = update.groups()[update.name]
        pools, own = {}, {}
        for stage in update.stages:
            work, pools[stage] = self.work(update, stage), self.pool(update, stage)
            active = [c for c in chains if stage != INITIAL or c.strategy not in FROM_SCRATCH]
            wanted = [(c.to_dict(), update.runs(c, stage)) for c in active]
            wanted = [(chain, runs) for chain, runs in wanted if runs]
            if wanted:
                path = self.folder / f"{update.own}-sampled.csv"
                script("sample_stage").main(work, wanted, None, 1, path)
                runs, _, mixes = read_mixes(path)
                own[stage] = self.law(work.domains).run_swarm(mixes, runs, 0)
            out = self.folder / f"{update.name}-{stage}"
            script("update_mixes").main(
                work, [c.to_dict() for c in active], own, pools, None, None, out,
                out.with_suffix(".csv"),
            )  # fmt: skip
        runs, _, mixes = read_mixes(self.folder / f"{update.own}.csv")
        targets = self.law(work.domains).run_swarm(mixes, runs, 0)
        return {update.pool(update.stage): pools[update.stage], update.target: targets}

    def least(self, name: str, requested: str) -> float:
        """The lowest BPB that any mix can have by the law, after an update and under the caps."""
        work = self.work(self.plan[1][name], "updated")
        request = Request.for_domains(
            work.domains,
            kl=0.0,
            repetition=self.scale["repetition"],
            requested=self.scale["requested_tokens"][requested],
        )
        return propose_exact(self.law(work.domains).surrogate(), request).average

    def data(self, question: str) -> tuple[QuestionData, dict[str, dict[str, str]]]:
        """The inputs of a question's analysis."""
        plan, updates = self.plan
        wanted = {n: u for n, u in updates.items() if u.target in plan.reads[question]}
        tables = {}
        for update in wanted.values():
            for name, table in self.follow(update).items():
                tables[name] = self.folder / "tables" / name
                write_table(tables[name] / "ratios.csv", table.runs, table.domains, table.mixes)
                write_table(tables[name] / "metrics.csv", table.runs, table.tasks, table.metrics)
        DomainSet.load(CONFIG / "domains" / "tiny.yaml").save(self.folder / "domains.json")
        data = QuestionData(
            scale="made-up",
            settings={
                key: self.scale[key] for key in ("seeds", "target_repeats", "single_updates")
            },
            data=self.folder,
            tables=tables,
            proposals={u.own: self.folder / u.own for u in wanted.values()},
        )
        return data, {
            n: {"file": REPOSITORY / u.file, "stage": u.stage, "pool": u.pool(u.stage)}
            for n, u in wanted.items()
        }


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
