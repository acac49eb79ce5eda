"""Every strategy followed through every kind of update on an exact law, with nothing trained.

A domain's coefficients go by its name and version; a partitioned domain's are the natural average
of its parts', so that a run on the whole is the run on its parts in natural proportion.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import CUT, Request, read_mix
from olmix.simulation.law import Law
from olmix.study.chain import Chain
from olmix.study.proposals import olmix_base
from olmix.study.scale import load_scale
from olmix.study.update_chain import StageWork, read_choices
from olmix.study.update_plan import UpdatePlan
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
from olmix.tables import SwarmTable, read_mixes
from olmix.updates.operators import Partition, Remove, ReuseSplit, Revise
from olmix.updates.planning import swarm_size
from olmix.updates.sequence import INITIAL, UpdateSequence, load_updates
from olmix.updates.strategies import AUTO_PARTIAL_REUSE

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"
TASKS = tuple(f"task{number}" for number in range(9))
AUTO = AUTO_PARTIAL_REUSE.name
STRATEGIES = (
    "full_recomputation", "swarm_reuse", "full_mixture_reuse", "partial_mixture_reuse", AUTO
)  # fmt: skip
CHAINS = [Chain(strategy, 3, "relaxed", 1) for strategy in STRATEGIES]
# From its smallest budget on: hardly more runs than its probe.
CHAINS += [Chain(AUTO, 1, "relaxed", 1)]
NAMES = [f"{chain.strategy}-c{chain.c}" for chain in CHAINS]


def script(name: str):
    """A script of the workflow, as a module."""
    spec = spec_from_file_location(name, REPOSITORY / "scripts" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Walk:
    """The smoke sequence, a law over all its domains and versions, and a folder to work in."""

    folder: Path
    sequence: UpdateSequence
    seed: int

    @cached_property
    def coefficients(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        stages = self.sequence.stages()
        versions = [d for stage in stages for d in stage.domains]
        table = {_key(d): rng.normal(-0.5, 1.0, len(TASKS)) for d in dict.fromkeys(versions)}
        for before, stage in itertools.pairwise(stages):
            for operator in stage.update.operators:
                if isinstance(operator, Partition):
                    shares = [part.tokens for part in operator.parts]
                    table[_key(before.domains[operator.whole])] = np.average(
                        [table[_key(part)] for part in operator.parts], axis=0, weights=shares
                    )
        return table

    def law(self, domains: DomainSet) -> Law:
        columns = np.column_stack([self.coefficients[_key(domain)] for domain in domains])
        size = len(TASKS)
        return Law(domains.names, TASKS, columns, np.linspace(0.5, 1.5, size), np.zeros(size))

    @cached_property
    def plan(self) -> UpdatePlan:
        plan = UpdatePlan("smoke.yaml", self.sequence, load_scale(CONFIG / "scales", "smoke"))
        plan.follow("main", CHAINS)
        return plan

    def work(self, stage: str) -> StageWork:
        scale = self.plan.scale
        previous = None if stage == INITIAL else self.folder / self.plan.previous(stage)
        request = {key: scale[key] for key in ("kl", "repetition", "requested_tokens")}
        return StageWork(
            self.sequence, stage, previous, olmix_base(), request, scale["swarm"]["updates"]
        )

    def pool(self, stage: str) -> SwarmTable:
        work = self.work(stage)
        size = self.plan.pool_size(stage)
        distribution = SwarmDistribution("sparse", **work.distribution)
        mixes = sample_swarm(
            self.sequence.prior(stage), size, seed=11, distribution=distribution,
            sources=[d.source for d in work.domains],
        ).mixes  # fmt: skip
        names = [f"pool-{stage}-{number}" for number in range(size)]
        return self.law(work.domains).run_swarm(mixes, names, 0)

    def swarm(self, work: StageWork, count, seed: int) -> SwarmTable | None:
        """Sample as the workflow does, and measure by the law."""
        stage = work.stage
        wanted = [(c.to_dict(), count(c, stage)) for c in CHAINS if count(c, stage)]
        if not wanted:
            return None
        path = self.folder / f"{stage}-{seed}.csv"
        script("sample_stage").main(work, wanted, seed, path)
        runs, names, mixes = read_mixes(path)
        assert names == work.domains.names
        return self.law(work.domains).run_swarm(mixes, runs, 0)

    @cached_property
    def pools(self) -> dict[tuple[str, str], SwarmTable]:
        stages = [stage for stage in self.plan.stages if self.plan.pool_size(stage)]
        return {(stage, "pool"): self.pool(stage) for stage in stages}

    def follow(self) -> dict[tuple[str, str], SwarmTable]:
        """All stages: the swarms of each by stage and role, mixes in the folder."""
        tables = dict(self.pools)
        for number, stage in enumerate(self.plan.stages):
            work = self.work(stage)
            if stage != INITIAL:
                probe = self.swarm(work, self.plan.probe_runs, 2 * number)
                if probe is not None:
                    tables[stage, "probe"] = probe
                    path = self.folder / f"{stage}-choices.json"
                    budgets = [
                        (c.to_dict(), self.plan.budget(c, stage))
                        for c in CHAINS if self.plan.probe_runs(c, stage)
                    ]  # fmt: skip
                    choosing = replace(work, tables=tables)
                    script("choose_recomputed").main(choosing, budgets, path)
                    work = replace(work, choices=read_choices(path))
                own = self.swarm(work, self.plan.runs, 2 * number + 1)
                if own is not None:
                    tables[stage, "own"] = own
            active = [chain.to_dict() for chain in self.plan.active("main", stage)]
            script("update_mixes").main(
                replace(work, tables=tables), active, self.folder / stage,
                self.folder / f"{stage}.csv", cores=2,
            )  # fmt: skip
        return tables

    def mix(self, stage: str, chain: Chain) -> Mix:
        return read_mix(self.folder / stage / f"{chain.name}.json")


def _key(domain) -> str:
    return f"{domain.name}@{domain.version}"


# By the second law the removal lifts domains over their caps.
@pytest.fixture(scope="module", params=[4, 1], ids=["law4", "law1"])
def walk(request, tmp_path_factory) -> Walk:
    sequence = load_updates(CONFIG / "updates" / "smoke.yaml")
    return Walk(tmp_path_factory.mktemp("walk"), sequence, seed=request.param)


@pytest.fixture(scope="module")
def tables(walk) -> dict[tuple[str, str], SwarmTable]:
    return walk.follow()


@pytest.fixture
def final(walk, tables):
    """The last stage, its law, and its request."""
    work = walk.work(walk.plan.stages[-1])
    request = Request.for_domains(
        work.domains, kl=0.05, repetition=4,
        requested=work.request["requested_tokens"]["relaxed"],
        prior=walk.sequence.prior(work.stage),
    )  # fmt: skip
    return work, walk.law(work.domains), request


def objective(law: Law, request: Request, weights: np.ndarray) -> float:
    used = weights > 0
    divergence = (weights[used] * np.log(weights[used] / request.prior.weights[used])).sum()
    return law.bpb(weights).mean() + request.kl * divergence


@pytest.mark.parametrize("chain", CHAINS, ids=NAMES)
def test_mixes_are_over_the_stages_domains_and_meet_the_caps(walk, tables, chain):
    for stage in walk.plan.stages:
        if chain.strategy == "full_recomputation" and stage != walk.plan.stages[-1]:
            continue
        work, mix = walk.work(stage), walk.mix(stage, chain)
        assert mix.names == work.domains.names
        assert mix.weights.sum() == pytest.approx(1, abs=1e-12)
        caps = work.domains.caps(4, work.request["requested_tokens"]["relaxed"])
        assert (mix.weights <= caps + 1e-9).all()
        record = read_json(walk.folder / stage / f"{chain.name}.json")
        found, _, cut = record["status"].partition(", ")
        assert found in ("optimal", "measured", "reused")
        assert cut in ("", CUT)


def test_full_recomputation_finds_the_laws_optimum(walk, final):
    _, law, request = final
    best = propose_exact(law.surrogate(), request).mix.weights
    found = walk.mix(walk.plan.stages[-1], CHAINS[0]).weights
    gain = objective(law, request, request.prior.weights) - objective(law, request, best)
    assert gain > 0.05
    assert -1e-9 <= objective(law, request, found) - objective(law, request, best) < 0.02 * gain


@pytest.mark.parametrize("chain", CHAINS, ids=NAMES)
def test_no_chain_ends_worse_than_natural(walk, final, chain):
    work, law, _ = final
    natural = law.bpb(work.domains.natural().weights).mean()
    assert law.bpb(walk.mix(work.stage, chain).weights).mean() < natural


def test_the_table_of_mixes_starts_with_natural(walk, final):
    work, *_ = final
    names, domains, mixes = read_mixes(walk.folder / f"{work.stage}.csv")
    assert names == ["natural", *(chain.name for chain in CHAINS)]
    assert domains == work.domains.names
    np.testing.assert_allclose(mixes[0], work.domains.natural().weights)
    np.testing.assert_allclose(mixes[2], walk.mix(work.stage, CHAINS[1]).weights)


@pytest.mark.parametrize("strategy", ["full_mixture_reuse", "partial_mixture_reuse", AUTO])
def test_frozen_ratios_stay(walk, tables, strategy):
    chain = CHAINS[STRATEGIES.index(strategy)]
    for stage in walk.plan.updates:
        work = walk.work(stage)
        choices = walk.folder / f"{stage}-choices.json"
        if strategy == "partial_mixture_reuse":
            split = walk.sequence.partial_reuse(stage)
        elif strategy == AUTO and choices.exists():
            split = ReuseSplit.from_dict(read_json(choices)[chain.name])
        else:
            split = walk.sequence.full_reuse(stage)
        before, after = work.of(chain).existing, walk.mix(stage, chain)
        status = read_json(walk.folder / stage / f"{chain.name}.json")["status"]
        if CUT in status:
            assert stage == "remove_algebra_code"
            continue
        own = replace(work, tables=tables).of(chain).own(stage, "own")
        mixes = [] if own is None else own.mixes
        for mix in [after, *(Mix(work.domains.names, weights) for weights in mixes)]:
            for members in split.groups.values():
                if sum(mix[name] for name in members) > 0:
                    np.testing.assert_allclose(
                        mix.restricted(members).weights, before.restricted(members).weights,
                        atol=1e-9,
                    )  # fmt: skip


def test_swarm_reuse_keeps_exactly_the_runs_that_can_be_represented(walk, tables):
    chain = CHAINS[1]
    stages = walk.sequence.stages()
    names = [stage.name for stage in stages]
    lost = 0
    for place, stage in enumerate(stages[1:], start=1):
        at = replace(walk.work(stage.name), tables=tables).of(chain)
        kept = at.accumulated()
        assert kept.domains == stage.domains.names
        np.testing.assert_allclose(kept.mixes.sum(1), 1)
        expected = []
        for start, name in enumerate(names[: place + 1]):
            drawn = at.drawn(name)
            if drawn is None:
                continue
            assert len(drawn) == walk.plan.budget(chain, name)
            gone = _gone(stages, start, place)
            for run, mix in zip(drawn.runs, drawn.mixes, strict=True):
                used = Mix(drawn.domains, mix).support
                expected += [run] if not gone & set(used) else []
                lost += bool(gone & set(used))
        assert list(kept.runs) == expected
        # What was measured goes with the run, and the law agrees with its mix on the new domains.
        np.testing.assert_allclose(walk.law(stage.domains).bpb(kept.mixes), kept.metrics)
    assert lost > 0, "no run was ever lost: the test would show nothing"


def _gone(stages, start: int, place: int) -> set[str]:
    """Domains whose contents of stage ``start`` are no longer there at stage ``place``."""
    names = set()
    for stage in stages[start + 1 : place + 1]:
        for operator in stage.update.operators:
            if isinstance(operator, Revise):
                names.add(operator.name)
            if isinstance(operator, Remove):
                names.update(operator.names)
    return names


@pytest.mark.parametrize("chain", CHAINS[2:], ids=NAMES[2:])
def test_chains_train_what_the_plan_says(walk, tables, chain):
    for stage in walk.plan.updates:
        at = replace(walk.work(stage), tables=tables).of(chain)
        swarms = [at.own(stage, role) for role in ("own", "probe")]
        runs = [run for table in swarms if table is not None for run in table.runs]
        assert len(runs) == len(set(runs)) == walk.plan.budget(chain, stage)


@pytest.mark.parametrize("chain", CHAINS[-2:], ids=NAMES[-2:])
def test_auto_remembers_the_probes_of_earlier_stages(walk, tables, chain):
    known = replace(walk.work("add_sources"), tables=tables).of(chain).accumulated(before=True)
    new = [run for run in known.runs if chain.owns(run)]
    assert len(new) == walk.plan.budget(chain, "add_code") > walk.plan.runs(chain, "add_code")


@pytest.mark.parametrize("chain", CHAINS[-2:], ids=NAMES[-2:])
def test_auto_choices_stay_within_partial_reuses_budget(walk, tables, chain):
    for stage in walk.plan.updates:
        path = walk.folder / f"{stage}-choices.json"
        assert path.exists() == bool(walk.plan.probe_runs(chain, stage))
        if not path.exists():
            continue
        record = read_json(path)[chain.name]
        split = ReuseSplit.from_dict(record)
        assert swarm_size(split.dimension, chain.c) <= walk.plan.budget(chain, stage)
        assert set(split.members) == set(walk.work(stage).domains.names)
        assert [step["coupling"] for step in record["steps"]] == sorted(
            (step["coupling"] for step in record["steps"]), reverse=True
        )
        assert record["why"][0].startswith("Reusing all unaffected domains")


def test_seeds_draw_other_runs_of_the_pool(walk, tables):
    work, pool = walk.work(INITIAL), walk.pools[INITIAL, "pool"]
    pool = replace(pool, runs=tuple(f"a{i}" for i in range(len(pool))))
    wide = replace(
        pool, runs=pool.runs + tuple(f"b{i}" for i in range(len(pool))),
        mixes=np.vstack([pool.mixes] * 2), metrics=np.vstack([pool.metrics] * 2),
    )  # fmt: skip

    def draw(pool: SwarmTable, c: int, seed: int) -> tuple[str, ...]:
        chain = Chain("swarm_reuse", c, "relaxed", seed)
        return replace(work, tables={(INITIAL, "pool"): pool}).of(chain).drawn(INITIAL).runs

    drawn = {
        (c, seed): draw(wide, c, seed)
        for c in (1, 3) for seed in (0, 1)
    }  # fmt: skip
    assert {key: len(runs) for key, runs in drawn.items()} == {
        (1, 0): 5, (1, 1): 5, (3, 0): 16, (3, 1): 16,
    }  # fmt: skip
    assert set(drawn[1, 0]) <= set(drawn[3, 0])
    assert drawn[3, 0] != drawn[3, 1]
    with pytest.raises(OlmixError, match="a pool of 3 runs in 1 parts, swarm_reuse-c3"):
        draw(pool.rows([0, 1, 2]), 3, 0)


@pytest.mark.parametrize("c", [1, 3])
def test_no_two_seeds_share_a_run_of_a_pool_that_is_split(walk, c):
    pool = walk.pools[INITIAL, "pool"]
    three = replace(
        pool, runs=tuple(f"r{i}" for i in range(3 * len(pool))),
        mixes=np.vstack([pool.mixes] * 3), metrics=np.vstack([pool.metrics] * 3),
    )  # fmt: skip
    work = replace(walk.work(INITIAL), tables={(INITIAL, "pool"): three}, parts=3)
    chains = [Chain("swarm_reuse", c, "relaxed", seed) for seed in range(3)]
    drawn = [set(work.of(chain).drawn(INITIAL).runs) for chain in chains]
    assert len(set.union(*drawn)) == sum(map(len, drawn))
    larger = replace(chains[0], c=3)
    assert drawn[0] <= set(work.of(larger).drawn(INITIAL).runs), "budgets of a seed are nested"


def test_a_removal_over_the_caps_is_cut_to_them(walk, tables):
    stage = "remove_algebra_code"
    records = [
        read_json(walk.folder / stage / f"{CHAINS[STRATEGIES.index(strategy)].name}.json")
        for strategy in ("full_mixture_reuse", AUTO)
    ]
    cut = [record for record in records if CUT in record["status"]]
    assert bool(cut) == (walk.seed == 1)
    for record in cut:
        left = [name for name in record["domains"] if name not in record["active_caps"]]
        assert record["active_caps"]
        mix = Mix(tuple(record["domains"]), record["weights"])
        existing = Mix.from_dict(record["made_from"]["existing_mix"])
        np.testing.assert_allclose(
            mix.restricted(left).weights, existing.restricted(left).weights, atol=1e-9
        )


def test_a_strategy_without_frozen_ratios_has_no_collapsed_space(walk, tables):
    with pytest.raises(OlmixError, match="'swarm_reuse' collapses nothing"):
        walk.work("add_code").of(CHAINS[1]).sample(1, seed=0)
