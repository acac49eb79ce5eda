import numpy as np
import pytest

from olmix.regressors.cross_validation import held_out_folds, scored_tasks, share_of_spread


@pytest.mark.parametrize("runs", [1, 2, 5, 6, 40])
def test_every_run_is_held_out_once_and_folds_are_even(runs):
    folds = held_out_folds(runs)
    assert (folds.sum(0) == 1).all()
    assert np.ptp(folds.sum(1)) <= 1


@pytest.mark.parametrize("tasks", [1, 3, 16, 52])
def test_scored_tasks_are_spread_from_the_first_to_the_last(tasks):
    places = scored_tasks(tasks, 100)
    assert places[0] == 0 and places[-1] == tasks - 1
    assert len(places) == min(tasks, 16) == len(set(places))


def test_predicting_the_mean_scores_one_and_the_truth_zero():
    measured = np.random.default_rng(0).normal(size=(50, 3)) * [1, 10, 100]
    assert share_of_spread(np.tile(measured.mean(0), (50, 1)), measured) == pytest.approx(1)
    assert share_of_spread(measured, measured) == 0


def test_what_all_tasks_are_wrong_about_alike_counts_more_than_what_cancels():
    measured = np.random.default_rng(0).normal(size=(40, 2))
    off = np.full(40, 0.5)
    alike = share_of_spread(measured + np.column_stack([off, off]), measured)
    cancelling = share_of_spread(measured + np.column_stack([off, -off]), measured)
    assert alike > 1.5 * cancelling
