import csv
import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request, read_mix
from olmix.regressors import FAMILIES
from olmix.regressors.surrogate import Surrogate
from olmix.tables import read_swarm, write_table

# k·N/R: 1.6, 1.2, 0.4, 0.6 and 0.2 of a mix.
TARGET = 10_000_000_000


@pytest.fixture
def fit(olmix, simulated, tmp_path, no_figures):
    """Fit the simulated swarm with options of one's own; returns the folder written."""

    def run(*options, name="out", domains=simulated.counts):
        out = tmp_path / name
        given = [*simulated.swarm_options, "--domains", domains, "--target-tokens", TARGET]
        assert olmix("fit", *given, "--out", out, *options) == 0
        return out

    return run


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def record(folder):
    return json.loads((folder / "mix.json").read_text())


def pearson(text):
    """The correlation told of eight held-out runs."""
    return float(re.search(r"fit on 8 held-out runs: Pearson (\S+)", text)[1])


def changed(table, path, change):
    """A copy of a CSV with one change to its frame."""
    change(pd.read_csv(table)).to_csv(path, index=False)
    return path


def hole(frame):
    frame.loc[3, "task_01"] = np.nan
    return frame


def test_everything_is_written_and_told(olmix, simulated, tmp_path, capsys):
    options = ["--domains", simulated.counts, "--target-tokens", TARGET, "--kl-sweep"]
    checks = ["--held-out", 8, "--bootstrap", 10]
    out = tmp_path / "out"
    assert olmix("fit", *simulated.swarm_options, *options, *checks, "--out", out) == 0
    names = ("fit", "mix", "coefficients", "kl_sweep")
    figures = {f"{name}.{kind}" for name in names for kind in ("pdf", "png")}
    others = {"model.json", "mix.json", "mix.csv", "kl_sweep.csv", "scores.csv", "explore.html"}
    assert {path.name for path in out.iterdir()} == figures | others
    text = capsys.readouterr().out
    assert "40 runs, 5 domains, 4 tasks" in text
    assert pearson(text) > 0.98
    assert re.search(r"; Spearman (0\.9|1\.0)\d*, (0\.9|1\.0)\d*$", text, re.M)
    assert "% of 10 bootstrap replicates" in text
    assert "solver: exact (optimal)" in text


def test_the_mix_is_one_and_meets_its_caps(fit, simulated):
    out = fit()
    found, mix = record(out), read_mix(out / "mix.json")
    assert mix.names == simulated.domains.names
    assert mix.weights.sum() == pytest.approx(1, abs=1e-12)
    caps = 4 * simulated.domains.tokens / TARGET
    assert (mix.weights <= caps + 1e-9).all()
    assert list(found["caps"].values()) == pytest.approx(caps.tolist())
    at_cap = [n for n, w, c in zip(mix.names, mix.weights, caps, strict=True) if w > c - 1e-6]
    assert found["active_caps"] == at_cap == ["wiki"]
    seen = mix.weights * TARGET / simulated.domains.tokens
    assert list(found["repetition"].values()) == pytest.approx(seen.tolist())
    assert found["made_from"]["runs"] == 40
    assert set(found["made_from"]) >= {"ratios", "metrics", "domains", "tasks", "notes"}


def test_mix_csv_says_the_same(fit, simulated):
    out = fit()
    table, found = rows(out / "mix.csv"), record(out)
    columns = ["domain", "natural", "weight", "cap", "times_seen", "low", "high"]
    assert list(table[0]) == columns
    assert [row["domain"] for row in table] == found["domains"]
    assert [float(row["weight"]) for row in table] == found["weights"]
    natural = simulated.domains.natural().weights
    assert [float(row["natural"]) for row in table] == pytest.approx(natural.tolist())
    assert [float(row["cap"]) for row in table] == list(found["caps"].values())
    assert {row["low"] for row in table} == {""}


def test_the_model_predicts_the_same_when_read_again(fit, simulated):
    out = fit()
    model, found = Surrogate.load(out / "model.json"), record(out)
    assert model.predict_mix(read_mix(out / "mix.json")) == pytest.approx(found["predicted"])
    assert np.mean(list(found["predicted"].values())) == pytest.approx(found["average"])
    swarm = read_swarm(simulated.ratios, simulated.metrics)
    np.testing.assert_allclose(model.predict(swarm.mixes), swarm.metrics, atol=0.05)


def test_the_answer_is_near_the_laws_optimum(fit, simulated):
    law, domains = simulated.law, simulated.domains
    request = Request.for_domains(domains, kl=0.05, repetition=4, requested=TARGET)
    best = propose_exact(law.surrogate(), request).mix.weights
    answer = read_mix(fit() / "mix.json").weights

    def objective(weights):
        divergence = (weights * np.log(weights / domains.natural().weights)).sum()
        return law.bpb(weights).mean() + 0.05 * divergence

    gain = objective(domains.natural().weights) - objective(best)
    assert gain > 0.05
    assert -1e-9 <= objective(answer) - objective(best) < 0.02 * gain
    assert np.abs(answer - best).max() < 0.05


def test_kl_sweep_goes_from_the_optimum_to_the_prior(fit):
    table = rows(fit("--kl-sweep") / "kl_sweep.csv")
    weights = [float(row["kl"]) for row in table]
    assert weights == sorted(weights)
    assert weights[0] == 0
    distances = [float(row["distance_from_prior"]) for row in table]
    averages = [float(row["predicted_average"]) for row in table]
    assert distances == sorted(distances, reverse=True)
    assert all(later - earlier > -1e-6 for earlier, later in pairwise(averages))
    chosen = record(fit(name="again"))
    row = table[weights.index(0.05)]
    assert [float(row[name]) for name in chosen["domains"]] == pytest.approx(chosen["weights"])


def test_held_out_runs_do_not_change_the_mix(fit, capsys):
    plain = record(fit())
    assert "held-out" not in capsys.readouterr().out
    assert record(fit("--held-out", 8, name="held"))["weights"] == plain["weights"]
    text = capsys.readouterr().out
    assert pearson(text) > 0.98
    assert "mean over 4 outputs" in text


@pytest.fixture
def others(simulated, tmp_path):
    """Runs of the same law that the swarm does not hold: (ratios, metrics)."""
    law, folder = simulated.law, tmp_path / "others"
    folder.mkdir()
    mixes = np.random.default_rng(8).dirichlet(np.ones(len(law.domains)), 30)
    runs = [f"other-{number}" for number in range(30)]
    write_table(folder / "ratios.csv", runs, law.domains, mixes)
    write_table(folder / "metrics.csv", runs, law.tasks, law.bpb(mixes) * 1.3)
    return folder / "ratios.csv", folder / "metrics.csv"


def test_runs_of_other_tables_are_scored_and_not_fitted(fit, others, capsys):
    plain = record(fit())
    out = fit("--score", *others, "--held-out", 8, name="scored")
    assert record(out)["weights"] == plain["weights"]
    text = capsys.readouterr().out
    told = re.search(r"fit on 30 runs of \S+metrics.csv: Pearson (\S+) .*; Spearman (\S+),", text)
    assert min(float(told[1]), float(told[2])) > 0.98
    table = pd.read_csv(out / "scores.csv")
    assert table.groupby("runs_of", sort=False)["runs"].first().tolist() == [8, 30]
    theirs = table[table["runs_of"] == str(others[1])].set_index("output")
    assert list(theirs.index) == ["task_00", "task_01", "task_02", "task_03", "average"]
    # A second implementation, from the model that was written.
    model, ratios = Surrogate.load(out / "model.json"), pd.read_csv(others[0])
    predicted = model.predict(ratios[list(model.domains)].to_numpy())
    measured = pd.read_csv(others[1])
    for place, task in enumerate(model.outputs):
        ranks = spearmanr(predicted[:, place], measured[task]).statistic
        assert theirs.loc[task, "spearman"] == pytest.approx(ranks)
        pearson = np.corrcoef(predicted[:, place], measured[task])[0, 1]
        assert theirs.loc[task, "pearson"] == pytest.approx(pearson)


def test_other_tables_may_lack_tasks_and_domains_that_have_no_weight(fit, others, tmp_path, capsys):
    ratios = changed(others[0], tmp_path / "r.csv", _without_wiki)
    metrics = changed(others[1], tmp_path / "m.csv", lambda frame: frame.drop(columns="task_01"))
    table = pd.read_csv(fit("--score", ratios, metrics) / "scores.csv")
    assert list(table["output"]) == ["task_00", "task_02", "task_03", "average"]
    assert "m.csv lacks 1 of the tasks" in capsys.readouterr().out


def _without_wiki(frame):
    domains = [name for name in frame if name not in ("run", "name", "index", "wiki")]
    frame[domains] = frame[domains].div(frame[domains].sum(axis=1), axis=0)
    return frame.drop(columns="wiki")


def test_tables_that_cannot_be_scored_are_refused(refuse_fit, others, tmp_path):
    odd = changed(
        others[0], tmp_path / "odd.csv", lambda frame: frame.rename(columns={"wiki": "tv"})
    )
    few = changed(others[1], tmp_path / "few.csv", lambda frame: frame.drop(columns="task_01"))
    renamed = {f"task_0{number}": f"other_{number}" for number in range(4)}
    none = changed(others[1], tmp_path / "none.csv", lambda frame: frame.rename(columns=renamed))
    assert "odd.csv: domain 'tv' is not in the swarm" in refuse_fit("--score", odd, others[1])
    aggregated = ("--granularity", "aggregated")
    assert "few.csv: no task 'task_01'" in refuse_fit("--score", others[0], few, *aggregated)
    assert "none.csv: no task 'task_00'" in refuse_fit("--score", others[0], none)


def test_bootstrap_intervals(fit, capsys):
    out = fit("--bootstrap", 12, "--level", 0.8)
    spread = record(out)["made_from"]["bootstrap"]
    assert (spread["replicates"], spread["level"]) == (12, 0.8)
    for row in rows(out / "mix.csv"):
        assert [float(row["low"]), float(row["high"])] == spread["weights"][row["domain"]]
        assert 0 <= float(row["low"]) <= float(row["high"]) <= float(row["cap"]) + 1e-9
    low, high = spread["gain"]
    assert 0 < low < high < 1
    assert "in 80 % of 12 bootstrap replicates" in capsys.readouterr().out
    wide = record(fit("--bootstrap", 12, "--level", 0.99, name="wide"))["made_from"]["bootstrap"]
    assert wide["gain"][0] < low
    assert wide["gain"][1] > high


def explored(folder):
    text = (folder / "explore.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])


def test_the_explorer_starts_from_what_was_asked(fit):
    out = fit("--repetition", 3, "--kl", 0.02, "--unit", "nats")
    page, found = explored(out), record(out)
    assert page["request"] == {"kl": 0.02, "repetition": 3.0, "requested": TARGET}
    assert page["domains"] == found["domains"]
    assert page["prior"] == list(found["solver"]["prior"].values())
    assert (page["unit"], page["made_from"]["runs"]) == ("nats", 40)
    assert len(page["replicates"]) == 20


def test_the_explorer_holds_the_replicates_of_the_bootstrap(fit):
    own, shared = explored(fit("--explore", 3)), explored(fit("--bootstrap", 30, name="shared"))
    assert len(own["replicates"]) == 3
    assert len(shared["replicates"]) == 20
    assert shared["replicates"][:3] == own["replicates"]


FAST = {"lightgbm": ["--setting", "iterations=30"]}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_regression_family(fit, simulated, family):
    out = fit("--regressor", family, *FAST.get(family, []), "--target-tokens", 2_000_000_000)
    found, model = record(out), Surrogate.load(out / "model.json")
    expected = (
        "exact" if FAMILIES[family].convex else "best_run" if family == "search" else "search"
    )
    assert found["solver"]["name"] == expected
    assert model.regressor.family == family
    assert sum(found["weights"]) == pytest.approx(1)
    assert (out / "explore.html").exists() == bool(model.regressor.terms())
    if family == "lightgbm":  # forty runs and thirty rounds teach trees nothing
        assert model.regressor.iterations == 30
        return
    law, natural = simulated.law, simulated.domains.natural().weights
    assert law.bpb(np.array(found["weights"])).mean() < law.bpb(natural).mean()


def test_best_run_is_the_best_that_meets_the_caps(fit, simulated):
    found = record(fit("--proposer", "best_run"))
    swarm = read_swarm(simulated.ratios, simulated.metrics)
    allowed = (swarm.mixes <= 4 * simulated.domains.tokens / TARGET + 1e-9).all(1)
    assert not allowed.all()
    best = np.where(allowed, swarm.metrics.mean(1), np.inf).argmin()
    assert found["solver"]["run"] == swarm.runs[best]
    assert found["weights"] == pytest.approx(swarm.mixes[best].tolist())


def test_search_comes_close_to_the_exact_optimum(fit):
    exact, searched = record(fit()), record(fit("--proposer", "search", name="search"))
    assert searched["solver"]["name"] == "search"
    assert exact["objective"] <= searched["objective"] + 1e-9
    assert searched["objective"] == pytest.approx(exact["objective"], abs=2e-3)


def test_families_weigh_by_their_tasks(fit, simulated, tmp_path):
    families = tmp_path / "families.json"
    content = {"one": ["task_03"], "three": ["task_00", "task_01", "task_02"]}
    families.write_text(json.dumps(content))
    out = fit("--granularity", "family", "--families", families)
    model = Surrogate.load(out / "model.json")
    assert model.outputs == ("one", "three")
    assert model.weights.tolist() == [0.25, 0.75]
    swarm = read_swarm(simulated.ratios, simulated.metrics)
    predicted, three = model.predict(swarm.mixes), swarm.metrics[:, :3].mean(1)
    # An average of laws is not quite a law of the same form.
    assert np.corrcoef(predicted[:, 1], three)[0, 1] > 0.95
    assert np.corrcoef(predicted[:, 0], swarm.metrics[:, 3])[0, 1] > 0.999


def test_aggregated_fits_one_model_of_the_average(fit):
    model = Surrogate.load(fit("--granularity", "aggregated") / "model.json")
    assert model.outputs == ("average",)
    assert model.predict(np.eye(5)).shape == (5, 1)


def test_tasks_are_dropped_and_grouped(fit, simulated):
    out = fit("--drop-task", "task_02", "--group-tasks", "both=task_00,task_03")
    model = Surrogate.load(out / "model.json")
    assert model.outputs == ("task_01", "both")
    assert record(out)["made_from"]["tasks"] == ["task_01", "both"]
    swarm = read_swarm(simulated.ratios, simulated.metrics)
    both = swarm.metrics[:, [0, 3]].mean(1)
    np.testing.assert_allclose(model.predict(swarm.mixes)[:, 1], both, atol=0.1)


def test_a_setting_reaches_the_regressor(fit):
    paper = ("--regressor", "log_linear", "--setting")
    loose = Surrogate.load(fit(*paper, "ridge=0") / "model.json").regressor
    tight = Surrogate.load(fit(*paper, "ridge=10", name="tight") / "model.json").regressor
    assert (loose.ridge, tight.ridge) == (0, 10)
    assert tight.coef_.std(axis=1).max() < 0.1 * loose.coef_.std(axis=1).min()


def test_relative_sizes_are_the_prior(fit, simulated, tmp_path):
    sizes = {"web:news": 1, "web:sport": 1, "web:code": 2, "books": 2, "wiki": 4}
    counts = {domain.name: domain.tokens for domain in simulated.domains}
    path = tmp_path / "sized.json"
    path.write_text(json.dumps({"token_counts": counts, "relative_sizes": sizes}))
    # So strong a pull leaves the prior as it is.
    found = record(fit("--kl", 1e4, "--target-tokens", 1e9, domains=path))
    assert found["weights"] == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.4], abs=1e-3)
    natural = simulated.domains.natural().to_dict()
    table = rows(tmp_path / "out" / "mix.csv")
    assert {row["domain"]: float(row["natural"]) for row in table} == pytest.approx(natural)


def test_without_domains_nothing_is_capped(olmix, simulated, tmp_path, no_figures, capsys):
    assert olmix("fit", *simulated.swarm_options, "--out", tmp_path / "out") == 0
    found = record(tmp_path / "out")
    assert set(found["caps"].values()) == {None}
    assert found["repetition"] is None
    assert "nothing is capped" in capsys.readouterr().out
    prior = read_swarm(simulated.ratios, simulated.metrics).mixes.mean(0)
    assert list(found["solver"]["prior"].values()) == pytest.approx(prior.tolist())


def test_the_same_seed_gives_the_same_bytes(fit):
    options = ("--proposer", "search", "--bootstrap", 2)
    first, again, other = (
        fit(*options, "--seed", seed, name=name) for seed, name in ((1, "a"), (1, "b"), (2, "c"))
    )
    for name in ("mix.json", "mix.csv", "model.json"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    assert (first / "mix.csv").read_bytes() != (other / "mix.csv").read_bytes()


@pytest.fixture
def refuse_fit(refused, simulated, tmp_path):
    def run(*options, ratios=simulated.ratios, metrics=simulated.metrics, domains=simulated.counts):
        given = ("--ratios", ratios, "--metrics", metrics, "--domains", domains)
        line = refused("fit", *given, "--out", tmp_path / "out", *options)
        assert not (tmp_path / "out").exists()
        return line

    return run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--level", 1], "--level 1.0: expected a number between 0 and 1"),
        (["--level", 0], "--level 0.0"),
        (["--bootstrap", -1], "--bootstrap -1: expected 0 or more"),
        (["--explore", -1], "--explore -1: expected 0 or more"),
        (["--bootstrap", 1], "1 replicates, expected 2 or more"),
        (["--held-out", 40], "held-out runs: 40, expected 1 to 39"),
        (["--setting", "ridge"], "--setting 'ridge': expected NAME=NUMBER"),
        (["--setting", "ridge=strong"], "expected NAME=NUMBER"),
        (["--setting", 'ridge="1"'], "expected NAME=NUMBER"),
        (["--setting", "ridge=null"], "expected NAME=NUMBER"),
        (["--setting", "ridge=NaN"], "expected NAME=NUMBER"),
        (["--setting", "ridge=-1"], "expected NAME=NUMBER, 0 or more"),
        (["--setting", "rigde=1"], "'ensemble' has no setting 'rigde'"),
        (["--regressor", "log_linear", "--setting", "ceiling=0"], "ceiling is 0, expected above 0"),
        (["--regressor", "log_linear", "--setting", "max_iterations=0.5"], "max_iterations is 0.5"),
        (["--drop-task", "task_99"], "metrics have no task 'task_99'"),
        (["--group-tasks", "a=task_00,task_99"], "metrics have no task 'task_99'"),
        (["--group-tasks", "a"], "--group-tasks 'a': expected NAME=TASK,TASK"),
        (["--target-tokens", "1e12"], "sum to 0.04, expected at least 1"),
        (["--target-tokens", 0], "requested: 0.0, expected more than 0"),
        (["--repetition", -1, "--target-tokens", 1e9], "repetition factor: -1.0"),
        (["--kl", "nan"], "KL weight is nan"),
        (["--seed", "-1"], "--seed -1: expected a whole number of 0 or more"),
        (["--regressor", "lightgbm", "--proposer", "exact"], "needs a convex family"),
        (["--families", "no.json", "--granularity", "family"], "no.json: no such file"),
    ],
)
def test_wrong_options(refuse_fit, options, message):
    assert message in refuse_fit(*options)


def test_missing_files(refuse_fit, tmp_path):
    for name in ("ratios", "metrics"):
        assert "nowhere.csv: no such file" in refuse_fit(**{name: tmp_path / "nowhere.csv"})
    assert "nowhere.json: no such file" in refuse_fit(domains=tmp_path / "nowhere.json")


def test_a_domain_on_one_side_only(refuse_fit, simulated, tmp_path):
    counts = {domain.name: domain.tokens for domain in simulated.domains}
    fewer, more = tmp_path / "fewer.json", tmp_path / "more.json"
    fewer.write_text(json.dumps({"token_counts": {k: counts[k] for k in list(counts)[:-1]}}))
    more.write_text(json.dumps({"token_counts": counts | {"radio": 5}}))
    assert "domain 'wiki' has no token count (1 such)" in refuse_fit(domains=fewer)
    assert "domain 'radio' is not in the swarm (1 such)" in refuse_fit(domains=more)


def test_wrong_relative_sizes(refuse_fit, simulated, tmp_path):
    counts = {domain.name: domain.tokens for domain in simulated.domains}
    path = tmp_path / "sizes.json"
    for sizes, message in (
        (dict.fromkeys(counts, 0), "relative size of 'web:news' is 0, expected more than 0"),
        ({"wiki": 1}, "'web:news' is not in relative_sizes (4 such)"),
        (list(counts), "relative_sizes is ["),
    ):
        path.write_text(json.dumps({"token_counts": counts, "relative_sizes": sizes}))
        assert message in refuse_fit(domains=path)


def test_a_metric_that_is_not_a_number(refuse_fit, simulated, tmp_path):
    line = refuse_fit(metrics=changed(simulated.metrics, tmp_path / "holes.csv", hole))
    assert "holes.csv: line 5, column 'task_01'" in line
    assert "run 'run-0003'" in line


def test_a_run_that_appears_twice(refuse_fit, simulated, tmp_path):
    for name in ("ratios", "metrics"):
        table = changed(
            getattr(simulated, name),
            tmp_path / f"{name}.csv",
            lambda frame: pd.concat([frame, frame.iloc[[4]]]),
        )
        assert "run 'run-0004' appears again on line 42" in refuse_fit(**{name: table})


def test_target_tokens_without_token_counts(refused, simulated, tmp_path):
    given = (*simulated.swarm_options, "--target-tokens", 1e9, "--out", tmp_path / "out")
    assert "--target-tokens needs --domains" in refused("fit", *given)


def test_an_output_that_is_a_file(refused, simulated):
    line = refused("fit", *simulated.swarm_options, "--out", simulated.ratios)
    assert "ratios.csv: is a file, expected a folder" in line


def test_missing_values_can_be_left_out(olmix, simulated, tmp_path, no_figures, capsys):
    table = changed(simulated.metrics, tmp_path / "holes.csv", hole)
    given = ("--ratios", simulated.ratios, "--metrics", table, "--out", tmp_path / "out")
    assert olmix("fit", *given, "--missing", "drop-runs") == 0
    assert "39 runs, 5 domains, 4 tasks" in capsys.readouterr().out
    assert olmix("fit", *given, "--missing", "drop-tasks") == 0
    assert "40 runs, 5 domains, 3 tasks" in capsys.readouterr().out
    assert len(record(tmp_path / "out")["predicted"]) == 3


def test_a_law_without_weight_says_its_gain_too(fit, monkeypatch, capsys):
    monkeypatch.setattr("olmix.regressors.ensemble._stack", lambda *_: np.array([0.0, 1.0]))
    fit("--explore", 0)
    told = re.search(r"gain over natural by each law: (.*)", capsys.readouterr().out)[1]
    assert re.fullmatch(r"log-linear \S+ % \(without weight\), diminishing returns \S+ %", told)


def test_it_says_which_laws_it_chose_and_what_each_predicts(fit, capsys):
    out = fit()
    said = capsys.readouterr().out
    laws = Surrogate.load(out / "model.json").regressor
    assert f"law: {laws.weights_[0]:.2f} × log_linear ({laws.errors_['log_linear']:.3f})" in said
    assert f"log-linear: ridge {laws.members_[0].ridge_:g}" in said
    assert "gain over natural by each law" in said or len(laws.terms()) == 1
