"""`python -m olmix measure` on runs that the repository's own law made."""

import numpy as np
import pandas as pd
import pytest
import yaml

from commands.conftest import call
from olmix.measured.files import load_measured
from olmix.measured.law import load_replica
from olmix.paths import CONFIG
from olmix.tables import write_table

LAWS = CONFIG / "measured" / "law.json"
RUNS = 60


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder with runs over DCLM's topics: what the best law would measure, with its noise.

    Beside the swarm of all tasks stands one of three.
    """
    folder = tmp_path_factory.mktemp("released")
    law = load_replica(LAWS, 0)
    domains = law.fitted.form.domains
    topics = [name.startswith("dclm:") for name in domains]
    mixes = np.zeros((RUNS, len(domains)))
    mixes[:, topics] = np.random.default_rng(1).dirichlet(np.full(sum(topics), 0.5), size=RUNS)
    names = [f"run-{number}" for number in range(RUNS)]
    short = [name.removeprefix("dclm:") for name in domains if name.startswith("dclm:")]
    metrics = law.observe(mixes, 5, noise=1.0, disturbance=0.0)
    for swarm, tasks in (("dclm_swarm", len(law.tasks)), ("few", 3)):
        (folder / swarm).mkdir()
        write_table(folder / swarm / "ratios.csv", names, short, mixes[:, topics])
        write_table(folder / swarm / "metrics.csv", names, law.tasks[:tasks], metrics[:, :tasks])
    return folder


def test_a_law_scores_its_own_runs_well(released, capsys):
    """They have its noise alone, which is less than what unseen runs are expected to differ by."""
    assert call("measure", "--published", released, "--score", "dclm") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{RUNS} runs: mean Pearson per task 0.")
    deviation = float(said.partition("residuals ")[2].split()[0])
    assert 0.4 < deviation < 1.0


def test_laws_of_other_domains_are_named(released, tmp_path, capsys):
    strange = tmp_path / "law.json"
    strange.write_text(LAWS.read_text().replace('"dclm:politics"', '"dclm:policy"'))
    assert call("measure", "--published", released, "--score", "dclm", "--law", strange) == 2
    said = capsys.readouterr().err
    assert f"{strange}: the laws have no domain 'dclm:politics', swarm 'dclm' has" in said


def test_it_says_what_is_missing(released, tmp_path, capsys):
    assert call("measure", "--published", released) == 2
    assert "--out FILE is missing" in capsys.readouterr().err
    assert call("measure", "--published", released, "--score", "update1") == 2
    assert "no swarm 'update1', expected it in mixture_reuse" in capsys.readouterr().err
    assert call("measure", "--published", tmp_path / "nowhere", "--score", "dclm") == 2
    assert "nowhere" in capsys.readouterr().err


def test_laws_of_a_file_are_checked_without_measuring_again(released, tmp_path, capsys):
    settings = load_measured(CONFIG / "measured.yaml")
    check = settings["check"] | {"swarm": "few", "sizes": [40], "seeds": 1}
    settings |= {"swarms": ["few"], "check": check}
    few, laws = tmp_path / "few.yaml", tmp_path / "law.json"
    few.write_text(yaml.safe_dump(settings))
    laws.write_text(LAWS.read_text())
    options = ("--published", released, "--settings", few, "--law", laws)
    assert call("measure", *options, "--check") == 0
    table = pd.read_csv(tmp_path / "rq4.csv").set_index("family")
    assert set(table.index) >= {"log_linear", "lightgbm", "search"}
    assert table.loc["log_linear", ["real", "measured"]].min() > 0.3
    np.testing.assert_allclose(table["difference"], table["measured"] - table["real"], atol=2e-4)
    assert laws.read_text() == LAWS.read_text()
