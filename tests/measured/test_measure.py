"""Laws measured on a swarm of a known law: they recover it, its noise, and what is not known."""

import numpy as np
import pytest

from measured.conftest import ALL, DEVIATION, TASKS, TOKENS, drawn_swarm, true_bpb
from olmix.errors import OlmixError
from olmix.measured.check import score, score_unseen
from olmix.measured.files import load_measured, stored_tokens, write_laws, write_replica
from olmix.measured.law import load_replica
from olmix.measured.measure import _ranks
from olmix.measured.runs import join_swarms
from olmix.paths import CONFIG
from olmix.regressors.surrogate import pearson_by_output

NEW = np.random.default_rng(9).dirichlet(np.full(len(ALL), 0.7), size=200)


def test_a_law_recovers_the_one_behind_the_runs(measured):
    law = measured.replicas[0]
    predicted, exact = law.bpb(NEW), true_bpb(NEW)
    assert pearson_by_output(predicted, exact).min() > 0.98
    assert np.sqrt(((predicted - exact) ** 2).mean(0)) == pytest.approx(0, abs=0.03)


def test_noise_is_that_of_the_runs(measured):
    """Within a quarter: 240 runs do not tell noise from what a form cannot say exactly."""
    law = measured.replicas[0]
    assert law.noise.mixed == pytest.approx(DEVIATION, rel=0.25)
    drawn = law.noise.standard(20_000, np.random.default_rng(0))
    assert drawn.std(0) == pytest.approx(np.ones(3), abs=0.02)
    correlation = np.corrcoef(drawn.T)[np.triu_indices(3, 1)]
    assert correlation == pytest.approx(np.full(3, 0.5), abs=0.15)


def test_what_is_drawn_is_the_noise_of_the_mix(measured):
    law = measured.replicas[0]
    mixes = np.repeat(NEW[:1], 4000, axis=0)
    seen = law.observe(mixes, 0, noise=2.0, disturbance=0.0)
    assert seen.std(0) == pytest.approx(2 * law.noise.mixed, rel=0.08)
    assert seen.mean(0) == pytest.approx(law.bpb(NEW[:1])[0], abs=0.01)
    np.testing.assert_array_equal(law.observe(mixes, 0, noise=0.0, disturbance=0.0), law.bpb(mixes))


def test_residuals_of_unseen_runs_are_as_large_as_expected(measured):
    law, other = measured.replicas[0], drawn_swarm(ALL, 150, 7)
    found = score(law.bpb(other.mixes), other.metrics, measured.errors,
                  law.fitted.form.alone(other.mixes))  # fmt: skip
    assert 0.85 < found["deviation"] < 1.15
    inside = score_unseen(measured)
    best = inside[inside["best"]]
    assert best["deviation"].to_numpy() == pytest.approx(np.ones(2), abs=1e-3)
    assert set(inside["form"]) == {"pairs", "additive"}


def test_replicas_differ_in_all_that_is_not_known(measured):
    best, *drawn = measured.replicas
    assert best.transfer.strength == 0
    np.testing.assert_array_equal(best.bpb(NEW), best.bpb(NEW, 1.0))
    weights = [law.stands_for["old"] for law in measured.replicas]
    np.testing.assert_allclose(weights[0], [0.15, 0.10, 0.25, 0, 0, 0.5])
    for law, shares in zip(drawn, weights[1:], strict=True):
        assert law.transfer.strength > 0
        assert np.abs(law.bpb(NEW) - best.bpb(NEW)).max() > 1e-3
        assert np.abs(law.bpb(NEW, 1.0) - law.bpb(NEW)).max() > 1e-3
        assert shares.sum() == pytest.approx(1)
        assert np.abs(shares - weights[0]).max() > 1e-3
    assert drawn[0].fitted.form.settings != drawn[1].fitted.form.settings


def test_the_disturbance_gives_the_rank_correlation_asked_for(measured, runs):
    mixes = runs.mixes[runs.alone()]
    for law in measured.replicas[1:]:
        assert _ranks(law, mixes, 0.25) == pytest.approx(0.9, abs=0.02)


def test_an_unmeasured_domain_is_the_mix_it_stands_for(measured):
    law = measured.replicas[1]
    alone = np.eye(len(law.domains))[law.domains.index("old")]
    same = np.append(law.stands_for["old"], 0.0)
    np.testing.assert_allclose(law.bpb(alone), law.bpb(same))


def test_a_file_of_laws_gives_them_back(measured, tmp_path):
    path = tmp_path / "law.json"
    write_laws(path, measured, {"command": "test"})
    for number, law in enumerate(measured.replicas):
        again = load_replica(path, number)
        assert (again.domains, again.tasks) == (law.domains, TASKS)
        np.testing.assert_allclose(again.bpb(NEW, 1.0), law.bpb(NEW, 1.0), rtol=5e-3)
        np.testing.assert_allclose(again.noise.mixed, law.noise.mixed, rtol=1e-3)
    assert write_replica(path, 2, tmp_path / "one.json") == list(TASKS)
    np.testing.assert_array_equal(
        load_replica(tmp_path / "one.json", 0).bpb(NEW), load_replica(path, 2).bpb(NEW)
    )
    with pytest.raises(OlmixError, match="no replica 3, expected 0 to 2"):
        load_replica(path, 3)


def test_another_file_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(OlmixError, match="not a file of measured laws"):
        load_replica(tmp_path / "x.json", 0)


def test_the_law_of_the_repository_holds_no_run_and_covers_the_papers_domains():
    settings = load_measured(CONFIG / "measured.yaml")
    law = load_replica(CONFIG / "measured" / "law.json", 0)
    assert len(law.fitted.form.domains) == 64
    assert len(law.tasks) == 52
    assert set(law.domains) >= {"algebraicstack", "pdf@1", "stackv2"}
    # As many numbers as features and tasks, none of them a run's.
    form = law.fitted.form
    assert law.fitted.coefficients.shape == (form.features(form.mean).shape[1], 52)
    assert (CONFIG / "measured" / "law.json").stat().st_size < 1.3e6
    load_replica(CONFIG / "measured" / "law.json", settings["replicas"] - 1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("held_out: 10", "held: 10", "check: unknown key 'held', expected one of swarm, sizes"),
        ("spearman: 0.896, ", "", "transfer: key 'spearman' is missing"),
        ("concentration: 6}", "concentration: 0}", "algebraicstack: concentration is 0, expected"),
        ("replicas: 9", "replicas: 0", "replicas is 0, expected 1 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path, old, new, said):
    path = tmp_path / "measured.yaml"
    text = (CONFIG / "measured.yaml").read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(OlmixError, match=f"{path}.*{said}"):
        load_measured(path)


def test_an_earlier_content_counts_what_it_became():
    from olmix.domains import DomainSet

    domains = DomainSet.from_token_counts(TOKENS)
    found = stored_tokens(domains, {"tokens": {"old": 7}, "assumed": {"web@1": {}, "old": {}}})
    assert found == TOKENS | {"old": 7, "web@1": 1000}


def test_swarms_of_other_tasks_do_not_join():
    one, other = drawn_swarm(ALL, 4, 1), drawn_swarm(ALL, 4, 2)
    with pytest.raises(OlmixError, match="swarm 'b': task 'programs' is not in all swarms"):
        join_swarms({"a": one, "b": other.select_tasks(TASKS[:2])})
