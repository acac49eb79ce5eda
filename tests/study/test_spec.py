import itertools

from olmix.study.spec import job_sizes


def test_jobs_share_all_runs_evenly():
    for runs, per_job in itertools.product(range(1, 120), range(1, 40)):
        sizes = job_sizes(runs, per_job)
        assert sum(sizes) == runs
        assert 0 < min(sizes) <= max(sizes) <= per_job
        # As few jobs as can be, and all but the last of the same size.
        assert len(sizes) == -(-runs // per_job)
        assert len(set(sizes[:-1])) <= 1


def test_a_swarm_a_little_over_two_jobs_is_three_alike():
    assert job_sizes(84, 36) == [28, 28, 28]
