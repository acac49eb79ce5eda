"""Methods: the shipped files against the paper's table, what is refused, what is planned."""

from pathlib import Path

import pytest
import yaml

from olmix.errors import OlmixError
from olmix.study.methods import load_methods, plan_methods
from olmix.study.questions import plan_questions
from olmix.study.scale import Scale, load_scale
from olmix.study.spec import Plan

CONFIG = Path(__file__).parents[2] / "config"
BASE = yaml.safe_load((CONFIG / "methods" / "olmix_base.yaml").read_text())


@pytest.fixture
def shipped():
    return {method.name: method for method in load_methods(CONFIG / "methods")}


def scale(largest: int | None = None) -> Scale:
    content = {"kl": 0.05, "repetition": 4, "target_repeats": 1}
    content["methods"] = {"largest_swarm": largest}
    return Scale("made-up", content)


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
    assert {method.label for method in shipped.values()} == set(families)
    for method in shipped.values():
        row = table[method.label]
        assert method.granularity == granularity[row["granularity"]]
        assert method.repetition_constraint == (row["repetition_constraint"] == "yes")
        assert method.regression_family == families[method.label]
        assert (method.solver == "search") == (row["solver"] == "search")
        assert (method.solver == "exact_kl") == (row["solver"] == "exact with KL")
        assert (method.proxy_size == "target") == (row["proxy_size"] == "target")


def test_a_method_becomes_a_swarm_a_proposal_and_a_target_run(shipped):
    plan = Plan()
    plan_methods(plan, scale(), shipped.values(), domains=8)
    swarm = plan.swarms["method-autoscale"]
    assert (swarm.model, swarm.size) == ("target", 17)
    assert plan.mixes["method-autoscale"].kind == "one_at_a_time"
    assert plan.swarms["method-regmix"].size == 241
    proposals = {proposal.name: proposal for proposal in plan.studies["methods"].proposals}
    base, bimix = proposals["olmix_base"], proposals["bimix"]
    assert (base.kl, base.repetition, base.proposer) == (0.05, 4, "exact")
    assert (bimix.kl, bimix.repetition, bimix.regressor) == (0.0, None, "bimix")
    assert proposals["regmix"].granularity == "aggregated"
    assert set(plan.swarms["methods-target"].proposals) == set(shipped)
    natural = plan.swarms["natural-topics"]
    assert (natural.model, natural.size) == ("target", 1)
    assert plan.asks["methods"] == ("methods",)


def test_a_scale_bounds_the_swarms(shipped):
    plan = Plan()
    plan_methods(plan, scale(largest=12), shipped.values(), domains=8)
    assert {name: swarm.size for name, swarm in plan.swarms.items()} == {
        "method-autoscale": 12, "method-bimix": 4, "method-data_mixing_laws": 12,
        "method-olmix_base": 12, "method-regmix": 12, "natural-topics": 1, "methods-target": 5,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["tiny", "smoke", "paper"])
def test_every_scale_plans_the_methods_beside_the_questions(shipped, name):
    settings = load_scale(CONFIG / "scales", name)
    plan = plan_questions(settings)
    plan_methods(plan, settings, shipped.values(), domains=8)
    for swarm in plan.swarms.values():
        settings.model(swarm.model)


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
