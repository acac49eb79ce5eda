"""What is run for one's own text: at first, and after an update."""

import jsonschema
import numpy as np
import pytest
import yaml

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.paths import REPOSITORY
from olmix.questions.catalogue import plan_study
from olmix.study.mixes import sample_mixes
from olmix.study.plan import Plan
from olmix.study.proposals import fixed_mix
from olmix.study.scale import Scale, load_scale

TOKENS = {"web": 60_000, "code": 30_000, "books": 10_000}


def scale_of(project) -> Scale:
    return load_scale(project.scale_file.parent, project.name)


def planned(project, monkeypatch) -> Plan:
    monkeypatch.chdir(project.root)
    return plan_study(scale_of(project), project.root)


def test_the_scale_that_init_writes_passes_the_schema(project):
    schema = yaml.safe_load((REPOSITORY / "workflow/schemas/scale.schema.yaml").read_text())
    content = yaml.safe_load(project.scale_file.read_text())
    jsonschema.validate(scale_of(project).content, schema)
    assert content["mix"]["task_weights"] == {"code": 2, "web": 0}
    assert content["requested_tokens"] == 100_000
    del content["stage"]
    with pytest.raises(jsonschema.ValidationError, match="'stage' is a required property"):
        jsonschema.validate(content, schema)


def test_the_first_stage_trains_a_swarm_and_checks_its_proposal(project, monkeypatch):
    plan = planned(project, monkeypatch)
    assert list(plan.reads) == ["mix"]
    assert plan.swarms["mix-initial"].size == 6 * (3 + 1), "an hour is enough for c = 6"
    assert plan.studies["mix-initial"].mixes == ("proposed", "natural", "uniform")
    (proposal,) = plan.studies["mix-initial"].proposals
    assert proposal.task_weights == {"code": 2, "web": 0}
    targets = [name for name in plan.swarms if "target" in name]
    assert len(targets) == scale_of(project)["target_repeats"]
    seeds = {plan.swarms[name].seed for name in targets}
    assert len(seeds) == len(targets), "each repetition reads its data in another order"


def test_after_an_addition_only_two_weights_are_recomputed(updated, monkeypatch):
    project = updated(("web", "code", "books"), {**TOKENS, "news": 20_000}, added=("news",))
    plan = planned(project, monkeypatch)
    assert plan.swarms["mix-second"].size == 6 * (2 + 1)
    assert plan.studies["mix-second"].mixes == ("proposed", "natural", "uniform", "kept")
    sequence = plan.updates.sequence
    swarm = sample_mixes(
        plan.mixes["mix-second"],
        sequence,
        prior=None,
        distributions={"updates": scale_of(project)["swarm"]["updates"]},
        caps={},
    )
    assert swarm.names == ("existing", "news")
    kept = plan.studies["mix-second"].fixed[-1]
    mix = fixed_mix(kept, sequence, 4.0, 1e5).mix
    assert mix.to_dict() == pytest.approx({"web": 0.2, "code": 0.5, "books": 0.3, "news": 0.0})


def test_a_removal_trains_no_proxy_and_keeps_ratios_under_the_caps(updated, monkeypatch):
    left = {"code": 30_000, "books": 10_000}
    project = updated(("code", "books"), left, removed=("web",))
    plan = planned(project, monkeypatch)
    assert "mix-second" not in plan.swarms
    reused = next(mix for mix in plan.studies["mix-second"].fixed if mix.name == "proposed")
    mix = fixed_mix(reused, plan.updates.sequence, 4.0, 1e5).mix
    assert mix.to_dict() == pytest.approx({"code": 0.625, "books": 0.375})
    tight = fixed_mix(reused, plan.updates.sequence, 2.5, 1e5)
    assert tight.mix["books"] == pytest.approx(0.25), "2.5 times 10,000 tokens of 100,000"


def test_a_split_spreads_the_mix_before_by_size(updated, monkeypatch):
    tokens = {"news": 45_000, "blogs": 15_000, "code": 30_000, "books": 10_000}
    project = updated(("code", "books"), tokens, split={"web": ("news", "blogs")})
    plan = planned(project, monkeypatch)
    kept = next(mix for mix in plan.studies["mix-second"].fixed if mix.name == "kept")
    mix = fixed_mix(kept, plan.updates.sequence, 4.0, 1e5).mix
    assert mix["news"] == pytest.approx(0.15) and mix["blogs"] == pytest.approx(0.05)


def test_recomputing_everything_freezes_nothing(updated, monkeypatch):
    project = updated((), {**TOKENS, "news": 20_000}, added=("news",))
    assert planned(project, monkeypatch).swarms["mix-second"].size == 6 * (4 + 1)


def test_swarms_are_drawn_around_shares_that_let_small_domains_be_tried(project, monkeypatch):
    prior = planned(project, monkeypatch).updates.sequence.prior("initial")
    roots = np.sqrt(list(TOKENS.values()))
    assert prior.weights == pytest.approx(roots / roots.sum(), abs=1e-3)
    natural = DomainSet.from_token_counts(TOKENS).natural()
    assert prior["books"] > natural["books"]
    assert isinstance(prior, Mix)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("method: olmix_ensemble", "method: magic", "no method 'magic', expected one of"),
        ("name: initial", "name: other", "stage 'other', but config/updates/mine.yaml ends with"),
        ("requested_tokens: 100000", "requested_tokens: 100000000", "caps k·N/R sum to"),
        ("frozen: []", "frozen: [web]", "frozen domains, but no mix says their ratios"),
    ],
)
def test_mistakes_in_an_edited_scale_are_one_line(project, monkeypatch, old, new, message):
    text = project.scale_file.read_text()
    assert old in text
    project.scale_file.write_text(text.replace(old, new))
    with pytest.raises(OlmixError, match=message) as refused:
        planned(project, monkeypatch)
    assert "\n" not in str(refused.value)


def test_what_a_person_edited_survives_an_update(updated, project):
    text = project.scale_file.read_text().replace("kl: 0.05", "kl: 0.2")
    project.scale_file.write_text(text)
    updated(("web", "code", "books"), {**TOKENS, "news": 20_000}, added=("news",))
    assert scale_of(project)["kl"] == 0.2
    assert scale_of(project)["stage"]["name"] == "second"
