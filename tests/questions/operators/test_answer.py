"""Each kind of update alone on exact laws (see test_theory for what is exact about them)."""

import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.operators.answer import answer
from olmix.study.chain import Chain
from olmix.tables import read_mixes

OPERATORS = ["add", "remove", "partition", "revise"]


@pytest.fixture(scope="module")
def answered(exact_updates):
    data = exact_updates.data("operators")
    folder = exact_updates.folder / "operators"
    answer(data, Answer(folder, "operators", data))
    return folder


@pytest.fixture(scope="module")
def table(answered):
    return pd.read_csv(answered / "operators.csv")


def test_the_table_holds_what_was_agreed(table):
    assert list(table) == ["operator", "strategy", "seed", "tv", "bpb", "full_bpb", "gap"]
    assert table.groupby(["operator", "strategy"], sort=False).size().to_dict() == {
        (operator, strategy): 2
        for operator in OPERATORS for strategy in ("natural", "full_mixture_reuse")
    }  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
def test_distances_and_gaps_by_hand(exact_updates, table, operator):
    name = f"{operator}_code"
    runs, _, mixes = read_mixes(exact_updates.folder / f"{name}-updated.csv")
    work = exact_updates.work(exact_updates.plan.single_updates[name], "updated")
    bpb = exact_updates.law(work.domains).bpb(mixes).mean(1)
    rows = table[table["operator"] == operator].set_index(["strategy", "seed"])
    for seed in (0, 1):
        full = runs.index(Chain("full_recomputation", 3, "tight", seed).name)
        reuse = runs.index(Chain("full_mixture_reuse", 3, "tight", seed).name)
        for strategy, run in (("natural", 0), ("full_mixture_reuse", reuse)):
            row = rows.loc[(strategy, seed)]
            assert row["tv"] == pytest.approx(np.abs(mixes[run] - mixes[full]).sum() / 2)
            assert row["bpb"] == pytest.approx(bpb[run])
            assert row["full_bpb"] == pytest.approx(bpb[full])
            assert row["gap"] == pytest.approx(100 * (bpb[run] - bpb[full]) / bpb[full])


def test_reuse_is_nearer_to_full_recomputation_than_natural(exact_updates, answered, table):
    """By the first law throughout; by the second the optimum moves too far for some operators."""
    means = table.groupby(["operator", "strategy"])[["tv", "gap"]].mean()
    for row in table.itertuples():
        least = exact_updates.least(f"{row.operator}_code", "tight")
        assert least - 1e-8 <= min(row.bpb, row.full_bpb), "nothing beats the law's optimum"
        assert row.full_bpb <= 1.005 * least, "full recomputation all but finds it"
    for operator in OPERATORS:
        natural = means.loc[(operator, "natural")]
        nearer = means.loc[(operator, "full_mixture_reuse")] < natural
        found = read_json(answered / "summary.json")["operators"][operator]
        assert found["reuse_is_nearer"] == nearer["tv"]
        assert found["reuse_gap_is_smaller"] == nearer["gap"]
        assert found["natural"]["gap"] == pytest.approx(natural["gap"])
        if exact_updates.seed == 1 or operator in ("add", "partition"):
            assert nearer.all(), operator


def test_equal_domain_sets_are_recomputed_to_the_same_mix(exact_updates, answered):
    """Adding and partitioning end in the same domains: their full recomputation is one run."""
    found = []
    for name in ("add_code", "partition_code"):
        runs, names, mixes = read_mixes(exact_updates.folder / f"{name}-updated.csv")
        found.append((names, mixes[runs.index("full_recomputation-c3-tight-seed0")].tolist()))
    assert found[0] == found[1]
