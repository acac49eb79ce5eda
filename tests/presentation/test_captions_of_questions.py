"""Captions against summaries with known numbers: each states the ones that matter."""

import pandas as pd

from olmix.claims import captions as claims
from olmix.questions.budgets import captions as budgets
from olmix.questions.operators import captions as operators
from olmix.questions.rq1 import captions as rq1
from olmix.questions.rq2 import captions as rq2
from olmix.questions.rq4 import captions as rq4
from olmix.questions.rq6 import captions as rq6
from olmix.questions.theory import captions as theory
from olmix.questions.updates import captions as updates

STRATEGY = {"c": 3, "low": 9.0, "high": 13.0, "proxy_runs": 832}


def test_rq1_compares_the_smallest_proxy_with_the_chosen_one(answer):
    text = rq1.proxy_size(
        answer(
            mixes=24,
            highest_spearman="30m",
            spearman={"1m": 0.73, "30m": 0.95},
            spearman_against_proxy={"1m": {"difference": -0.22, "interval": [-0.3, -0.1]}},
            parameters={"1m": 6640},
        )
    )
    assert "they stand for the paper's models: 6.6k for 1m)" in text
    assert "Over 24 mixes, proxies of 30M parameters rank" in text
    assert "6.6k: 0.730, 30M: 0.950" in text
    assert "6.6k differs from the chosen proxy by −0.220" in text
    assert "not decided" not in text


def test_rq2_gives_the_error_of_every_multiplier(answer):
    found = {
        "best_bpb": {"6": 0.5, "24": 0.6},
        "error_by_multiplier": {"1": {"mean": 0.08}, "3": {"mean": 0.004}},
        "variance_explained": {"multiplier": 0.6, "domains": 0.11},
    }
    text = rq2.swarm_size(answer(swarm_size=found, swarm_size_target=found))
    assert "m = 6 and 24" in text
    assert "0.080 at c = 1 and 0.004 at c = 3" in text
    assert "60 % of the variance" in text
    flat = answer(swarm_size={**found, "variance_explained": None})
    assert "variance" not in rq2.finding(flat)


def test_rq4_groups_sizes_by_the_family_that_fits_best(answer):
    level = {
        "best_fit_by_size": {"9": "bimix", "18": "log_linear", "27": "log_linear"},
        "fit_at_largest": {"bimix": {"mean": 0.8}, "log_linear": {"mean": 0.9}},
        "fit_of_ours": {"ensemble": {"9": 0.85, "18": 0.9, "27": 0.92}},
        "lowest_target_bpb": "bimix",
        "target_bpb": {"bimix": 0.7, "log_linear": 0.71},
        "target_bpb_above_best": {"bimix": 0.0, "log_linear": 0.01},
    }
    text = rq4.regression_models(answer(topics=level))
    assert "BiMix (K = 9) and log-linear (K = 18 and 27)" in text
    assert "log-linear: 0.900, BiMix: 0.800" in text
    assert "Ours, not the paper's: ensemble 0.850 at the smallest and 0.920 at the largest" in text
    assert "BiMix is the lowest, by single runs without intervals; the least is 0.700" in text
    assert "log-linear's is 0.010 above it" in text
    folder = answer(topics=level, target_repeats=4)
    for error, said in (
        (0.01, "none is clearly the lowest"),
        (0.0001, "BiMix is clearly the lowest"),
    ):
        pd.DataFrame({"target_error": [error, error]}).to_csv(folder / "downstream.csv")
        repeated = rq4.regression_models(folder)
        assert "scatter of all mixes' runs. Over topics" in repeated
        assert said in repeated


def test_rq6_says_whose_repetition_breaks_the_cap(answer):
    text = rq6.repetition_factor(
        answer(
            repetition_factor=4,
            satisfied={"constrained-swarm": False, "constrained-optimization": True},
            largest_repetition={"constrained-swarm": 4.65, "constrained-optimization": 3.9},
            target_bpb={"constrained-swarm": 0.1, "constrained-optimization": 0.2},
            weights_that_only_grow_with_k=["web:science"],
            weights_that_only_shrink_with_k=[],
            total_variation_from_smallest_to_largest_k=0.179,
        )
    )
    assert "constrained swarm 4.65 times (broken, BPB 0.100)" in text
    assert "1 only growing with k (web:science)" in text
    assert "shrinking" not in text


def test_main_results_state_gain_runs_and_what_is_kept(answer):
    folder = answer(
        strategies={
            "full_recomputation-c3": {
                **STRATEGY,
                "strategy": "full_recomputation",
                "improvement": 12.2,
            },
            "partial_mixture_reuse-c3": {
                **STRATEGY,
                "strategy": "partial_mixture_reuse",
                "improvement": 12.0,
                "proxy_runs": 272,
                "share_of_full_recomputation": 0.98,
                "fewer_runs": 0.67,
            },
        },
        data_efficiency=3.05,
        partial_to_full_tv=0.067,
        partial_to_natural_tv=0.127,
    )
    text = updates.main_results(folder)
    assert "full recomputation (c = 3) +12.2 % (9.0 to 13.0) with 832 runs" in text
    assert "Partial mixture reuse (c = 3) keeps 98 %" in text
    assert "67 % fewer runs" in text
    assert "3.05 times fewer steps" in updates.checkpoints(folder)
    assert "0.067, to natural 0.127" in updates.proposed_mixes(folder)
    assert "does not reach" in updates.checkpoints(answer(data_efficiency=None))


def test_budgets_separate_both_sizes_of_r(answer):
    entry = {**STRATEGY, "c": 1, "improvement": 5.0}
    folder = answer(
        strategies={
            "swarm_reuse-c1-tight": entry | {"strategy": "swarm_reuse", "requested": "tight"},
            "full_mixture_reuse-c1-relaxed": entry
            | {"strategy": "full_mixture_reuse", "requested": "relaxed"},
        }
    )
    assert "full mixture reuse" not in budgets.main_results_6t(folder)
    assert "full mixture reuse (c = 1, R relaxed) +5.0 %" in budgets.low_budget(folder)


def test_operators_count_where_reuse_is_nearer(answer):
    near, far = {"gap": 0.5, "tv": 0.01}, {"gap": 4.0, "tv": 0.2}
    entry = {"full_mixture_reuse": near, "natural": far}
    text = operators.operators(
        answer(
            operators={
                "add": entry | {"reuse_is_nearer": True},
                "revise": entry | {"reuse_is_nearer": False},
            }
        )
    )
    assert "add 0.50 % and 0.010 (natural 4.00 % and 0.200)" in text
    assert "1 of 2 operators" in text


def test_theory_states_both_gaps_and_whether_they_grow(answer):
    gaps = {"reuse_gap": 0.25, "gap": 1.5}
    folder = answer(
        reuse_gap={"add_code": {"weak": gaps, "gap_grows_with_reuse_gap": False}},
        update_shift={
            "add_code": {
                "tight": {**gaps, "shift": 0.4},
                "reuse_gap_grows_with_shift": True,
                "gap_grows_with_shift": True,
            }
        },
        partial_reuse_coupling={"full_mixture_reuse": {**gaps, "shift": 0.4, "kappa": 0.9}},
        kappa_reduction={
            "recomputed": ["web:code"],
            "largest": "web:code",
            "shares": {"web:code": 0.8, "web:art": 0.1},
        },
    )
    assert "0.250 and 1.50 % (weak ratios)" in theory.reuse_gap(folder)
    assert "does not always grow" in theory.reuse_gap(folder)
    assert "0.400, 0.250 and 1.50 % (tight R)" in theory.update_shift(folder)
    assert "web: code lowers it most, by 80 %; the next, web: art, 10 %" in theory.kappa_reduction(
        folder
    )
    assert "full mixture reuse 0.900, 0.400" in theory.partial_reuse_coupling(folder)
    assert "full mixture reuse 0.250" in theory.reused_vs_optimal(folder)


def test_the_scoreboard_lists_claims_by_verdict(tmp_path):
    board = pd.DataFrame(
        {"id": ["C01", "C02", "C03"], "verdict": ["reproduced", "not decidable", "reproduced"]}
    )
    board.to_csv(tmp_path / "claims.csv", index=False)
    text = claims.finding(tmp_path / "claims.csv")
    assert "Of 3 claims" in text
    assert "2 reproduced (C01, C03) and 1 not decidable (C02)" in text
