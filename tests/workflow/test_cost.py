"""`snakemake cost`: the report of real scales, against the rule graph and the paper's counts."""

import csv
import re

import pytest

# §5.1 and the tables of appendix D.2: proxy runs over all updates, for one seed.
PAPER_COUNTS = {
    ("full_recomputation", "3"): 832,
    ("full_recomputation", "2"): 416,
    ("full_recomputation", "1"): 267,
    ("swarm_reuse", "3"): 268,
    ("full_mixture_reuse", "3"): 216,
    ("partial_mixture_reuse", "3"): 272,
}


def report(clone, scale, *config):
    done = clone.snakemake("cost", "--quiet", scale=scale, config=config)
    assert done.returncode == 0, done.stdout + done.stderr
    tables = {}
    for path in (clone.folder / "results" / scale / "cost").glob("*.csv"):
        with path.open(newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return done.stdout, tables


@pytest.fixture(scope="module")
def paper(module_clone):
    return report(module_clone, "paper")


def test_main_figure_has_the_papers_counts(paper):
    _, tables = paper
    main = {
        (row["strategy"], row["c"]): row for row in tables["strategies"] if row["group"] == "main"
    }
    for key, runs in PAPER_COUNTS.items():
        assert int(main[key]["counted"]) == runs
        assert main[key]["seeds"] == "3"


def test_what_is_trained_is_what_chains_and_pools_add_up_to(paper):
    _, tables = paper
    updates = next(row for row in tables["questions"] if row["question"] == "updates")
    alone = sum(
        int(row["trained"]) * int(row["seeds"])
        for row in tables["strategies"]
        if row["group"] == "main"
    )
    # A pool per stage, for each seed the most that a chain draws: swarm reuse's runs of the paper's
    # table at c = 3, and at the last stage the 256 of full recomputation.
    assert int(updates["proxy_runs"]) == alone + 3 * (64 + 64 + 6 + 6 + 5 + 256)
    # Natural, and the six chains of the paper in three seeds.
    assert int(updates["target_runs"]) == 1 + 6 * 3


def test_paper_report_is_complete(paper):
    text, tables = paper
    assert {row["question"] for row in tables["questions"]} >= {
        *(f"rq{n}" for n in range(1, 8)), "methods", "updates", "budgets", "all",
    }  # fmt: skip
    assert "GPU-hours" in text
    assert "989 TFLOP/s peak per GPU, 40% of it reached" in text
    total = next(row for row in tables["questions"] if row["question"] == "all")
    assert float(total["done"]) == 0
    assert re.search(r"^all .* 0%$", text, re.MULTILINE)
    # Waves of whole runs take longer than all GPUs at work all the time would.
    assert float(total["hours"]) > float(total["device_hours"]) / 64


def test_more_devices_take_less_time(module_clone, paper):
    text, tables = report(module_clone, "paper", "devices=256")
    assert "hours on 256 GPUs" in text
    before = {row["question"]: float(row["hours"]) for row in paper[1]["questions"]}
    assert all(float(row["hours"]) < before[row["question"]] for row in tables["questions"])


def test_too_few_devices_are_refused_in_one_line(module_clone):
    done = module_clone.snakemake("cost", scale="paper", config=("devices=8",))
    assert done.returncode != 0
    assert "8 devices: one run of model 'target' takes 32" in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("question", ["rq3", "rq7", "methods", "updates", "budgets"])
def test_report_counts_the_runs_that_the_graph_trains(module_clone, question):
    """With one run per job, jobs are runs."""
    path = module_clone.folder / "config" / "scales" / "smoke.yaml"
    before = path.read_text()
    path.write_text(re.sub(r"runs_per_job: \d+", "runs_per_job: 1", before))
    try:
        _, tables = report(module_clone, "smoke")
        row = next(row for row in tables["questions"] if row["question"] == question)
        jobs = module_clone.planned(f"results/{question}")
        assert jobs["train_proxies"] == int(row["proxy_runs"])
        assert jobs["train_targets"] == int(row["target_runs"])
    finally:
        path.write_text(before)
