"""``python -m olmix fit`` on swarms as other groups save them."""

import json

import numpy as np
import pandas as pd
import pytest

from olmix.__main__ import main

DOMAINS = [f"train/the pile {j}" for j in range(5)]
TASKS = [f"valid/{name}" for name in ("arxiv loss", "github", "wiki")]


@pytest.fixture(scope="module")
def law():
    rng = np.random.default_rng(1)
    mixes = np.round(rng.dirichlet(np.full(5, 0.6), size=60), 3)
    coefficients = rng.normal(0.3, 0.6, (5, 3))
    shares = mixes / mixes.sum(1, keepdims=True)
    loss = 2.5 + np.exp(shares @ coefficients) + 0.01 * rng.standard_normal((60, 3))
    return mixes, loss


@pytest.fixture
def fit(tmp_path, law, capsys, monkeypatch):
    """Write two tables, run the command without its figures, return (status, output, mix)."""
    for name in ("plot_fit", "plot_mix", "plot_coefficients", "plot_kl_sweep"):
        monkeypatch.setattr(f"olmix.commands.fit.{name}", lambda *_: None)

    def run(*options, mixes=None, loss=None, separator=",", key="index", domains=None, order=None,
            tasks=TASKS):  # fmt: skip
        mixes = law[0] if mixes is None else mixes
        loss = law[1] if loss is None else loss
        rows = np.arange(len(mixes)) + 1
        ratios = pd.DataFrame(mixes, columns=DOMAINS)
        metrics = pd.DataFrame(loss, columns=tasks)
        ratios.insert(0, key, rows)
        metrics.insert(0, key, rows)
        if order is not None:
            metrics = metrics.iloc[order]
        ratios.to_csv(tmp_path / "mix.tsv", sep=separator, index=False)
        metrics.to_csv(tmp_path / "loss.tsv", sep=separator, index=False)
        arguments = ["fit", "--ratios", str(tmp_path / "mix.tsv"), "--metrics"]
        arguments += [str(tmp_path / "loss.tsv"), "--out", str(tmp_path / "out"), *options]
        if domains is not None:
            (tmp_path / "d.json").write_text(json.dumps(domains))
            arguments += ["--domains", str(tmp_path / "d.json")]
        status = main(arguments)
        printed = capsys.readouterr()
        path = tmp_path / "out" / "mix.json"
        mix = json.loads(path.read_text()) if path.exists() else None
        return status, printed.out + printed.err, mix

    return run


def test_no_run_column_no_token_counts_no_order(fit):
    status, text, mix = fit(order=np.random.default_rng(0).permutation(60), separator="\t")
    assert status == 0
    assert "runs joined on the column 'index'" in text
    assert "columns are separated by tabs" in text
    assert "no token counts" in text
    assert mix["domains"] == DOMAINS
    assert sum(mix["weights"]) == pytest.approx(1)


def test_percent_and_shares_give_the_same_mix(fit, law):
    _, _, shares = fit()
    status, text, percent = fit(mixes=100 * law[0])
    assert status == 0
    assert "weights are in percent" in text
    # Tables that differ in their last digits: the fit ends within 1e-7 of its loss on each.
    np.testing.assert_allclose(percent["weights"], shares["weights"], atol=1e-5)


@pytest.mark.parametrize("unit", [0.001, 400.0])
def test_scaled_metrics_give_the_same_mix_in_any_unit(fit, law, unit):
    _, _, reference = fit("--scale-metrics")
    status, text, mix = fit("--scale-metrics", "--unit", "perplexity", loss=unit * law[1])
    assert status == 0
    assert "predicted average perplexity" in text
    np.testing.assert_allclose(mix["weights"], reference["weights"], atol=2e-3)


def test_other_units_are_noted(fit, law):
    status, text, _ = fit(loss=300 * law[1])
    assert status == 0
    assert "not in bits per byte by their medians: valid/arxiv loss" in text


def test_metrics_that_no_mix_lowers_are_noted(fit, law):
    loss = law[1].copy()
    loss[:, 1] = 2.7
    status, text, mix = fit(loss=loss)
    assert status == 0
    assert "the same in every run, so that no mix is better for them: valid/github" in text
    assert sum(mix["weights"]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["arc/acc_norm", "MMLU accuracy", "mbpp::pass@1"])
def test_a_name_of_what_should_be_large_is_noted(fit, name):
    text = fit(tasks=[name, "basic_skills_accounting", "f1_news"])[1]
    assert f"better when larger, by their names: {name}, f1_news; a mix is" in text


def test_runs_that_say_nothing_make_the_mix_a_guess(fit):
    noise = np.random.default_rng(2).normal(2.5, 0.1, size=(60, 3))
    assert "the mix is a guess" in fit(loss=noise)[1]
    assert "the mix is a guess" not in fit()[1]


def test_relative_sizes_without_token_counts(fit):
    sizes = dict(zip(DOMAINS, [0.4, 0.3, 0.1, 0.1, 0.1], strict=True))
    status, _, mix = fit("--kl", "100", domains={"relative_sizes": sizes})
    assert status == 0
    np.testing.assert_allclose(mix["weights"], [0.4, 0.3, 0.1, 0.1, 0.1], atol=5e-3)


def test_what_a_file_of_token_counts_holds_besides_is_nobodys_business(fit):
    counts = dict.fromkeys(DOMAINS, 10**9)
    content = {"token_counts": counts, "total_tokens": None, "comment": "ours"}
    status, _, mix = fit("--target-tokens", "1e9", "--repetition", "0.5", domains=content)
    assert status == 0
    assert max(mix["weights"]) <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        (["--target-tokens", "1e9"], {}, "--target-tokens needs --domains"),
        ([], {"key": "mixture"}, "share no column that names their runs"),
        (["--run-column", "row"], {"key": "mixture"}, "no column 'row'"),
        (["--drop-task", "nope"], {}, "no task 'nope'"),
        ([], {"loss": -np.eye(60)[:, :3]}, "the ensemble law is for losses, expected 0 or more"),
        ([], {"loss": np.ones((60, 3))}, "loss.tsv: no run differs from the others (60 in all)"),
        ([], {"mixes": np.eye(5)[np.zeros(60, int)]}, "mix.tsv: no run differs from the others"),
        (["--held-out", "1"], {}, "scoring needs 2 or more runs, got 1"),
        (["--held-out", "59"], {}, "cross-validation needs runs of 2 or more mixes, got 1"),
    ],
)
def test_refused_in_one_line(fit, options, changes, message):
    status, text, mix = fit(*options, **changes)
    assert status == 2
    assert mix is None
    assert message in text
    assert text.count("\n") == 1


def test_a_named_run_column_and_runs_left_out(fit, law):
    loss = law[1].copy()
    loss[7, 1] = np.nan
    status, text, _ = fit("--run-column", "mixture", key="mixture", loss=loss)
    assert status == 2
    assert "line 9, column 'valid/github': ''" in text
    status, text, _ = fit(
        "--run-column", "mixture", "--missing", "drop-runs", key="mixture", loss=loss
    )
    assert status == 0
    assert "59 runs" in text
    assert "1 runs left out, values missing: 8" in text
