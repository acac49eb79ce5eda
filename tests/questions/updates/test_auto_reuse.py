"""What auto partial reuse chose, on choices made by hand and on a plan."""

import pandas as pd
import pytest

from olmix.files import write_json
from olmix.paths import CONFIG
from olmix.questions.catalogue import plan_study
from olmix.questions.updates.auto_reuse import chosen_by_auto_reuse, counted
from olmix.study.chain import Chain
from olmix.study.jobs import Jobs
from olmix.study.scale import load_scale

CHAINS = [Chain("auto_partial_reuse", 3, "relaxed", seed) for seed in (0, 1, 2)]
OTHER = Chain("partial_mixture_reuse", 3, "relaxed", 0)
PLANNED = {
    "chains": [(chain.to_dict(), 64) for chain in (OTHER, *CHAINS)],
    "choices": {"main-add_code": "add_code", "main-add_books": "add_books"},
    "named": {"add_code": ["science"], "add_books": []},
}


def choice(kappa: float, *steps: tuple[str, float]) -> dict:
    return {
        "initial_coupling": kappa,
        "steps": [{"domain": domain, "reduction": fall} for domain, fall in steps],
    }


@pytest.fixture
def table(tmp_path) -> pd.DataFrame:
    after_code = [
        choice(10.0, ("science", 4.0), ("web", 1.0)), choice(8.0, ("web", 2.0), ("science", 2.0)),
        choice(0.0),
    ]  # fmt: skip
    after_books = [choice(4.0, ("web", 1.0)), choice(4.0), choice(4.0)]
    files = {}
    for name, found in (("main-add_code", after_code), ("main-add_books", after_books)):
        files[name] = tmp_path / f"{name}.json"
        write_json(files[name], {c.name: r for c, r in zip(CHAINS, found, strict=True)})
    return chosen_by_auto_reuse(PLANNED, files)


def test_every_chain_that_probes_has_a_row_at_every_stage(table):
    rows = table.set_index(["stage", "seed"])
    assert len(rows) == 6
    assert set(table["strategy"]) == {"auto_partial_reuse"}
    assert rows["chosen"].tolist() == ["science web", "web science", "", "web", "", ""]
    assert rows["named"].tolist() == ["science"] * 3 + [""] * 3
    # 5 of 10, 4 of 8; a κ of 0 leaves nothing to take away.
    assert rows["share_of_kappa"].tolist() == pytest.approx([0.5, 0.5, 0, 0.25, 0, 0])


def test_named_domains_are_counted_where_some_are_named(table):
    assert counted(table) == [
        {"stage": "add_code", "domain": "science", "choices": 3, "chosen": 2, "chosen_first": 1}
    ]


def test_without_a_chain_that_probes_there_is_nothing_to_count():
    table = chosen_by_auto_reuse(PLANNED, {})
    assert table.empty
    assert counted(table) == []


@pytest.mark.parametrize(("scale", "probed"), [("smoke", True), ("paper", False)])
def test_the_plan_says_where_choices_are_and_what_is_named(scale, probed):
    """Choices exist after updates that affect a domain, at scales that make what is ours."""
    plan = plan_study(load_scale(CONFIG / "scales", scale), CONFIG.parent)
    job = Jobs(plan).question("updates")
    stages = [path.rpartition("/main-")[2].removesuffix(".json") for path in job.input["choices"]]
    expected = [stage for stage in plan.updates.updates if f"main-{stage}-probe" in plan.swarms]
    assert stages == expected
    assert bool(stages) == probed
    assert set(job.planned["choices"].values()) == set(job.planned["named"])
