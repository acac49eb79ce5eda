"""Systems at run time: caps around every static one, rounds from files, what runs lead to."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo
from olmix.domains import DomainSet
from olmix.files import write_json
from olmix.mix import Mix
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.simulation.law import random_law
from olmix.study.proposals import olmix_base
from olmix.study.steered_runs import measure_graph, steering_of, unstored
from olmix.study.system_answers import RunsSoFar, answer, ask, read_rounds, system_request
from olmix.study.systems import load_systems
from olmix.systems import with_settings
from olmix.systems.kinds.rounds import Done, Rounds
from olmix.tables import write_table
from olmix.training.settings import RunSettings, data_fingerprint
from olmix.training.trainer import train_run
from olmix.updates.collapse import Collapse
from olmix.updates.operators import ReuseSplit

SYSTEMS = load_systems(Path(__file__).parents[2] / "config" / "methods")
STATIC = [name for name, system in SYSTEMS.items() if system.way != "online"]
TOKENS = {"web:a": 6000, "web:b": 1500, "web:c": 4000}
DOMAINS = DomainSet.from_token_counts(TOKENS)
METHOD = {"regressor": "log_linear", "granularity": "task", "proposer": "exact"}
SHAPE = ModelShape("test", 32, 16, 2, 2, 32, 32)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    tokenizer = TokenizerInfo("0" * 64, 32, 0)
    for seed, (name, tokens) in enumerate(TOKENS.items()):
        with StoreWriter(root / name.replace(":", "-"), domain=name, tokenizer=tokenizer) as store:
            steps = np.random.default_rng(seed).integers(1, 3 + seed, tokens - 1)
            store.add(np.cumsum(steps) % 31 + 1, bytes=tokens)
    return Corpus.open(root)


@pytest.fixture(scope="module")
def train(corpus, tmp_path_factory):
    """``train(mix)``: the folder of a short run, steered or not."""
    root = tmp_path_factory.mktemp("runs")

    def run(mix: dict[str, float], steering=None, reference=None) -> Path:
        settings = RunSettings(
            SHAPE, mix, 20 * 4 * 16, 16, 4, 0.01, data_fingerprint(corpus, mix),
            corpus.tokenizer.sha256, init=Init("fast"), max_repetition=40, steering=steering,
        )  # fmt: skip
        train_run(settings, corpus, root / settings.hash, root / "state", reference=reference)
        return root / settings.hash

    return run


@pytest.fixture
def rounds(tmp_path):
    """Two rounds as their jobs left them; the second asked for nothing."""
    law = random_law(DOMAINS, tuple(f"task{n}" for n in range(4)), seed=0, noise=0.01)
    rng = np.random.default_rng(0)
    for number, runs in enumerate((12, 0)):
        folder = tmp_path / str(number)
        names = [f"run{n}" for n in range(runs)]
        mixes = rng.dirichlet(np.ones(3), runs)
        write_json(folder / "asked.json", {"models": dict.fromkeys(names, "30m"), "why": ""})
        write_table(folder / "ratios.csv", names, DOMAINS.names, mixes)
        measured = law.run_swarm(mixes, names, 0).metrics if runs else np.empty((0, 0))
        write_table(folder / "metrics.csv", names, law.tasks if runs else [], measured)
    files = [
        [str(tmp_path / str(number) / name) for number in range(2)]
        for name in ("asked.json", "ratios.csv", "metrics.csv")
    ]
    return read_rounds(["first", "second"], *files)


def test_a_round_without_runs_is_passed_over(rounds):
    assert rounds["second"] is None
    evidence, system = RunsSoFar(DOMAINS, rounds), SYSTEMS["climb"]
    system = dataclasses.replace(system, settings={"candidates": 500})
    request = system_request(system, DOMAINS, kl=0.0, repetition=4, requested=1e4)
    told = {"models": {"30m": 1.0}, "method": METHOD}
    asked = ask(system, ("first", "second"), told, evidence, request, size=3, seed=2)
    assert asked.mixes.shape == (3, 3)
    proposal = answer(system, ("first", "second"), told, evidence, request)
    assert proposal.made_from["runs"] == {"30m": 12}


@pytest.mark.parametrize("name", STATIC)
def test_every_static_system_keeps_to_caps_where_it_is_told_to(name, rounds, train, corpus):
    """R is so large that most of what they would like breaks k·N/R."""
    system = dataclasses.replace(SYSTEMS[name], repetition_constraint=True)
    if name == "admire":
        pytest.importorskip("botorch", reason="ADMIRE-BayesOpt needs BoTorch")
    if system.kind is Rounds and "candidates" in system.settings:
        system = dataclasses.replace(system, settings={"candidates": 500})
    uniform = dict.fromkeys(TOKENS, 1 / 3)
    runs = {}
    if system.way == "one run":
        runs = {"run": train(uniform)}
    elif system.way == "one or two runs":
        reference = train(dict(zip(TOKENS, [0.6, 0.1, 0.3], strict=True)))
        jobs = reference.parent / f"job-{name}"
        if system.reference:
            jobs.mkdir()
            (jobs / "natural").symlink_to(reference)
        given = {"algorithm": system.algorithm, "settings": dict(system.settings)}
        steering, compared = steering_of(given, jobs if system.reference else None, None)
        assert (compared is None) == (system.reference is None)
        runs = {"run": train(uniform, steering, compared)}
    swarms = ("first",) if system.kind is Rounds else tuple(runs)
    evidence = RunsSoFar(DOMAINS, rounds, runs, corpus=corpus.root)
    told = {"models": {"1m": 0.1, "30m": 1.0}, "method": METHOD}
    request = system_request(system, DOMAINS, kl=0.05, repetition=4, requested=40_000)
    proposal = answer(system, swarms, told, evidence, request)
    assert proposal.mix.weights.sum() == pytest.approx(1)
    assert (proposal.mix.weights <= request.caps * (1 + 1e-6)).all()
    free = dataclasses.replace(system, repetition_constraint=False)
    assert np.isinf(system_request(free, DOMAINS, kl=0, repetition=4, requested=4e4).caps).all()


def test_rounds_answer_a_collapsed_problem_too():
    """What an update leaves to recompute is a mixing problem like any other."""
    split = ReuseSplit({"existing": ("web:a", "web:b")}, ("web:c",))
    space = Collapse(DOMAINS, split, Mix(DOMAINS.names, [0.7, 0.3, 0.0]))
    request = space.request(kl=0.0)
    law = random_law(DOMAINS, ("task0", "task1"), seed=1, noise=0.0)
    climb = with_settings("climb", {"30m": 1.0}, settings={"candidates": 500})
    asked = climb.ask(None, request, 12, seed=0)
    expanded = np.array([space.expand(Mix(space.names, row)).weights for row in asked.mixes])
    measured = law.run_swarm(expanded, [str(n) for n in range(12)], 0)
    swarm = dataclasses.replace(measured, domains=space.names, mixes=asked.mixes)
    proposal = climb.propose(Done(swarm, asked.models, olmix_base()), request, seed=0)
    whole = space.expand_proposal(proposal, request)
    assert 3 * whole.mix["web:a"] == pytest.approx(7 * whole.mix["web:b"])
    assert whole.mix.weights.sum() == pytest.approx(1)


def test_weights_over_what_is_stored_become_weights_over_domains():
    tokens = {"web:a": 10, "web:b": 10, "code:x@v2": 5, "books:s": 6, "books:t": 2}
    domains = DomainSet.from_token_counts({"web:a": 10, "books": 8})
    mix = unstored({"web:a": 0.2, "books:s": 0.2, "books:t": 0.1}, domains, tokens)
    assert mix.to_dict() == pytest.approx({"web:a": 0.4, "books": 0.6})


def test_a_graph_is_the_share_of_each_loss_that_a_run_on_one_domain_takes_away(train, corpus):
    runs = [train({name: 1.0}) for name in reversed(TOKENS)]
    graph = measure_graph(runs, corpus)
    assert graph["domains"] == sorted(TOKENS)
    found = np.array(graph["graph"])
    assert found.shape == (3, 3)
    # Nothing teaches a domain better than itself, and all teach something.
    assert (found.argmax(0) == np.arange(3)).all()
    assert ((found > 0) & (found < 1)).all()
