"""Numbers of the claims about updates, from tables made by hand."""

import math

import pandas as pd
import pytest
from scipy import stats

from olmix.claims.evidence import NotMeasured
from olmix.claims.evolution import MEASURES


def measured(results, claim):
    return MEASURES[claim](results.evidence)


def value(results, claim, part):
    return measured(results, claim)[part][0].value


def by_label(estimates):
    return {estimate.label: estimate.value for estimate in estimates}


@pytest.mark.parametrize(
    ("claim", "share", "saved"),
    [("C12", 11.6 / 12.2, 1 - 216 / 832), ("C13", 12 / 12.2, 1 - 272 / 832)],
)
def test_what_reuse_keeps_and_saves(results, claim, share, saved):
    assert value(results, claim, "share_kept") == pytest.approx(share, rel=1e-3)
    assert value(results, claim, "fewer_runs") == pytest.approx(saved)
    gain = measured(results, claim)["full_gains"][0]
    assert gain.value == pytest.approx(12.2)
    # Seeds differ by 0.01 points; the natural run's noise is 0.001 of 0.8 BPB.
    noise = 100 * 0.001 / 0.8
    assert gain.high - gain.value == pytest.approx(stats.t.ppf(0.95, 6) * noise, rel=0.01)


def test_budget_matched_comparisons(results):
    assert by_label(measured(results, "C14")["above_swarm_reuse"]) == pytest.approx(
        {"full reuse": 0.2, "partial reuse": 0.6}
    )
    assert by_label(measured(results, "C15")["above_small_swarms"]) == pytest.approx(
        {"full reuse": 0.8, "partial reuse": 1.2}
    )


def test_speed_up_moves_with_the_noise_of_two_runs(results):
    found = measured(results, "C16")["speed_up"][0]
    # Natural ends at 0.8; partial reuse is at 1.1 - 0.9 s/1000, so there after 333 of 1000 steps.
    assert found.value == pytest.approx(3.0)
    apart = stats.t.ppf(0.95, 6) * math.sqrt(2) * 0.001
    assert found.low == pytest.approx(1000 / ((1.1 - 0.8 + apart) / 0.0009))
    assert found.high == pytest.approx(1000 / ((1.1 - 0.8 - apart) / 0.0009))


def test_a_goal_that_is_not_reached_is_no_speed_up(results):
    results.change(
        "updates", "checkpoints", lambda f: f.assign(bpb=f["bpb"] + (f["mix"] != "natural"))
    )
    assert value(results, "C16", "speed_up") == 1.0


LAST_STEP = "mix,step,bpb\nnatural,1000,0.8\npartial_mixture_reuse,1000,0.7\n"


@pytest.mark.parametrize("text", [LAST_STEP, "\n", None])
def test_without_curves_there_is_no_speed_up_to_measure(results, text):
    path = results.folder / "updates" / "checkpoints.csv"
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises(NotMeasured, match="no BPB along training"):
        measured(results, "C16")


def test_distances_of_mixes(results):
    assert value(results, "C17", "nearer_to_full") == pytest.approx(0.06)


def test_tight_and_low_budgets(results):
    assert value(results, "C18", "share_kept") == pytest.approx(6.94 / 6.97, rel=1e-3)
    assert value(results, "C18", "full_gains") == pytest.approx(6.97)
    assert by_label(measured(results, "C19")["still_gains"]) == pytest.approx(
        {"relaxed": 9.6, "tight": 5.0}
    )


def test_gaps_by_reused_ratios(results):
    found = measured(results, "C20")
    assert by_label(found["gap_rises"]) == pytest.approx({"code": 3.0, "pdf": 3.0})
    assert by_label(found["gap_never_falls"]) == pytest.approx(
        {
            "code, optimal to intermediate": 1.0, "code, intermediate to weak": 2.0,
            "pdf, optimal to intermediate": 1.0, "pdf, intermediate to weak": 2.0,
        }
    )  # fmt: skip


def test_gaps_by_shift(results):
    found = measured(results, "C21")
    assert by_label(found["gap_larger"]) == pytest.approx({"code": 1.2, "pdf": 1.2})
    assert by_label(found["reuse_gap_larger"]) == pytest.approx({"code": 0.15, "pdf": 0.15})
    assert by_label(found["shift_larger"]) == pytest.approx({"code": 0.3, "pdf": 0.3})


def test_coupling(results):
    assert value(results, "C22", "kappa_lead") == pytest.approx(0.9)
    assert value(results, "C22", "reuse_gap_shrinks") == pytest.approx(0.2)
    assert value(results, "C22", "gap_shrinks") == pytest.approx(1.0)
    # Another topic ahead by half: the lead is negative, in units of the largest.
    results.change(
        "theory",
        "kappa_reduction",
        lambda f: f.assign(reduction=f["reduction"].where(f["domain"] != "web:health", 2.0)),
    )
    assert value(results, "C22", "kappa_lead") == pytest.approx(-0.5, rel=0.01)


def test_coupling_needs_the_topic(results):
    results.change("theory", "kappa_reduction", lambda f: f[f["domain"] == "web:games"])
    with pytest.raises(NotMeasured, match="software_development"):
        measured(results, "C22")


def test_operators(results):
    found = measured(results, "C23")
    assert by_label(found["nearer_mix"]) == pytest.approx(
        {"add": 0.3, "remove": 0.25, "partition": 0.3}
    )
    assert by_label(found["nearer_bpb"]) == pytest.approx(
        {"add": 3.0, "remove": 2.5, "partition": 3.0}
    )
    assert found["revise_same"][0].value == pytest.approx(0.0021)


def test_seeds_may_come_in_any_order(results):
    before = {claim: MEASURES[claim](results.evidence) for claim in MEASURES}
    for path in results.folder.glob("*/*.csv"):
        pd.read_csv(path).iloc[::-1].to_csv(path, index=False)
    for claim, parts in before.items():
        after = MEASURES[claim](results.evidence)
        for part, estimates in parts.items():
            found = {(e.label, round(e.value, 9), round(e.low, 9)) for e in after[part]}
            assert found == {(e.label, round(e.value, 9), round(e.low, 9)) for e in estimates}
