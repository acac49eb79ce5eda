"""Auto partial reuse over replicas: read from files that stand where the plan says."""

import numpy as np
import pandas as pd
import pytest

from olmix.claims.auto_reuse import gains_and_choices, in_one_line, pooled_gains
from olmix.files import write_json
from olmix.paths import CONFIG
from olmix.questions.catalogue import plan_study
from olmix.study.chain import Chain
from olmix.study.jobs import Jobs
from olmix.study.scale import load_scale
from olmix.tables import write_table

SCALE = "measured-1"
# Gains over natural in %, of every strategy with c = 3; the seeds differ by 1.
GAINS = {
    "full_recomputation": 12.0, "swarm_reuse": 11.0, "full_mixture_reuse": 9.0,
    "partial_mixture_reuse": 10.0, "auto_partial_reuse": 8.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """The files that a study of the updates at a replica leaves, with known gains and choices."""
    folder = tmp_path_factory.mktemp("studied")
    plan = plan_study(load_scale(CONFIG / "scales", SCALE), CONFIG.parent)
    job = Jobs(plan).question("updates")
    chains = [Chain(**record) for record, _ in job.planned["chains"]]
    step = {"domain": "dclm:software_development", "reduction": 1.0}
    for path in job.input["choices"]:
        steps = [step] if "add_stack_edu" in path else []
        auto = [chain for chain in chains if chain.strategy == "auto_partial_reuse"]
        choices = {
            chain.name: {"initial_coupling": 4.0, "steps": steps if chain.seed else []}
            for chain in auto
        }
        write_json(folder / path, choices)
    averages = [1 - (GAINS[chain.strategy] + chain.seed) / 100 for chain in chains]
    names = ["natural", *(chain.name for chain in chains)]
    (ratios,), (metrics,) = job.input["ratios"], job.input["metrics"]
    for path in (ratios, metrics):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    write_table(folder / ratios, names, ("a", "b"), np.full((len(names), 2), 0.5))
    write_table(folder / metrics, names, ("x",), np.array([1.0, *averages])[:, None])
    return folder / "results"


def test_gains_and_choices_are_by_seed(studied):
    table = gains_and_choices(SCALE, studied)
    assert table["seed"].tolist() == [0, 1, 2]
    assert table["auto_partial_reuse"].tolist() == pytest.approx([8, 9, 10])
    assert table["full_recomputation"].tolist() == pytest.approx([12, 13, 14])
    assert table["add_stack_edu"].tolist() == ["", *["dclm:software_development"] * 2]
    assert table["partition_pdfs"].tolist() == [""] * 3


def test_a_replica_that_was_not_studied_has_none(studied, tmp_path):
    assert gains_and_choices("measured-2", studied) is None
    (tmp_path / SCALE).mkdir()
    assert gains_and_choices(SCALE, tmp_path) is None


def test_replicas_are_pooled_by_the_rule_of_the_ground(studied):
    """Two replicas: their mean ± t·s with one degree of freedom, 6.314 at 90 %."""
    one = gains_and_choices(SCALE, studied)
    other = one.assign(scale="other", auto_partial_reuse=one["auto_partial_reuse"] + 2)
    found = pooled_gains(pd.concat([one, other]), 0.9)
    half = 6.314 * np.sqrt(2)
    assert found["auto"].value == pytest.approx(10)
    assert (found["auto"].low, found["auto"].high) == pytest.approx(
        (10 - half, 10 + half), abs=0.01
    )
    # Partial reuse gains 11 in both: auto reuse 2 less and as much.
    assert found["above_partial"].value == pytest.approx(-1)
    assert found["partial"].low == found["partial"].high == pytest.approx(11)
    assert found["share"].value == pytest.approx((9 / 13 + 11 / 13) / 2)
    assert in_one_line(one.assign(scale=list("abc")), 0.9).startswith(
        "auto reuse, over 3 replicas: auto 9 (6.08 to 11.9)"
    )


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("README.md", "Over {count} replicas it keeps {share}"),
        ("docs/claims.md", "it gains {auto}, {share_of_full}, and {above} points more"),
    ],
)
def test_pages_say_what_the_kept_choices_gain(repository, page, said):
    table = pd.read_csv(CONFIG / "measured" / "auto_reuse.csv", comment="#")
    found = pooled_gains(table, 0.9)
    auto, share, above = found["auto"], found["share"], found["above_partial"]
    kept = f"{share.value:.0%} of {{}} ({share.low * 100:.0f} to {share.high:.0%})"
    kept = kept.replace("%", " %")
    text = said.format(
        count={4: "four", 8: "eight"}[table["scale"].nunique()],
        auto=f"{auto.value:.1f} % ({auto.low:.1f} to {auto.high:.1f})",
        share=kept.format("the gain"), share_of_full=kept.format("full recomputation's gain"),
        above=f"{above.value:.1f}",
    )  # fmt: skip
    assert text in (repository / page).read_text()
