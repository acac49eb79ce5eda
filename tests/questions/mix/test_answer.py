"""The answer: weights with intervals, gains, what limits them, figures and pages."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.files import read_json, write_json
from olmix.proposers.proposal import Proposal, Request
from olmix.questions.answer import Answer
from olmix.questions.mix.answer import answer
from olmix.questions.mix.captions import finding
from olmix.questions.mix.page import mix_page
from olmix.study.spec import ProposalSpec, SpaceSpec, as_params
from olmix.tables import SwarmTable

DOMAINS = DomainSet.from_token_counts({"web": 60_000, "code": 30_000, "books": 10_000})
TASKS = ("reading", "coding", "junk")
SETTINGS = {
    "engine": "train",
    "updates": "updates.yaml",
    "requested_tokens": {"relaxed": 1e5, "tight": 1e5},
    "repetition": 4,
    "kl": 0.05,
    "seeds": 1,
    "target_repeats": 3,
    "proxy": "proxy",
    "mix": {
        "method": "olmix_base",
        "multiplier": 3,
        "level": 0.9,
        "task_weights": {"junk": 0, "old": 1},
    },
    "stage": {"name": "initial", "previous": None, "frozen": []},
    "models": {"target": {"tokens": 50_000}},
}


def bpb(mixes: np.ndarray) -> np.ndarray:
    """Reading wants books, coding wants code, junk wants neither."""
    web, code, books = mixes.T
    return np.column_stack([1 + np.exp(-3 * books), 1 + np.exp(-3 * code), 2 - web])


def table(runs: tuple[str, ...], mixes: np.ndarray, seed: int) -> SwarmTable:
    noise = 0.002 * np.random.default_rng(seed).standard_normal((len(runs), 3))
    return SwarmTable(runs, DOMAINS.names, mixes, TASKS, bpb(mixes) + noise)


@pytest.fixture
def answered(question, tmp_path: Path, monkeypatch) -> Path:
    draw = np.random.default_rng(0)
    swarm = table(tuple(f"run{i}" for i in range(16)), draw.dirichlet(np.ones(3), 16), 1)
    best = np.array([0.1, 0.5, 0.4])
    compared = np.vstack([best, DOMAINS.natural().weights, np.full(3, 1 / 3)])
    targets = {
        f"targets{n}": table(("proposed", "natural", "uniform"), compared, 10 + n) for n in range(3)
    }
    request = Request.for_domains(DOMAINS, repetition=4.0, requested=1e5)
    record = Proposal.from_weights(best, request, status="optimal", solver={}).to_dict()
    spec = ProposalSpec(
        "proposed", "swarm", "log_linear", "task", "exact", 0.05, 4.0, task_weights={"junk": 0}
    )
    (tmp_path / "updates.yaml").write_text(
        "domains: {web: 60000, code: 30000, books: 10000}\n"
        "initial: [web, code, books]\nupdates: []\n"
    )
    data = question(
        SETTINGS | {"updates": str(tmp_path / "updates.yaml")},
        tables={"swarm": swarm, **targets},
        proposals={"mix-initial": {"proposed": record}},
        planned={
            "study": "mix-initial",
            "swarms": ["swarm"],
            "targets": list(targets),
            "space": as_params(SpaceSpec()),
            "proposals": [as_params(spec)],
        },
    )
    DOMAINS.save(data.data / "domains.json")
    monkeypatch.setattr("olmix.questions.mix.fit.REPLICATES", 20)
    answer(data, Answer(tmp_path / "answer", "mix", data))
    return tmp_path / "answer"


def test_the_answer_says_weights_gains_and_limits(answered: Path):
    mix = pd.read_csv(answered / "mix.csv").set_index("domain")
    assert mix["weight"].sum() == pytest.approx(1)
    assert mix.loc["books", "times_seen"] == pytest.approx(4.0) and mix.loc["books", "at_cap"]
    assert (mix["low"] <= mix["high"]).all()
    summary = read_json(answered / "summary.json")
    truth = bpb(np.vstack([[0.1, 0.5, 0.4], DOMAINS.natural().weights]))[:, :2].mean(1)
    expected = 100 * (1 - truth[0] / truth[1])
    gain, low, high = summary["gains"]["natural"]
    assert gain == pytest.approx(expected, abs=0.5) and 0 < low < gain < high
    assert summary["weights_ignored"] == ["old"]
    assert summary["limits"][-1].startswith("There is no task old: ")
    assert summary["held_out_correlation"] > 0.9
    limits = " ".join(summary["limits"])
    assert "books is at its cap" in limits and "saw no domain more than 2.0 times" in limits


def test_tasks_of_weight_zero_are_left_out(answered: Path):
    tasks = pd.read_csv(answered / "tasks.csv")
    assert set(tasks["task"]) == {"reading", "coding"}


def test_figures_and_pages_lie_beside_the_tables(answered: Path):
    page = (answered / "index.html").read_text()
    for name in ("mix", "mix_gain", "mix_tasks"):
        assert (answered / f"{name}.png").stat().st_size > 5000
        assert f"{name}.png" in page
    assert "explore.html" in page and (answered / "explore.html").is_file()
    assert "% over the natural mix (" in page
    assert "at its cap" in page and "Stages before" not in page
    said = finding(answered)
    assert "over the natural mix" in said and "over the uniform mix" in said
    summary = read_json(answered / "summary.json")
    write_json(answered / "summary.json", summary | {"stages": ["initial", "add_news"]})
    assert "Stages before this one: initial. Their pages: data/" in mix_page(answered)
