"""The scoreboard end to end: every claim with every verdict it can have."""

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

from olmix.claims.board import (
    DEPENDS,
    MEASURES,
    SAME,
    compare_repetitions,
    in_markdown,
    judge,
    judge_claim,
    verdicts,
    with_interval,
)
from olmix.claims.rules import NOT_DECIDABLE, NOT_MEASURED, NOT_REPRODUCED, REPRODUCED
from olmix.claims.settings import load_claims
from olmix.errors import OlmixError

SETTINGS = load_claims(Path(__file__).parents[2] / "config" / "claims.yaml")
CLAIMS = [claim.name for claim in SETTINGS.claims]


def swap(column, one, other):
    """An edit that exchanges two names."""
    return lambda f: f.assign(**{column: f[column].replace({one: other, other: one})})


def put(column, value, **where):
    """An edit that sets a column in some rows."""

    def edit(frame):
        rows = pd.Series(True, frame.index)
        for key, wanted in where.items():
            rows &= frame[key] == wanted
        assert rows.any()
        frame[column] = frame[column].astype(float)
        frame.loc[rows, column] = value
        return frame

    return edit


def scatter(column, by, **where):
    """An edit that spreads the seeds of some rows by ``by`` to both sides."""

    def edit(frame):
        rows = pd.Series(True, frame.index)
        for key, wanted in where.items():
            rows &= frame[key] == wanted
        frame.loc[rows, column] += (frame.loc[rows, "seed"] - 1) * by
        return frame

    return edit


def noisy(frame):
    return frame.assign(sd=1.0)


# claim -> table to edit so that it contradicts the claim
AGAINST = {
    "C01": ("rq1", "proxy_size", swap("size", "1m", "60m")),
    "C02": ("rq2", "swarm_size_proposals", lambda f: f.assign(multiplier=6 - f["multiplier"])),
    "C03": ("rq3", "swarm_distribution", swap("distribution", "sparse", "dense")),
    "C04": ("rq3", "dirichlet_priors", put("measured_bpb", 0.70, prior="weak")),
    "C05": ("rq4", "fit", put("fit", 0.9, family="autoscale")),
    "C06": ("rq4", "fit", put("fit", 0.9, family="lightgbm")),
    "C07": ("rq4", "downstream", put("target_bpb", 0.6, level="topics", family="search")),
    "C08": ("rq5", "granularity", swap("granularity", "task", "family")),
    "C09": ("rq6", "repetition_constraints", put("target_bpb", 0.7, approach="constrained-both")),
    "C10": ("rq6", "weights", put("weight", 0.1, domain="science", factor=4)),
    "C11": ("rq7", "solvers", put("measured_bpb", 0.69, solver="exact")),
    "C12": ("updates", "main_results", put("improvement", 8, strategy="full_mixture_reuse")),
    "C13": ("updates", "main_results", put("improvement", 8, strategy="partial_mixture_reuse")),
    "C14": ("updates", "main_results", put("improvement", 11.8, strategy="swarm_reuse")),
    "C15": ("updates", "main_results", put("improvement", 11.8, c=1)),
    "C16": ("updates", "checkpoints",
            lambda f: f.assign(bpb=f["bpb"] + 0.3 * (f["mix"] != "natural"))),
    "C17": ("updates", "total_variation", put("to_full_recomputation", 0.4)),
    "C18": ("budgets", "budgets", put("improvement", 4, c=3, strategy="full_mixture_reuse")),
    "C19": ("budgets", "budgets", put("improvement", -5, c=1, requested="tight")),
    "C20": ("theory", "reuse_gap", put("gap", 5, setting="pdf", mix="intermediate")),
    "C21": ("theory", "update_shift", put("reuse_gap", 9, requested="tight")),
    "C22": ("theory", "kappa_reduction", put("reduction", 0.8, domain="web:health")),
    "C23": ("operators", "operators",
            put("tv", 0.1, operator="revise", strategy="full_mixture_reuse")),
}  # fmt: skip

# claim -> table to edit so that nothing can be said; C10 is about exact numbers
BLURRED = {
    "C01": ("rq1", "proxy_size", lambda f: f[f["run"].str.endswith("5")]),
    "C02": ("rq2", "swarm_size_proposals", scatter("error", 0.05)),
    "C05": ("rq4", "fit", scatter("fit", 1.0, family="bimix")),
    "C06": ("rq4", "fit", scatter("fit", 1.0, family="lightgbm")),
    "C14": ("updates", "main_results", scatter("improvement", 5.0, strategy="swarm_reuse")),
    "C15": ("updates", "main_results", scatter("improvement", 5.0, c=1)),
    "C17": ("updates", "total_variation", scatter("to_natural", 1.0)),
    "C20": ("theory", "reuse_gap", scatter("gap", 9.0, mix="weak")),
    "C21": ("theory", "update_shift", scatter("shift", 1.0, requested="tight")),
    "C22": ("theory", "partial_reuse_coupling", scatter("gap", 9.0, strategy="full_mixture_reuse")),
} | dict.fromkeys(
    ("C03", "C04", "C07", "C08", "C09", "C11", "C12", "C13", "C16", "C18", "C19", "C23"),
    ("noise", "noise", noisy),
)  # fmt: skip


def row_of(results, name):
    claim = next(claim for claim in SETTINGS.claims if claim.name == name)
    return judge_claim(claim, results.evidence)[0]


def test_where_the_paper_is_right_every_claim_is_reproduced(results):
    board, estimates = judge(SETTINGS, results.evidence)
    assert board["id"].tolist() == CLAIMS
    assert set(board["verdict"]) == {REPRODUCED}
    assert set(estimates["says"]) == {"holds"}
    assert board.loc[0, "command"] == "snakemake figures/proxy_size.pdf"
    assert board.loc[2, "files"] == "results/rq3/ results/noise/"


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_contradicted_claim_is_not_reproduced(results, claim):
    results.change(*AGAINST[claim])
    row = row_of(results, claim)
    assert row["verdict"] == NOT_REPRODUCED
    assert row["reason"].startswith("contradicted by: ")


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim in BLURRED])
def test_a_claim_within_the_noise_is_not_decidable(results, claim):
    results.change(*BLURRED[claim])
    row = row_of(results, claim)
    assert row["verdict"] == NOT_DECIDABLE
    assert row["reason"].startswith("open: ")


def test_only_exact_claims_are_always_decided():
    assert set(CLAIMS) - set(BLURRED) == {"C10"}


def test_reasons_have_the_numbers(results):
    results.change(*AGAINST["C14"])
    row = row_of(results, "C14")
    assert "above swarm reuse (full reuse) -0.2 [" in row["reason"]
    assert "wanted ≥ 0" in row["reason"]
    # The number shown is the worse of the two: the bound is compared with full reuse.
    assert row["value"] == pytest.approx(-0.2)


def test_a_number_a_scale_does_not_have_is_said_so(results):
    (results.folder / "updates" / "checkpoints.csv").write_text("\n")
    row = row_of(results, "C16")
    assert row["verdict"] == NOT_MEASURED
    assert row["reason"] == "no BPB along training at this scale"


def test_a_claim_needs_rule_and_measure(results):
    assert {claim.name for claim in SETTINGS.claims} == set(MEASURES)
    first = SETTINGS.claims[0]
    more = dataclasses.replace(SETTINGS, claims=(dataclasses.replace(first, name="C99"),))
    with pytest.raises(OlmixError, match="claim 'C99' has rules but no measure"):
        judge(more, results.evidence)
    odd = dataclasses.replace(first, parts={"other": next(iter(first.parts.values()))})
    with pytest.raises(OlmixError, match=r"claim 'C01': part '.*' has a bound or a measure"):
        judge_claim(odd, results.evidence)


def test_some_claims_are_judged_alone(results, tmp_path):
    some = SETTINGS.only("C12 C05")
    assert [claim.name for claim in some.claims] == ["C05", "C12"]
    with pytest.raises(OlmixError, match="no claim 'C77'"):
        SETTINGS.only("C12 C77")
    board, _ = judge(some, results.evidence)
    path = tmp_path / "tiny-seed1" / "verdicts.csv"
    path.parent.mkdir()
    verdicts(board, SETTINGS).to_csv(path, index=False)
    whole, _ = judge(SETTINGS, results.evidence)
    compared = compare_repetitions(whole, SETTINGS, "tiny", {"tiny-seed1": path})
    said = compared.set_index("id")["tiny-seed1"]
    assert said[["C05", "C12"]].tolist() == ["same", "same"]
    assert set(said.drop(["C05", "C12"])) == {"not run"}


def test_repetitions_are_compared_claim_by_claim(results, tmp_path):
    board, _ = judge(SETTINGS, results.evidence)
    results.change(*AGAINST["C05"])
    other, _ = judge(SETTINGS, results.evidence)
    path = tmp_path / "tiny-seed1" / "verdicts.csv"
    path.parent.mkdir()
    verdicts(other, SETTINGS).to_csv(path, index=False)
    found = compare_repetitions(board, SETTINGS, "tiny", {"tiny-seed1": path}).set_index("id")
    assert found.loc["C05", "tiny-seed1"] == f"{DEPENDS}: {NOT_REPRODUCED}"
    assert (found["tiny-seed1"].drop("C05") == SAME).all()


def test_repetitions_that_are_not_there_name_the_command(results, tmp_path):
    board, _ = judge(SETTINGS, results.evidence)
    found = compare_repetitions(board, SETTINGS, "tiny", {})
    assert set(found["tiny-seed1"]) == {"not run: snakemake claims --config scale=tiny-seed1"}
    # Verdicts by other rules are no repetition.
    path = tmp_path / "verdicts.csv"
    verdicts(board, SETTINGS).assign(rules="older").to_csv(path, index=False)
    found = compare_repetitions(board, SETTINGS, "tiny", {"tiny-seed1": path})
    assert found["tiny-seed1"].str.startswith("not run").all()
    assert "tiny-seed1" not in compare_repetitions(board, SETTINGS, "paper", {})


def test_the_document_has_a_row_per_claim(results):
    results.change(*AGAINST["C01"])
    board, _ = judge(SETTINGS, results.evidence)
    text = in_markdown(compare_repetitions(board, SETTINGS, "tiny", {}), SETTINGS, "tiny")
    assert "**Nothing" not in text
    said = in_markdown(board, SETTINGS, "other", "Nothing was trained")
    assert said.splitlines()[2] == "**Nothing was trained**"
    assert "23 claims: 22 reproduced, 1 not reproduced." in text
    assert "Intervals cover 90%" in text
    rows = [line for line in text.splitlines() if line.startswith("| C")]
    assert len(rows) == 23
    assert len({line.replace("\\|", "").count("|") for line in rows}) == 1
    assert "**not reproduced**" in rows[0]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.5, 0.5, 0.5), "0.5"),
        ((0.51234, 0.4, 0.6), "0.512 [0.4, 0.6]"),
        ((float("nan"),) * 3, "–"),
    ],
)
def test_numbers_with_intervals(numbers, text):
    assert with_interval(dict(zip(("value", "low", "high"), numbers, strict=True))) == text
