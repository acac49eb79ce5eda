"""Updates under systems: closed forms where nothing is trained, rounds on an exact law, refusals.

The smoke sequence has every kind of update, virtual domains of two sources, and a removal after
which nothing is left to recompute.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
import yaml

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request, read_mix
from olmix.questions.catalogue import plan_study
from olmix.simulation.law import Law
from olmix.study.chain import Chain
from olmix.study.jobs import Jobs
from olmix.study.plan import Plan
from olmix.study.scale import load_scale
from olmix.study.system_answers import RoundRuns
from olmix.study.system_updates import SystemAtStage
from olmix.study.update_chain import StageWork
from olmix.updates.collapse import Collapse
from olmix.updates.sequence import INITIAL

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"
TASKS = tuple(f"task{number}" for number in range(9))
FULL, PARTIAL, ALL = "full_mixture_reuse", "partial_mixture_reuse", "full_recomputation"


def planned(method: str, folder: Path, **changes) -> Plan:
    """The plan of the smoke scale with a sequence that names a method."""
    scale = load_scale(CONFIG / "scales", "smoke")
    content = yaml.safe_load((REPOSITORY / scale["updates"]).read_text())
    content |= {"method": method, "domains": str(CONFIG / "domains" / "tiny.yaml")}
    path = folder / "updates.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    changed = scale.content | {"updates": str(path)} | changes
    return plan_study(replace(scale, content=changed), REPOSITORY)


def chain(strategy: str, c: float = 3, seed: int = 0) -> Chain:
    return Chain(strategy, c, "relaxed", seed)


@dataclass(frozen=True)
class Walk:
    """The plan of a sequence under a system, an exact law of its domains, a folder of mixes."""

    plan: Plan
    folder: Path

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(self.plan)

    def law(self, domains: DomainSet) -> Law:
        """Coefficients by name: one of a revised or divided domain's versions is another's."""
        columns = [_coefficients(f"{domain.name}@{domain.version}") for domain in domains]
        size = len(TASKS)
        return Law(
            domains.names, TASKS, np.column_stack(columns), np.linspace(0.5, 1.5, size),
            np.zeros(size),
        )  # fmt: skip

    def at(self, stage: str, rounds: dict[str, RoundRuns | None]) -> SystemAtStage:
        updates, job = self.plan.updates, self.jobs.stage(f"main-{stage}")
        previous = None if stage == INITIAL else self.folder / updates.previous(stage)
        work = StageWork(updates.sequence, stage, previous, request=job.request)
        return SystemAtStage(work, updates.system, job.method, rounds)

    def follow(self, chains: list[Chain]) -> dict[str, dict[str, RoundRuns | None]]:
        """All stages, round by round, as the workflow would; the runs by stage and round."""
        found = {}
        for stage in self.plan.updates.stages:
            rounds: dict[str, RoundRuns | None] = {}
            for number, name in enumerate(self.jobs.stage(f"main-{stage}").rounds):
                asked = [
                    (one, self.at(stage, rounds).ask(one, size=size, number=number))
                    for record, size in self.jobs.round(name).chains
                    if (one := Chain(**record)) in chains
                ]
                rounds[name] = self._measured(stage, name, asked)
            found[stage] = rounds
            for one in chains:
                if stage == self.plan.updates.last or not one.follows.from_scratch:
                    proposal = self.at(stage, rounds).propose(one)
                    proposal.save(self.folder / stage / f"{one.name}.json")
        return found

    def _measured(self, stage: str, name: str, asked) -> RoundRuns | None:
        runs = [f"{one.name}-{name}-{row}" for one, each in asked for row in range(len(each.mixes))]
        if not runs:
            return None
        mixes = np.vstack([each.mixes for _, each in asked])
        table = self.law(self.domains(stage)).run_swarm(mixes, runs, 0)
        return RoundRuns(table, tuple(model for _, each in asked for model in each.models))

    def domains(self, stage: str) -> DomainSet:
        stages = self.plan.updates.sequence.stages()
        return next(found.domains for found in stages if found.name == stage)

    def mix(self, stage: str, one: Chain) -> Mix:
        return read_mix(self.folder / stage / f"{one.name}.json")

    def space(self, stage: str, one: Chain) -> Collapse:
        """What a chain that reuses mixtures recomputes at a stage."""
        sequence = self.plan.updates.sequence
        before = self.mix(self.plan.updates.previous(stage), one)
        split = (sequence.full_reuse if one.strategy == FULL else sequence.partial_reuse)(stage)
        return Collapse(self.domains(stage), split, before)


@cache
def _coefficients(key: str) -> np.ndarray:
    return np.random.default_rng(list(key.encode())).normal(-0.5, 1.0, len(TASKS))


@pytest.fixture
def followed(tmp_path):
    def follow(method: str, chains: list[Chain], **changes) -> Walk:
        walk = Walk(planned(method, tmp_path, **changes), tmp_path)
        walk.follow(chains)
        return walk

    return follow


# Nothing is trained


def test_natural_is_natural_at_every_stage_whatever_is_frozen(followed):
    """Frozen natural ratios are natural, so that reuse and recomputation are one."""
    chains = [chain(FULL), chain(PARTIAL), chain(ALL)]
    walk = followed("natural", chains)
    for stage in walk.plan.updates.stages:
        wanted = walk.domains(stage).natural().weights
        for one in chains[: 3 if stage == walk.plan.updates.last else 2]:
            np.testing.assert_allclose(walk.mix(stage, one).weights, wanted, atol=1e-12)


def test_uniform_gives_every_collapsed_domain_the_same(followed):
    walk = followed("uniform", [chain(FULL), chain(ALL)])
    # Four topics at first; then they are one of three.
    assert walk.mix("add_code", chain(FULL)).weights == pytest.approx([*[1 / 12] * 4, 1 / 3, 1 / 3])
    last = walk.mix(walk.plan.updates.last, chain(ALL))
    assert last.weights == pytest.approx(np.full(len(last.names), 1 / len(last.names)))


def even_under(caps: np.ndarray) -> np.ndarray:
    """min(level, caps) of sum 1, by bisection on the level."""
    low, high = 0.0, 1.0
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if np.minimum(level, caps).sum() < 1 else (low, level)
    return np.minimum(high, caps)


@pytest.mark.parametrize("strategy", [FULL, PARTIAL])
def test_unimax_is_even_over_what_is_recomputed_and_repeats_nothing_over_four_times(
    followed, strategy
):
    """R is what makes the virtual domain's cap bind: 4/R times the least N/p̃ inside it."""
    requested = {"relaxed": 2_500_000, "tight": 2_500_000}
    one = chain(strategy)
    walk = followed("unimax", [one], requested_tokens=requested)
    binding = 0
    for stage in walk.plan.updates.updates:
        space, mix = walk.space(stage, one), walk.mix(stage, one)
        if space.split.dimension:
            ratios = [space.existing.restricted(m).to_dict() for m in space.split.groups.values()]
            shares = {name: share for each in ratios for name, share in each.items()}
            tokens = [
                min(
                    space.domains[name].tokens / shares.get(name, 1.0)
                    for name in space.split.groups.get(virtual, (virtual,))
                )
                for virtual in space.names
            ]
            caps = 4 * np.array(tokens) / requested["relaxed"]
            wanted = space.expand(Mix(space.names, even_under(caps)))
            np.testing.assert_allclose(mix.weights, wanted.weights, atol=1e-9)
            binding += bool((even_under(caps) > caps - 1e-12).any())
            repeats = requested["relaxed"] * mix.weights / space.domains.tokens
            assert repeats.max() <= 4 * (1 + 1e-9)
    assert binding


def test_caps_are_around_a_system_that_is_told_to_keep_them(tmp_path):
    """After a removal too, where frozen ratios alone would break them."""
    requested = {"relaxed": 2_500_000, "tight": 2_500_000}
    plan, one = planned("uniform", tmp_path, requested_tokens=requested), chain(FULL)
    assert Jobs(plan).stage("main-add_code").request["repetition"] is None
    capped = replace(plan.updates.system, repetition_constraint=True)
    plan.updates = replace(plan.updates, system=capped)
    walk = Walk(plan, tmp_path)
    walk.follow([one])
    broken = 0
    for stage in plan.updates.stages:
        caps = walk.domains(stage).caps(4, requested["relaxed"])
        assert (walk.mix(stage, one).weights <= caps * (1 + 1e-6)).all()
        broken += bool((caps < 1 / len(caps)).any())
    assert broken


def test_a_system_without_runs_trains_none_and_draws_none(tmp_path):
    plan = planned("unimax", tmp_path)
    updates = plan.updates
    assert {updates.total_runs(one) for one in updates.groups["main"].chains} == {0}
    made_by = {spec.made_by for name, spec in plan.swarms.items() if name.startswith("main-")}
    assert made_by == {"update_mixes"}
    assert not plan.needed_swarms("updates") - {"main-target"}
    assert Jobs(plan).stage("main-add_code").tables == {}


def test_strategies_that_need_a_law_or_others_runs_are_left_out(tmp_path):
    updates = planned("unimax", tmp_path).updates
    strategies = {one.strategy for one in updates.groups["main"].chains}
    assert strategies == {ALL, FULL, PARTIAL}
    assert not any(one.law for one in updates.groups["fewer_runs"].chains)


# Rounds


def test_rounds_add_up_to_the_budgets_of_their_chains(tmp_path):
    plan = planned("olmix_rounds", tmp_path)
    updates, jobs = plan.updates, Jobs(plan)
    for group in updates.groups.values():
        for stage in updates.stages:
            active = updates.active(group.name, stage)
            runs = sum(plan.rounds[name].size for name in jobs.stage(group.at(stage)).rounds)
            assert runs == sum(updates.budget(one, stage) for one in active)
    one = chain(FULL)
    # 1.25, 0.75, 0.75 and 0.75 runs a weight: 4 weights at first, then the virtual one and 2.
    assert updates.round_sizes(one, INITIAL) == [5, 3, 3, 3]
    assert updates.round_sizes(one, "add_code") == [4, 2, 2, 2]
    assert updates.round_sizes(one, "remove_algebra_code") == []
    assert updates.round_sizes(chain(FULL, c=1), INITIAL) == [5, 1, 1, 1]
    assert updates.total_runs(one) == sum(sum(updates.round_sizes(one, s)) for s in updates.stages)


def test_a_round_of_a_stage_reads_the_rounds_before_it_and_the_mixes_before_the_update(tmp_path):
    jobs = Jobs(planned("climb", tmp_path))
    second = jobs.round("main-add_code-round1")
    assert second.input["ratios"] == [jobs.swarm("main-add_code-round0").ratios]
    assert second.input["previous"] == jobs.stage("main-initial").mixes
    assert (second.stage, second.rerun_when) == ("add_code", jobs.stage("main-add_code").rerun_when)
    assert jobs.plan.after["main-add_code-round0"] == tuple(jobs.stage("main-initial").rounds)
    assert jobs.stage("main-add_code").tables["asked"] == [
        jobs.round(name).asked for name in jobs.stage("main-add_code").rounds
    ]
    assert jobs.round("climb-round0").chains == []


def test_rounds_find_the_optimum_of_what_is_recomputed(followed):
    """On an exact law every stage's regret is within 2 % of its optimum's gain over the prior.

    OlmixBase in rounds fits a law of the right form, over virtual domains as over others.
    """
    one = chain(PARTIAL, seed=1)
    walk = followed("olmix_rounds", [one])
    sequence, scale = walk.plan.updates.sequence, walk.plan.scale
    asked = {
        "kl": scale["kl"], "repetition": scale["repetition"],
        "requested": scale["requested_tokens"]["relaxed"],
    }  # fmt: skip
    for stage in walk.plan.updates.updates:
        space, mix = walk.space(stage, one), walk.mix(stage, one)
        record = read_json(walk.folder / stage / f"{one.name}.json")
        if not space.split.dimension:
            assert record["status"].startswith("reused")
            continue
        for members in space.split.groups.values():
            np.testing.assert_allclose(
                mix.restricted(members).weights, space.existing.restricted(members).weights,
                atol=1e-9,
            )  # fmt: skip
        law = walk.law(space.domains)
        collapsed = replace(
            law, domains=space.names, coefficients=law.coefficients @ space.expansion.T
        )
        request = space.request(**asked, prior=sequence.prior(stage, reuse=True))
        best = propose_exact(collapsed.surrogate(), request).mix.weights
        found = space.collapse(mix).weights
        gain = objective(collapsed, request, request.prior.weights) - objective(
            collapsed, request, best
        )
        regret = objective(collapsed, request, found) - objective(collapsed, request, best)
        assert -1e-6 <= regret <= 0.02 * gain
        assert sum(record["made_from"]["runs"].values()) <= walk.plan.updates.budget(one, stage)


def objective(law: Law, request: Request, weights: np.ndarray) -> float:
    used = weights > 0
    divergence = (weights[used] * np.log(weights[used] / request.prior.weights[used])).sum()
    return law.bpb(weights).mean() + request.kl * divergence


# What is refused


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("nobody", "method is 'nobody', expected one of admire, autoscale, bimix, climb,"),
        ("odm", "'odm', which is not offered in updates: it steers the target run over whole"),
        ("skill_it", "'skill_it', which is not offered in updates: it steers the target run"),
        ("doremi", "'doremi', which is not offered in updates: it steers a run over whole domains"),
        ("doge", "'doge', which is not offered in updates: it steers a run over whole domains"),
        ("chameleon", "'chameleon', which is not offered in updates: it looks into a run over"),
    ],
)
def test_methods_that_cannot_answer_an_update_are_refused_by_name(tmp_path, method, message):
    with pytest.raises(OlmixError) as error:
        planned(method, tmp_path)
    assert message in str(error.value)
    assert str(tmp_path / "updates.yaml") in str(error.value)


def test_admire_is_refused_without_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr("olmix.systems.admire.lacks", lambda: "BoTorch")
    with pytest.raises(OlmixError, match="method is 'admire', which needs BoTorch"):
        planned("admire", tmp_path)
    monkeypatch.setattr("olmix.systems.admire.lacks", lambda: "")
    scale = load_scale(CONFIG / "scales", "measured")
    (tmp_path / "few.yaml").write_text(
        "domains: {a: 10, b: 5}\ninitial: [a]\nmethod: admire\nupdates: [{name: add, add: [b]}]\n"
    )
    scale = replace(scale, content=scale.content | {"updates": str(tmp_path / "few.yaml")})
    with pytest.raises(OlmixError, match="needs models of other sizes"):
        plan_study(scale, REPOSITORY)


def test_a_stage_is_not_named_like_a_round(tmp_path):
    path = tmp_path / "few.yaml"
    path.write_text(
        "domains: {a: 10, b: 5}\ninitial: [a]\nupdates: [{name: add-round1, add: [b]}]\n"
    )
    scale = load_scale(CONFIG / "scales", "smoke")
    scale = replace(scale, content=scale.content | {"updates": str(path)})
    with pytest.raises(OlmixError, match="name 'add-round1' means something else here"):
        plan_study(scale, REPOSITORY)
