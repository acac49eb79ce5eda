import math

import numpy as np
import pytest
from scipy import stats

from olmix.claims.evidence import Evidence
from olmix.errors import OlmixError
from olmix.files import write_json


def test_seeds_have_students_interval(results):
    values = [1.0, 2.0, 4.0]
    found = results.evidence.over_seeds(values, "x")
    low, high = stats.t.interval(0.90, 2, np.mean(values), stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((7 / 3, low, high))
    assert found.label == "x"


def test_one_seed_says_nothing_about_its_spread(results):
    found = results.evidence.over_seeds([1.0])
    assert (found.value, found.low, found.high) == (1.0, -math.inf, math.inf)


def test_noise_is_pooled_over_the_targets_mixes(results):
    def sds(frame):
        return frame.assign(sd=[3.0, 4.0, 99.0], degrees_of_freedom=[1, 3, 5])

    results.change("noise", "noise", sds)
    sd, freedom = results.evidence.noise
    assert freedom == 4
    assert sd == pytest.approx(math.sqrt((1 * 9 + 3 * 16) / 4))


def test_single_runs_have_the_interval_of_the_noise(results):
    # Two mixes of three degrees of freedom each, both with a standard deviation of 0.001.
    half = stats.t.ppf(0.95, 6) * math.sqrt(2) * 0.001
    found = results.evidence.between_runs("rq7", 0.5)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))
    percent = results.evidence.between_runs("rq7", 50.0, unit=100)
    assert percent.high - percent.value == pytest.approx(100 * half)


def test_repeated_runs_have_a_narrower_interval(results):
    single = results.evidence.between_runs("rq7", 0.5)
    write_json(results.folder / "rq7" / "provenance.json", {"target_repeats": 4})
    repeated = results.evidence.between_runs("rq7", 0.5)
    assert repeated.high - 0.5 == pytest.approx((single.high - 0.5) / 2)


def test_a_single_natural_run_widens_the_interval_of_seeds(results):
    values = [1.0, 2.0, 4.0]
    evidence = results.evidence
    own, natural = np.var(values, ddof=1) / 3, 0.5**2
    freedom = (own + natural) ** 2 / (own**2 / 2 + natural**2 / 6)
    half = stats.t.ppf(0.95, freedom) * math.sqrt(own + natural)
    found = evidence.over_seeds(values, natural=0.5)
    assert found.high - found.value == pytest.approx(half)
    # With seeds that agree, only the natural run is left.
    alone = evidence.over_seeds([1.0, 1.0, 1.0], natural=0.5)
    assert alone.high - alone.value == pytest.approx(stats.t.ppf(0.95, 6) * 0.5)
    exact = evidence.over_seeds([1.0, 1.0], natural=0.0)
    assert exact.low == exact.high == 1.0


def test_resampled_values_have_their_quantiles(results):
    found = results.evidence.resampled(0.4, np.linspace(0, 1, 101))
    assert (found.value, found.low, found.high) == pytest.approx((0.4, 0.05, 0.95))


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(OlmixError, match=r"rq1/proxy_size.csv: no such file"):
        Evidence(tmp_path, 0.9).table("rq1", "proxy_size")
