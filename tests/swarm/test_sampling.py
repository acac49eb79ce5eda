import csv
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.swarm import sampling as swarm_module
from olmix.swarm.sampling import SwarmDistribution, sample_swarm, write_ratios
from olmix.updates.sequence import load_updates

PAPER = Path(__file__).resolve().parents[2] / "config/updates/paper.yaml"
CATALOGUE = Path(__file__).resolve().parents[2] / "config/domains/paper.yaml"

# Domains above zero in a mix of the released swarm over DCLM's topics, mean over its 127 runs.
PUBLISHED_DOMAINS = 3.2598

PRIOR = Mix(("a", "b", "c", "d"), [0.4, 0.3, 0.2, 0.1])
# No weight is too small, one strength: a plain Dirichlet.
PLAIN = SwarmDistribution(min_weight=0.0, strengths=(3.0, 3.0), cover=False)


@pytest.fixture(scope="module")
def stages():
    return [stage.domains for stage in load_updates(PAPER).stages()]


def test_one_level_marginals_are_those_of_a_dirichlet():
    mixes = sample_swarm(PRIOR, 5000, seed=1, distribution=PLAIN).mixes
    for j, p in enumerate(PRIOR.weights):
        # Dirichlet(3p) has Beta(3p_j, 3(1-p_j)) marginals.
        assert stats.kstest(mixes[:, j], stats.beta(3 * p, 3 * (1 - p)).cdf).pvalue > 0.01


def test_two_level_marginals_between_and_within_sources():
    swarm = sample_swarm(
        PRIOR, 5000, seed=1, distribution=PLAIN, sources=["web", "web", "code", "code"]
    )
    web = swarm.mixes[:, :2].sum(axis=1)
    within = swarm.mixes[:, 0] / web
    assert stats.kstest(web, stats.beta(3 * 0.7, 3 * 0.3).cdf).pvalue > 0.01
    assert stats.kstest(within, stats.beta(3 * 4 / 7, 3 * 3 / 7).cdf).pvalue > 0.01
    assert abs(stats.pearsonr(web, within).statistic) < 0.05


def test_strengths_are_log_uniform():
    wide = SwarmDistribution(min_weight=0.0, strengths=(0.1, 10.0), cover=False)
    mixes = sample_swarm(PRIOR, 20_000, seed=2, distribution=wide).mixes
    # E[var | s] = p(1-p)/(s+1), averaged over log s uniform between log 0.1 and log 10:
    # (1/ln 100)·[ln(s/(s+1))] between the bounds.
    log_ratio = np.log(10 / 11) - np.log(0.1 / 1.1)
    expected = PRIOR.weights * (1 - PRIOR.weights) * log_ratio / np.log(100)
    assert mixes.var(axis=0) == pytest.approx(expected, rel=0.04)
    assert mixes.mean(axis=0) == pytest.approx(PRIOR.weights, abs=0.01)


def test_tiny_concentrations_do_not_underflow():
    # Plain Gamma(0.00025) variates are all four exactly 0 in half of the draws.
    prior = Mix(("a", "b", "c", "d"), [0.25] * 4)
    tiny = SwarmDistribution(min_weight=0.0, strengths=(0.001, 0.001), cover=False)
    swarm = sample_swarm(prior, 20, seed=0, distribution=tiny, max_tries=50_000)
    assert np.isfinite(swarm.mixes).all()
    assert swarm.mixes.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


def test_sparse_swarm_has_no_weight_between_zero_and_the_least(stages):
    swarm = sample_swarm(stages[0].natural(), 64, seed=42)
    mixes = swarm.mixes
    assert mixes.shape == (64, 24)
    assert np.all((mixes == 0) | (mixes >= 0.05))
    assert mixes.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (mixes > 0).sum(axis=0).tolist() == list(swarm.report.coverage.values())
    assert len(np.unique(mixes, axis=0)) == 64
    assert 0.9 < swarm.report.acceptance_rate <= 1


def test_if_all_weights_are_small_the_largest_stays():
    m = 60
    prior = Mix(tuple(f"d{j}" for j in range(m)), [1 / m] * m)
    flat = SwarmDistribution(min_weight=0.5, strengths=(1000.0, 1000.0))
    mixes = sample_swarm(prior, m, seed=0, distribution=flat).mixes
    assert np.array_equal(np.sort(mixes, axis=1)[:, -1], np.ones(m))
    assert len(np.unique(mixes, axis=0)) == m  # each vertex once: duplicates are discarded


def test_dense_swarm_has_weight_everywhere(stages):
    swarm = sample_swarm(stages[0].natural(), 64, seed=0, distribution=SwarmDistribution("dense"))
    assert swarm.mixes.min() >= 1e-4
    assert set(swarm.report.coverage.values()) == {64}
    assert 0.05 < swarm.report.acceptance_rate < 0.95  # it did discard


def test_caps_hold(stages):
    domains = stages[0]
    caps = domains.caps(4, 4e12)
    swarm = sample_swarm(domains.natural(), 64, seed=0, caps=caps)
    assert np.all(swarm.mixes <= caps)
    free = sample_swarm(domains.natural(), 64, seed=0)
    assert np.any(free.mixes > caps)
    assert swarm.report.acceptance_rate < free.report.acceptance_rate


def test_every_domain_is_covered_when_there_are_enough_mixes(stages):
    natural = stages[-1].natural()
    without = sample_swarm(natural, 64, seed=0, distribution=SwarmDistribution(cover=False))
    assert without.report.uncovered
    assert without.report.uncovered[0] in without.report.warning
    covered = sample_swarm(natural, 64, seed=0)
    assert covered.report.uncovered == ()
    assert covered.report.warning is None
    assert covered.report.swapped > 0
    kept = (covered.mixes == without.mixes).all(axis=1).sum()
    assert kept == 64 - covered.report.swapped
    few = sample_swarm(natural, 10, seed=0)  # fewer mixes than domains: not asked for
    assert few.report.swapped == 0


def test_a_domain_that_caps_keep_out_is_reported_without_a_search():
    prior = Mix(("a", "b", "c"), [0.5, 0.45, 0.05])
    swarm = sample_swarm(prior, 5, seed=0, caps=np.array([0.9, 0.9, 0.04]))
    assert swarm.report.uncovered == ("c",)
    assert swarm.report.tries < 1000
    assert "no mix has weight on 1 of 3 domains (c)" in swarm.report.warning


def test_kept_domains_have_weight_in_every_mix(stages):
    domains = stages[2]
    added = ("arxiv", "wikipedia")
    authors = SwarmDistribution(min_weight=1e-4, strengths=(1.0, 20.0))
    swarm = sample_swarm(domains.natural(), 32, seed=0, distribution=authors, keep_nonzero=added)
    columns = [domains.names.index(name) for name in added]
    assert np.all(swarm.mixes[:, columns] >= 1e-4)
    assert np.any(swarm.mixes == 0)


@pytest.mark.parametrize("distribution", [SwarmDistribution(), SwarmDistribution("dense")])
@pytest.mark.parametrize("two_levels", [False, True])
def test_same_seed_same_swarm_whatever_the_block(stages, monkeypatch, distribution, two_levels):
    domains = stages[0]
    sources = [f"s{j % 3}" for j in range(len(domains))] if two_levels else None

    def sample(block, seed):
        monkeypatch.setattr(swarm_module, "BLOCK", block)
        return sample_swarm(
            domains.natural(), 40, seed=seed, distribution=distribution, sources=sources
        )

    first = sample(4096, 7)
    for block in (1, 17, 1000):
        other = sample(block, 7)
        assert np.array_equal(other.mixes, first.mixes)
        assert other.report == first.report
    assert not np.array_equal(sample(4096, 8).mixes, first.mixes)


def refused(message, prior=PRIOR, size=10, **options):
    with pytest.raises(OlmixError) as error:
        sample_swarm(prior, size, seed=0, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_impossible_requests_are_refused_at_once():
    dense = SwarmDistribution("dense", min_weight=0.3)
    refused("4 domains cannot all have 0.3 or more", distribution=dense)
    refused("caps k·N/R sum to 0.8", caps=np.full(4, 0.2))
    refused("only 1 of 4 domains have caps of at least", caps=np.array([0.9, 0.04, 0.04, 0.04]))
    refused("'d' must have weight, but its cap 0.01", caps=np.array([1, 1, 1, 0.01]),
            keep_nonzero=["d"])  # fmt: skip
    refused("weight 0 on 'b'", prior=Mix(("a", "b"), [1.0, 0.0]))
    refused("keep_nonzero names 'x'", keep_nonzero=["x"])
    refused("size is 0", size=0)
    refused("10 different mixes of the single domain 'a'", prior=Mix(("a",), [1.0]))
    refused("3 sources for 4 domains", sources=["x", "y", "z"])
    refused("max_tries is 5, expected the size 10", max_tries=5)


def test_too_few_dense_mixes_are_made_up_by_lifting_small_weights():
    dense = SwarmDistribution("dense", min_weight=0.24, strengths=(1.0, 1.0))
    prior = Mix(("a", "b", "c", "d"), np.array([0.4, 0.3, 0.2, 0.1]))
    swarm = sample_swarm(prior, 5, seed=0, distribution=dense, max_tries=3000, lift=True)
    assert swarm.report.lifted > 0
    assert swarm.mixes.min() >= 0.24 - 1e-12
    np.testing.assert_allclose(swarm.mixes.sum(1), 1)
    assert len({tuple(row) for row in swarm.mixes.round(9)}) == 5


def test_a_search_that_does_not_succeed_says_what_stood_in_the_way():
    refused(
        "found 0 of 10 mixes in 3000 candidates (acceptance rate 0); weight above its cap: a in",
        caps=np.array([0.25, 0.25, 0.25, 0.2500001]),
        max_tries=3000,
    )
    dense = SwarmDistribution("dense", min_weight=0.2, strengths=(0.1, 0.1))
    refused("too small: d in", distribution=dense, max_tries=3000)
    vertices = SwarmDistribution(min_weight=0.9, strengths=(1.0, 1.0))
    refused("found 4 of 10", distribution=vertices, max_tries=3000)
    refused("same as an earlier mix: ", distribution=vertices, max_tries=3000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "thick"}, "kind is 'thick', expected one of sparse, dense"),
        ({"min_weight": 1.0}, "min_weight is 1.0"),
        ({"min_weight": -0.1}, "min_weight is -0.1"),
        ({"min_weight": float("nan")}, "min_weight is nan"),
        ({"strengths": (0.0, 1.0)}, "strengths are (0.0, 1.0)"),
        ({"strengths": (2.0, 1.0)}, "strengths are (2.0, 1.0)"),
        ({"strengths": (1.0,)}, "strengths are (1.0,)"),
    ],
)
def test_bad_distributions_are_refused(options, message):
    with pytest.raises(OlmixError) as error:
        SwarmDistribution(**options)
    assert message in str(error.value)


def test_a_swarm_is_a_list_of_mixes():
    swarm = sample_swarm(PRIOR, 6, seed=0)
    assert len(swarm) == 6
    assert [mix.names for mix in swarm] == [PRIOR.names] * 6
    assert np.array_equal(swarm[2].weights, swarm.mixes[2])
    with pytest.raises(ValueError, match="read-only"):
        swarm.mixes[0, 0] = 1.0


def test_ratios_table_reads_back_exactly(tmp_path):
    swarm = sample_swarm(PRIOR, 3, seed=0)
    path = tmp_path / "ratios.csv"
    write_ratios(path, swarm, ["r0", "r1", "r2"])
    with path.open() as file:
        header, *rows = csv.reader(file)
    assert header == ["run", "name", "index", "a", "b", "c", "d"]
    assert [row[:3] for row in rows] == [["r0", "r0", "0"], ["r1", "r1", "1"], ["r2", "r2", "2"]]
    assert np.array_equal([[float(w) for w in row[3:]] for row in rows], swarm.mixes)
    with pytest.raises(OlmixError, match="2 different run names for 3 mixes"):
        write_ratios(path, swarm, ["r0", "r1", "r1"])


def test_so_many_domains_are_in_a_mix_of_the_published_swarm(published):
    table = np.genfromtxt(published / "ratios.csv", delimiter=",", skip_header=1)[:, 4:]
    assert table.shape == (127, 24)
    assert np.mean((table > 0).sum(axis=1)) == pytest.approx(PUBLISHED_DOMAINS, abs=1e-4)


def test_the_default_is_as_sparse_as_the_published_swarm():
    topics = DomainSet(DomainSet.load(CATALOGUE).of_source("dclm"))
    swarm = sample_swarm(topics.natural(), 127, seed=0)
    assert np.mean((swarm.mixes > 0).sum(axis=1)) == pytest.approx(PUBLISHED_DOMAINS, abs=0.5)
