import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.regressors.cross_validation import held_out_folds, scored_tasks, share_of_spread


@pytest.mark.parametrize("runs", [2, 5, 6, 40])
def test_every_run_is_held_out_once_and_folds_are_even(runs):
    folds = held_out_folds(np.random.default_rng(0).dirichlet(np.ones(3), size=runs))
    assert (folds.sum(0) == 1).all()
    assert np.ptp(folds.sum(1)) <= 1


def test_runs_of_the_same_mix_are_held_out_together():
    mixes = np.tile(np.random.default_rng(0).dirichlet(np.ones(3), size=15), (2, 1))
    folds = held_out_folds(mixes)
    assert (folds.sum(0) == 1).all()
    np.testing.assert_array_equal(folds[:, :15], folds[:, 15:])


@pytest.mark.parametrize("runs", [1, 4])
def test_one_mix_leaves_nothing_to_predict_it_from(runs):
    with pytest.raises(OlmixError, match=f"2 or more mixes, got {runs} of the same"):
        held_out_folds(np.tile([0.5, 0.5], (runs, 1)))


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


def test_a_task_that_never_moves_counts_nothing():
    measured = np.full((40, 2), 2.7)
    assert share_of_spread(measured + 0.1, measured) == 0
