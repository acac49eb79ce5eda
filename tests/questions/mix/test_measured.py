"""Gains and noise of target runs, against closed forms."""

import numpy as np
import pytest
from scipy import stats

from olmix.questions.mix.measured import Measured
from olmix.tables import SwarmTable

MIXES = ("proposed", "natural", "uniform")


def repetition(averages: list[float], weights: dict[str, float] | None = None) -> SwarmTable:
    """Target runs of the three mixes: task `a` is the average, task `b` twice that."""
    values = np.array(averages)
    table = SwarmTable(
        MIXES, ("x", "y"), np.full((3, 2), 0.5), ("a", "b"), np.column_stack([values, 2 * values])
    )
    return table.weighted(weights or {"b": 0})


RUNS = [[0.90, 1.00, 0.95], [0.91, 1.02, 0.94], [0.88, 1.01, 0.96]]


@pytest.fixture
def measured() -> Measured:
    return Measured([repetition(averages) for averages in RUNS], level=0.9)


def test_gains_are_means_over_repetitions_with_students_interval(measured: Measured):
    frame = measured.gains(["natural", "uniform"]).set_index("over")
    values = 100 * (1 - np.array(RUNS)[:, 0] / np.array(RUNS)[:, 1])
    expected = stats.t.interval(0.9, 2, values.mean(), stats.sem(values))
    row = frame.loc["natural"]
    assert (row["low"], row["high"]) == pytest.approx(expected)
    assert row["gain"] == pytest.approx(values.mean())


def test_a_gain_by_task_is_that_of_the_task_alone():
    both = Measured([repetition(averages, {"a": 1, "b": 3}) for averages in RUNS], level=0.9)
    frame = both.by_task(["natural"]).set_index("task")
    assert frame["gain"].to_numpy() == pytest.approx(both.gains(["natural"])["gain"][0])
    assert frame["weight"].to_dict() == {"a": 0.25, "b": 0.75}
    assert frame.loc["b", "proposed_bpb"] == pytest.approx(2 * np.mean(RUNS, axis=0)[0])


def test_noise_is_the_deviation_of_runs_of_one_mix_in_percent(measured: Measured):
    deviations = np.std(RUNS, axis=0, ddof=1)
    expected = 100 * np.sqrt((deviations**2).mean()) / np.mean(RUNS)
    assert measured.noise == pytest.approx(expected)
    assert measured.visible == pytest.approx(expected * np.sqrt(2 / 3) * stats.t.ppf(0.95, 2))


def test_one_repetition_has_no_interval():
    once = Measured([repetition(RUNS[0])], level=0.9)
    assert once.gains(["natural"])["gain"][0] == pytest.approx(10.0)
    assert once.gains(["natural"])["low"].isna().all() and np.isnan(once.noise)
