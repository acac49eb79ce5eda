import json
from dataclasses import replace

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.simulation.law import Law, random_law

DOMAINS = DomainSet.from_token_counts(
    {f"{source}:{topic}": 100 for source in ("web", "code") for topic in range(8)}
)
TASKS = [f"task{number}" for number in range(20)]


@pytest.fixture
def law():
    return random_law(DOMAINS, TASKS, seed=0)


def test_the_law_is_c_plus_exp(law):
    mixes = np.random.default_rng(0).dirichlet(np.ones(16), size=3)
    for row, mix in zip(law.bpb(mixes), mixes, strict=True):
        for i, value in enumerate(row):
            assert value == pytest.approx(law.constants[i] + np.exp(law.coefficients[i] @ mix))
    assert law.bpb(mixes[0]).shape == (1, 20)


def test_as_a_surrogate_it_predicts_itself(law):
    mixes = np.random.default_rng(1).dirichlet(np.ones(16), size=5)
    surrogate = law.surrogate()
    np.testing.assert_allclose(surrogate.predict(mixes), law.bpb(mixes))
    np.testing.assert_allclose(surrogate.average(mixes), law.bpb(mixes).mean(1))
    assert surrogate.outputs == law.tasks


def test_noise_is_that_of_each_task(law):
    mixes = np.tile(DOMAINS.natural().weights, (4000, 1))
    swarm = law.run_swarm(mixes, [str(i) for i in range(4000)], seed=2)
    assert swarm.metrics.std(0) == pytest.approx(law.noise, rel=0.05)
    assert swarm.metrics.mean(0) == pytest.approx(law.bpb(mixes[0])[0], abs=0.01)
    again = law.run_swarm(mixes, swarm.runs, seed=2)
    np.testing.assert_array_equal(swarm.metrics, again.metrics)
    assert not np.array_equal(swarm.metrics, law.run_swarm(mixes, swarm.runs, seed=3).metrics)
    assert np.median(random_law(DOMAINS, TASKS, seed=0, noise=0.2).noise) == pytest.approx(
        0.2, rel=0.3
    )


def test_domains_of_a_source_are_alike(law):
    """Correlations between domains over tasks: higher within a source, on average over laws."""
    within, between = [], []
    for seed in range(10):
        table = np.corrcoef(random_law(DOMAINS, TASKS, seed=seed).coefficients.T)
        within += [table[:8, :8][np.triu_indices(8, 1)].mean()]
        between += [table[:8, 8:].mean()]
    assert np.mean(within) > np.mean(between) + 0.2


def test_numbers_look_like_bpb(law):
    measured = law.bpb(np.random.default_rng(3).dirichlet(np.ones(16), size=200))
    assert measured.min() > 0.8
    assert measured.max() < 12
    assert json.loads(json.dumps(law.to_dict()))["domains"] == list(DOMAINS.names)


def test_tasks_of_a_run_share_part_of_their_noise(law):
    noisy = replace(law, shared=0.3).draw_noise(4000, seed=0)
    assert noisy.std(0) == pytest.approx(law.noise, rel=0.05)
    between = np.corrcoef(noisy.T)[np.triu_indices(len(TASKS), 1)]
    assert between == pytest.approx(np.full(len(between), 0.3), abs=0.06)


def test_a_law_is_read_as_it_was_written(law, tmp_path):
    replace(law, shared=0.2).save(tmp_path / "law.json")
    again = Law.load(tmp_path / "law.json")
    assert (again.domains, again.tasks, again.shared) == (law.domains, law.tasks, 0.2)
    mixes = np.random.default_rng(0).dirichlet(np.ones(16), size=3)
    np.testing.assert_array_equal(again.bpb(mixes), law.bpb(mixes))
    write_json(tmp_path / "law.json", {"domains": []})
    with pytest.raises(OlmixError, match=r"law.json: not a law, 'tasks' is missing"):
        Law.load(tmp_path / "law.json")
