"""From a table of mixes to the tables of a simulated swarm."""

import numpy as np
import pytest

from olmix.files import write_json
from olmix.measured.fit import Fitted
from olmix.measured.form import FormSettings, LawForm
from olmix.measured.law import MeasuredLaw, Transfer
from olmix.measured.noise import Noise
from olmix.study.spec import SwarmSpec, as_params
from olmix.tables import metric_columns, read_mixes, read_swarm, write_table

DOMAINS = ("web:a", "web:b", "books")
MIXES = {
    "natural": [1 / 3, 1 / 6, 1 / 2],
    "first": [0.5, 0.5, 0.0],
    "again": [0.5, 0.5, 0.0],
    "other": [0.2, 0.3, 0.5],
}
TOKENS = {"web:a": 2000, "web:b": 1000, "books": 3000}
FORM = LawForm(
    FormSettings(0.3, 1.0, 0.5, 0.0, 1.0, 0.02), DOMAINS, np.array([0.4, 0.2, 0.4]), "web"
)
COUNT = FORM.features(FORM.mean).shape[1]
LAW = MeasuredLaw(
    tasks=("x", "y"),
    fitted=Fitted(
        FORM,
        np.array([1.0, 2.0]),
        np.array([0.1, 0.2]),
        np.linspace(-1, 1, 2 * COUNT).reshape(-1, 2),
    ),
    noise=Noise(np.array([1.0, 0.5]), np.array([1.0, 0.5]), np.array([[0.6], [0.8]])),
    stands_for={},
    transfer=Transfer(seed=1, strength=0.2),
)
PROPOSED = SwarmSpec("targets", "study", "target", 3, ("other", "again", "first"))
SAMPLED = SwarmSpec("sampled", "sampled", "30m", 4, seed=1)


@pytest.fixture
def simulated(script, data, updates, tmp_path):
    """``simulated(swarm, noise)``: the collected tables."""
    shared = {"domains": DOMAINS, "tasks": LAW.tasks, "mean_mix": FORM.mean.tolist()}
    shared |= {"first_source": FORM.first, "noise": LAW.noise.to_dict(4)}
    write_json(data / "law.json", {**shared, "replicas": [LAW.to_dict()]})
    write_json(data / "stores.json", TOKENS)

    def run(swarm, noise, names=DOMAINS, mixes=MIXES, space=None, disturbance=0.0):
        table, out = tmp_path / "mixes.csv", tmp_path / swarm.name
        weights = np.array(list(mixes.values())).reshape(-1, len(names))
        write_table(table, list(mixes), names, weights)
        files = out / "ratios.csv", out / "metrics.csv"
        script("simulate_swarm").main(
            data,
            updates,
            table,
            as_params(swarm),
            space or {"stage": "final"},
            {"noise": noise, "disturbance": disturbance},
            *files,
        )
        return read_swarm(*files) if mixes else None

    return run


def test_exact_bpb_in_the_order_of_the_mixes(simulated):
    table = simulated(PROPOSED, 0.0)
    assert table.runs == ("first", "again", "other")
    assert (table.domains, table.tasks) == (DOMAINS, LAW.tasks)
    np.testing.assert_allclose(table.metrics, LAW.bpb(table.mixes), rtol=1e-3)


def test_a_mix_proposed_twice_is_one_run_and_sampled_twice_two(simulated):
    proposed, sampled = simulated(PROPOSED, 0.1), simulated(SAMPLED, 0.1)
    np.testing.assert_array_equal(proposed.metrics[0], proposed.metrics[1])
    assert len(sampled) == 4
    assert np.abs(sampled.metrics[1] - sampled.metrics[2]).max() > 1e-3
    np.testing.assert_array_equal(simulated(SAMPLED, 0.1).metrics, sampled.metrics)


def test_a_round_that_asked_for_nothing_has_tables_without_rows(simulated, tmp_path):
    simulated(SAMPLED, 0.0, mixes={})
    ratios, metrics = (tmp_path / "sampled" / f"{name}.csv" for name in ("ratios", "metrics"))
    assert read_mixes(ratios, may_be_empty=True)[:2] == ([], DOMAINS)
    assert metric_columns(metrics) == []


def test_mixes_over_sources_are_spread_naturally(simulated):
    space = {"stage": "final", "split": "sources"}
    table = simulated(SAMPLED, 0.0, ("web", "books"), {"one": [0.6, 0.4]}, space)
    assert table.domains == ("web", "books")
    np.testing.assert_allclose(table.metrics, LAW.bpb(np.array([0.4, 0.2, 0.4])), rtol=1e-3)


def test_a_target_is_disturbed(simulated):
    table = simulated(PROPOSED, 0.0, disturbance=1.0)
    np.testing.assert_allclose(table.metrics, LAW.bpb(table.mixes, 1.0), rtol=1e-3)
    assert np.abs(table.metrics - LAW.bpb(table.mixes)).max() > 1e-2
