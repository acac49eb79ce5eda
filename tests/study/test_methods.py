"""Methods: the shipped files against the paper's table, what is refused, what is planned."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from olmix.errors import OlmixError
from olmix.questions.catalogue import plan_study
from olmix.questions.methods.plan import plan as plan_methods
from olmix.study.methods import OLMIX_ENSEMBLE, load_methods
from olmix.study.plan import Plan
from olmix.study.scale import load_scale

CONFIG = Path(__file__).parents[2] / "config"
BASE = yaml.safe_load((CONFIG / "methods" / "olmix_base.yaml").read_text())


@pytest.fixture
def shipped():
    return load_methods(CONFIG / "methods")


def planned(largest: int | None = None) -> Plan:
    """The methods alone, on the eight topics of `tiny`, with one target run each."""
    scale = load_scale(CONFIG / "scales", "tiny")
    changes = {"methods": {"largest_swarm": largest, "most_rounds": 6}, "target_repeats": 1}
    plan = Plan.open(replace(scale, content=scale.content | changes), CONFIG.parent)
    plan.reads["methods"] = plan_methods(plan)
    return plan


def test_swarm_sizes_are_those_of_the_papers_table(shipped):
    # At the numbers of domains the table gives them for.
    assert shipped["regmix"].swarm_size(17) == 512
    assert shipped["data_mixing_laws"].swarm_size(7) == 20
    for m in (3, 8, 24):
        assert shipped["autoscale"].swarm_size(m) == 2 * m + 1
        assert shipped["bimix"].swarm_size(m) == 4
        assert shipped["olmix_base"].swarm_size(m) == 3 * (m + 1)


def test_choices_are_those_of_the_papers_table(shipped):
    table = yaml.safe_load((CONFIG / "design_choices.yaml").read_text())["methods"]
    granularity = {"per task": "task", "aggregated": "aggregated"}
    families = {
        "RegMix": "lightgbm", "Data Mixing Laws": "log_linear", "AutoScale": "autoscale",
        "BiMix": "bimix", "OlmixBase": "log_linear",
    }  # fmt: skip
    papers = [method for name, method in shipped.items() if name != OLMIX_ENSEMBLE]
    assert {method.label for method in papers} == set(families)
    for method in papers:
        row = table[method.label]
        assert method.granularity == granularity[row["granularity"]]
        assert method.repetition_constraint == (row["repetition_constraint"] == "yes")
        assert method.regression_family == families[method.label]
        assert (method.solver in ("search", "simulated")) == (row["solver"] == "search")
        assert (method.solver == "exact_kl") == (row["solver"] == "exact with KL")
        assert (method.proxy_size == "target") == (row["proxy_size"] == "target")


def test_a_method_becomes_a_swarm_a_proposal_and_a_target_run(shipped):
    plan = planned()
    swarm = plan.swarms["method-autoscale"]
    assert (swarm.model, swarm.size) == ("target", 17)
    assert plan.mixes["method-autoscale"].kind == "one_at_a_time"
    assert plan.swarms["method-regmix"].size == 241
    proposals = {proposal.name: proposal for proposal in plan.studies["methods"].proposals}
    base, bimix = proposals["olmix_base"], proposals["bimix"]
    assert (base.kl, base.repetition, base.proposer) == (0.05, 4, "exact")
    assert (bimix.kl, bimix.repetition, bimix.regressor) == (0.0, None, "bimix")
    assert proposals["regmix"].granularity == "aggregated"
    at_once = {f"at_once-{runs}" for runs in (10, 16, 22, 28)}
    assert set(plan.swarms["methods-target"].proposals) == set(shipped) | at_once
    assert "natural" in plan.swarms["systems-target"].proposals
    assert plan.reads["methods"].studies == ["methods"]


def test_a_scale_bounds_the_swarms():
    swarms = planned(largest=12).swarms
    assert {name: s.size for name, s in swarms.items() if name.startswith("method-")} == {
        "method-autoscale": 12, "method-bimix": 4, "method-data_mixing_laws": 12,
        "method-olmix_base": 12, "method-olmix_ensemble": 9, "method-regmix": 12,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["tiny", "smoke", "paper"])
def test_every_scale_has_the_models_that_its_plan_trains(name):
    plan = plan_study(load_scale(CONFIG / "scales", name), CONFIG.parent)
    assert "method-regmix" in plan.swarms
    for swarm in plan.swarms.values():
        plan.scale.model(swarm.model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solver": "gradient"}, "solver is 'gradient', expected one of exact, exact_kl, search"),
        ({"repetition_constraint": 1}, "repetition_constraint is 1, expected one of true, false"),
        ({"regression_family": True}, "regression_family is True, expected one of log_linear"),
        ({"regression_family": "lightgbm"}, "solver 'exact_kl' needs a convex family"),
        ({"swarm_size": 30}, "swarm_size is 30, expected {per_domain: .., plus: ..}"),
        ({"swarm_size": {"per_domain": 1}}, "key 'plus' is missing"),
        ({"swarm_size": {"per_domain": -1, "plus": 0}}, "per_domain is -1, expected 0 or more"),
        ({"swarm_size": {"per_domain": 1, "plus": 0.5}}, "plus is 0.5, expected 0 or more"),
        ({"swarm_size": {"per_domain": 0, "plus": 0}}, "no runs at all"),
        ({"swarm_distribution": "natural"}, "swarm_distribution is 'natural'"),
        ({"proxy_size": 30}, "proxy_size is 30, expected text"),
        ({"rounds": 2}, "unknown key 'rounds'"),
    ],
)
def test_what_a_method_may_not_say(tmp_path, change, message):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(BASE | change))
    with pytest.raises(OlmixError) as error:
        load_methods(tmp_path)
    assert message in str(error.value)
    assert "mine.yaml" in str(error.value)


def test_a_missing_choice_and_an_empty_folder_are_refused(tmp_path):
    with pytest.raises(OlmixError, match="no methods"):
        load_methods(tmp_path)
    content = {key: value for key, value in BASE.items() if key != "granularity"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(OlmixError, match="key 'granularity' is missing"):
        load_methods(tmp_path)
