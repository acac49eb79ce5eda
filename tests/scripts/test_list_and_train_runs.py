"""From a table of mixes to lists of runs, and from finished runs to their places."""

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.study.spec import SwarmSpec, as_params
from olmix.tables import write_table
from olmix.training.settings import RunSettings

DOMAINS = ("web:a", "web:b", "books")
MIXES = {
    "natural": [1 / 3, 1 / 6, 1 / 2],
    "first": [0.5, 0.5, 0.0],
    "again": [0.5, 0.5, 0.0],
    "other": [0.2, 0.3, 0.5],
}
MODEL = {"shape": "tiny-1m", "max_repetition": 40, "runs_per_job": 4, "tokens": 1024,
         "batch_size": 1, "evaluate_at": [0.5, 1.0]}  # fmt: skip


@pytest.fixture
def listed(script, data, updates, tmp_path):
    """``listed(swarm, **model)``: the contents of the lists written, one per job."""
    table = tmp_path / "mixes.csv"
    write_table(table, list(MIXES), DOMAINS, np.array(list(MIXES.values())))

    def run(swarm: SwarmSpec, **model):
        out, store = tmp_path / "lists" / swarm.name, tmp_path / "runs"
        space = {"stage": "final"}
        script("list_runs").main(
            data, updates, table, as_params(swarm), space, MODEL | model, store, out
        )
        return [read_json(out / f"{n}.json") for n in range(len(list(out.glob("*.json"))))]

    return run


@pytest.fixture
def round_of(script, data, updates, tmp_path):
    """``round_of(models)``: the lists of a round that may have four runs, and asked for these."""

    def run(models: dict[str, str]):
        folder = tmp_path / "round"
        mixes = np.array([MIXES[name] for name in models]).reshape(len(models), 3)
        write_table(folder / "mixes.csv", list(models), DOMAINS, mixes)
        write_json(folder / "asked.json", {"models": models, "why": ""})
        cheap = MODEL | {"tokens": 512}
        script("list_runs").main(
            data, updates, folder / "mixes.csv", as_params(SAMPLED), {"stage": "final"},
            MODEL | {"runs_per_job": 2, "models": {"1m": cheap}}, tmp_path / "runs",
            folder / "lists", asked=folder / "asked.json",
        )  # fmt: skip
        return [read_json(folder / "lists" / f"{number}.json") for number in range(2)]

    return run


PROPOSED = SwarmSpec("targets", "study", "target", 4, tuple(MIXES), made_by="propose_mixes")
SAMPLED = SwarmSpec("sampled", "sampled", "30m", 4, seed=1)


def test_two_names_for_one_run_are_listed_once(listed):
    (job,) = listed(PROPOSED)
    assert [entry["names"] for entry in job] == [["natural"], ["first", "again"], ["other"]]
    assert len({entry["folder"] for entry in job}) == 3


def test_sampled_runs_of_the_same_mix_have_other_data(listed):
    (job,) = listed(SAMPLED)
    assert [entry["names"] for entry in job] == [[name] for name in MIXES]
    assert [entry["settings"]["data_seed"] for entry in job] == [100_000 + i for i in range(4)]


def test_a_run_is_named_by_its_settings(listed, tmp_path):
    (job,) = listed(PROPOSED)
    for entry in job:
        settings = RunSettings.from_dict(entry["settings"])
        folder = (tmp_path / "lists" / "targets" / entry["folder"]).resolve()
        assert folder == (tmp_path / "runs" / settings.hash).resolve()
        corpus = (tmp_path / "lists" / "targets" / entry["corpus"]).resolve()
        assert corpus == (tmp_path / "data" / "corpus").resolve()
        expected = dict(zip(DOMAINS, MIXES[entry["names"][0]], strict=True))
        assert settings.mix == pytest.approx({k: v for k, v in expected.items() if v})


def test_jobs_and_chosen_proposals(listed):
    chosen = SwarmSpec("some", "study", "target", 3, ("other", "natural", "first"))
    jobs = listed(chosen, runs_per_job=2)
    assert [[entry["names"] for entry in job] for job in jobs] == [
        [["other"], ["natural"]], [["first"]]
    ]  # fmt: skip
    (everything,) = listed(PROPOSED)
    assert jobs[1][0]["folder"].split("/")[-1] == everything[1]["folder"].split("/")[-1]


def test_curves_are_evaluated_along_training(listed):
    (plain,) = listed(PROPOSED)
    first = next(iter(MIXES))
    curve = SwarmSpec("curve", "study", "target", 4, tuple(MIXES), curve=(first,))
    (along,) = listed(curve)
    assert plain[0]["settings"]["evaluate_at"] == []
    for entry in along:
        wanted = [0.5, 1.0] if first in entry["names"] else []
        assert entry["settings"]["evaluate_at"] == wanted


@pytest.fixture
def finished(tmp_path):
    """Two runs in the store, one of them under two names, and their list."""
    for name in ("x", "y"):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "weights.safetensors").write_text(f"weights {name}")
        write_json(folder / "run.json", {"hash": name})
        write_json(folder / "eval.json", {"average": 1.0})
    runs = tmp_path / "lists" / "0.json"
    write_json(
        runs,
        [{"folder": "../runs/x", "names": ["one", "same"]},
         {"folder": "../runs/y", "names": ["two"]}],
    )  # fmt: skip
    return runs


def test_a_run_with_two_names_is_linked_twice(script, finished, tmp_path):
    out = tmp_path / "out"
    script("train_runs").link(finished, out)
    assert sorted(path.name for path in out.iterdir()) == ["one", "same", "two"]
    store = tmp_path / "runs" / "x"
    for run in ("one", "same"):
        for name in ("weights.safetensors", "run.json", "eval.json"):
            assert (out / run / name).samefile(store / name)
    # Deleting the links, as the workflow does after a failure, leaves the store.
    (out / "one" / "weights.safetensors").unlink()
    assert (store / "weights.safetensors").read_text() == "weights x"


def test_linking_again_follows_the_store(script, finished, tmp_path):
    out = tmp_path / "out"
    script("train_runs").link(finished, out)
    write_json(tmp_path / "runs" / "y" / "eval.json", {"average": 2.0})
    script("train_runs").link(finished, out)
    assert read_json(out / "one" / "eval.json") == {"average": 1.0}
    assert read_json(out / "two" / "eval.json") == {"average": 2.0}


def test_an_unfinished_run_is_refused(script, finished, tmp_path):
    (tmp_path / "runs" / "y" / "run.json").unlink()
    with pytest.raises(OlmixError, match=r"run 'two' is not finished, no run\.json"):
        script("train_runs").link(finished, tmp_path / "out")


def test_training_that_fails_is_one_line_and_its_words_are_in_the_log(script, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("before\n")
    with pytest.raises(OlmixError, match="training ended with status 2"):
        script("train_runs").train({"--runs": tmp_path / "missing.json"}, log)
    before, command, error = log.read_text().splitlines()
    assert before == "before"
    assert command.endswith(f"-m olmix train --runs {tmp_path / 'missing.json'}")
    assert error == f"error: {tmp_path / 'missing.json'}: no such file"


def test_a_round_may_ask_for_fewer_runs_and_for_cheaper_ones(round_of):
    first, second = round_of({"natural": "30m", "first": "1m", "other": "30m"})
    assert [entry["names"][0] for entry in first] == ["natural", "first"]
    assert [entry["settings"]["tokens"] for entry in first] == [1024, 512]
    assert [entry["names"][0] for entry in second] == ["other"]


def test_a_round_that_asks_for_nothing_has_empty_jobs_and_tables(round_of, script, tmp_path):
    assert round_of({}) == [[], []]
    script("train_runs").link(tmp_path / "round" / "lists" / "0.json", tmp_path / "trained")
    assert list((tmp_path / "trained").iterdir()) == []
    ratios, metrics = tmp_path / "ratios.csv", tmp_path / "metrics.csv"
    script("collect_swarm").main(tmp_path / "round" / "mixes.csv", [], ratios, metrics)
    assert ratios.read_text() == "run,name,index,web:a,web:b,books\n"
    assert metrics.read_text() == "run,name,index\n"


def test_proxies_may_read_a_share_of_each_domain(listed):
    (job,) = listed(SAMPLED, data_share=0.25)
    assert {entry["settings"]["data_share"] for entry in job} == {0.25}
    (job,) = listed(SAMPLED)
    assert all("data_share" not in entry["settings"] for entry in job)
