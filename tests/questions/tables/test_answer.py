"""The descriptive tables against the paper's numbers."""

from pathlib import Path

import pytest
import yaml

from olmix.domains import DomainSet
from olmix.questions.tables.answer import (
    cost_table,
    design_choices,
    domain_sizes,
    domain_updates,
    eval_suite,
    load_sequences,
    model_architectures,
)
from olmix.updates.strategies import STRATEGIES

CONFIG = Path(__file__).parents[3] / "config"


@pytest.fixture(scope="module")
def sequences():
    names = ("paper", "smoke")
    return load_sequences({name: CONFIG / "updates" / f"{name}.yaml" for name in names})


def test_domains_of_every_stage(sequences):
    table = domain_updates(sequences)
    paper = table[table["scale"] == "paper"]
    assert paper["domains"].tolist() == [24, 39, 45, 45, 44, 64]
    assert paper["change"].tolist() == [24, 15, 6, 0, -1, 20]
    assert paper["operation"].tolist() == [
        "initial", "add", "add", "revise", "remove", "partition"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "totals"),
    [
        ("full_recomputation", [267, 416, 832]),
        ("swarm_reuse", [77, 140, 268]),
        ("full_mixture_reuse", [76, 108, 216]),
        ("partial_mixture_reuse", [97, 136, 272]),
    ],
)
def test_costs_add_up_to_the_papers(sequences, strategy, totals):
    table = cost_table(sequences, STRATEGIES[strategy])
    paper = table[table["scale"] == "paper"]
    columns = ["c=1", "c=2", "c=3"]
    assert paper[paper["stage"] == "total"][columns].iloc[0].tolist() == totals
    assert paper[paper["stage"] != "total"][columns].sum().tolist() == totals
    assert list(table.groupby("scale").size()) == [7, 7]


def test_sizes_are_those_of_the_catalogue():
    catalogue = DomainSet.load(CONFIG / "domains" / "paper.yaml")
    table = domain_sizes({"paper": catalogue})
    assert len(table) == 65
    assert table["tokens"].sum() == catalogue.tokens.sum()
    row = table.set_index("domain").loc["dclm:software_development"]
    assert (row["source"], row["topic"]) == ("dclm", "software_development")
    assert (table.loc[table["domain"] == "arxiv", "topic"] == "").all()


def test_the_suite_has_52_tasks():
    table = eval_suite(CONFIG / "tasks" / "paper.yaml")
    assert list(table.columns) == ["name", "family", "shots", "instances", "match"]
    assert len(table) == 52
    assert table["name"].is_unique


def test_models_as_the_paper_has_them():
    scales = {
        name: yaml.safe_load((CONFIG / "scales" / f"{name}.yaml").read_text())["models"]
        for name in ("paper", "smoke")
    }
    table = model_architectures(scales).set_index(["scale", "model"])
    proxy = table.loc[("paper", "30m")]
    assert (proxy["batch_size"], proxy["sequence_length"]) == (64, 2048)
    assert round(proxy["learning_rate"], 3) == 0.007
    target = table.loc[("paper", "target")]
    assert target["tokens"] == 61_006 * target["batch_size"] * target["sequence_length"]
    assert table.loc[("smoke", "30m"), "tokens"] == 10240  # as the scale overrides it


def test_seven_choices_of_seven_methods():
    table = design_choices(CONFIG / "design_choices.yaml")
    assert table.shape == (7, 8)
    assert {"RegMix", "OlmixBase"} <= set(table.columns)
    row = table.set_index("choice").loc["repetition_constraint"]
    assert row["OlmixBase"] == "yes"
