import json

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.tables import read_swarm


def test_the_swarm_obeys_its_law(simulated):
    swarm, law = read_swarm(simulated.ratios, simulated.metrics), simulated.law
    assert swarm.domains == law.domains == simulated.domains.names
    assert swarm.tasks == law.tasks == tuple(f"task_{number:02d}" for number in range(4))
    assert len(swarm) == 40
    np.testing.assert_allclose(swarm.mixes.sum(1), 1)
    left = (swarm.metrics - law.bpb(swarm.mixes)) / law.noise
    # 160 standard normal numbers.
    assert abs(left.mean()) < 0.3
    assert 0.8 < left.std() < 1.2


def test_without_noise_it_is_the_law_itself(olmix, simulated, tmp_path):
    options = ("--runs", 6, "--tasks", 2, "--noise", 0, "--kind", "dense")
    assert olmix("simulate", "--domains", simulated.counts, *options, "--out", tmp_path) == 0
    swarm = read_swarm(tmp_path / "ratios.csv", tmp_path / "metrics.csv")
    law = json.loads((tmp_path / "law.json").read_text())
    for mix, measured in zip(swarm.mixes, swarm.metrics, strict=True):
        expected = [
            c + np.exp(np.dot(a, mix))
            for c, a in zip(law["constants"], law["coefficients"], strict=True)
        ]
        assert measured == pytest.approx(expected, rel=1e-12)
    assert (swarm.mixes > 0).all()


def test_one_source_of_the_papers_domains(olmix, tmp_path, capsys):
    options = ("--source", "stack-edu", "--runs", 5, "--tasks", 3)
    assert olmix("simulate", *options, "--out", tmp_path) == 0
    domains = DomainSet.load(tmp_path / "domains.json")
    assert len(domains) == 15
    assert set(domains.sources) == {"stack-edu"}
    assert "5 simulated runs over 15 domains and 3 tasks" in capsys.readouterr().out


def test_the_seed_decides_every_byte(olmix, simulated, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = ("--runs", 5, "--seed", seed, "--out", tmp_path / name)
        assert olmix("simulate", "--domains", simulated.counts, *options) == 0
    for file in ("ratios.csv", "metrics.csv", "law.json", "domains.json"):
        first, again, other = ((tmp_path / name / file).read_bytes() for name in "abc")
        assert first == again
        assert (first == other) == (file == "domains.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tasks", 0], "--tasks 0: expected 1 or more"),
        (["--runs", 0], "size is 0, expected 1 or more"),
        (["--noise", -0.1], "--noise -0.1: expected a finite number of 0 or more"),
        (["--noise", "nan"], "--noise nan"),
        (["--seed", -1], "--seed -1: expected a whole number"),
        (["--source", "radio"], "--source 'radio': expected one of web, books, wiki"),
        (["--domains", "nowhere.yaml"], "nowhere.yaml: no such file"),
    ],
)
def test_mistakes_are_refused(refused, simulated, tmp_path, options, message):
    given = ("simulate", "--domains", simulated.counts, "--out", tmp_path / "out")
    assert message in refused(*given, *options)
    assert not (tmp_path / "out").exists()
