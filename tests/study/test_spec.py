import itertools

import pytest

from olmix.study.spec import job_sizes


@pytest.mark.parametrize("together", [1, 2, 3])
def test_jobs_share_all_runs_evenly(together):
    for runs, per_job in itertools.product(range(1, 120), range(1, 40)):
        sizes = job_sizes(runs, {"runs_per_job": per_job, "jobs_at_once": together})
        assert sum(sizes) == runs
        assert 0 < min(sizes) <= max(sizes) <= per_job
        assert max(sizes) - min(sizes) <= 1
        # As few jobs as can be, of those that keep all cores busy; never a job without a run.
        least = -(-runs // per_job)
        assert len(sizes) == min(runs, -(-least // together) * together)


def test_a_swarm_a_little_over_two_jobs_is_three_alike():
    assert job_sizes(84, {"runs_per_job": 36}) == [28, 28, 28]
    assert job_sizes(84, {"runs_per_job": 36, "jobs_at_once": 2}) == [21, 21, 21, 21]
