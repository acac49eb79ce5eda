"""Single updates at every scale: what they train, what they share, what is refused."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from olmix.errors import OlmixError
from olmix.questions.catalogue import plan_study
from olmix.study.jobs import Jobs
from olmix.study.plan import Plan
from olmix.study.scale import load_scale
from olmix.updates.planning import swarm_size
from olmix.updates.sequence import INITIAL
from olmix.updates.strategies import CONSTRUCTED

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"
SCALES = ("paper", "tiny", "smoke")


def planned(name: str, corpora: Path | None = None) -> Plan:
    scale = load_scale(CONFIG / "scales", name)
    if "public" in scale["data"] and corpora is not None:
        scale["data"]["public"]["sources"] = str(corpora)
    return plan_study(scale, REPOSITORY)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory) -> Path:
    """The paper's corpora of somebody who has StackV2: no operator is left out."""
    content = yaml.safe_load((CONFIG / "corpora.yaml").read_text())
    content["sources"]["stackv2"]["paths"] = ["/mine/*.jsonl"]
    path = tmp_path_factory.mktemp("corpora") / "corpora.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module", params=SCALES)
def every(request, corpora):
    return planned(request.param, corpora)


def test_each_kind_of_update_once_and_two_additions(every):
    operators, theory = (every.reads[name].planned for name in ("operators", "theory"))
    assert {operator: told["name"] for operator, told in operators["operators"].items()} == {
        "add": "add_code", "remove": "remove_code", "partition": "partition_code",
        "revise": "revise_code",
    }  # fmt: skip
    assert theory["additions"] == ["add_code", "add_pdf"]
    assert theory["coupled"] == "add_code"
    assert set(every.single_updates) == {
        "add_code", "remove_code", "partition_code", "revise_code", "add_pdf",
    }  # fmt: skip


def test_swarm_sizes_follow_the_papers_rule(corpora):
    plan = planned("paper", corpora)
    updates = plan.single_updates
    sizes = {name: [len(s.domains) for s in u.sequence.stages()] for name, u in updates.items()}
    assert sizes == {
        "add_code": [24, 39], "remove_code": [39, 24], "partition_code": [25, 39],
        "revise_code": [25, 25], "add_pdf": [24, 45],
    }  # fmt: skip
    # Full mixture reuse recomputes 16, 16, 2 and 22 weights; partial reuse of one domain more, 17.
    seeds = 3
    assert plan.swarms["add_code-updated"].size == seeds * (2 * 64 + 64)
    assert plan.swarms["partition_code-updated"].size == seeds * 64
    assert plan.swarms["revise_code-updated"].size == seeds * 8
    assert plan.swarms["add_pdf-updated"].size == seeds * 2 * 64
    assert "remove_code-updated" not in plan.swarms
    assert plan.swarms["pool-add_code-updated"].size == seeds * 128


def test_equal_domain_sets_share_a_pool(every):
    plan, updates = every, every.single_updates
    pools = {(name, stage): u.pools[stage] for name, u in updates.items() for stage in u.stages}
    web = {pools["add_code", INITIAL], pools["add_pdf", INITIAL], pools["remove_code", "updated"]}
    assert web == {"pool-initial"}, "that of the main study"
    both = {pools["add_code", "updated"], pools["partition_code", "updated"],
            pools["remove_code", INITIAL]}  # fmt: skip
    assert both == {"pool-add_code-updated"}
    assert pools["partition_code", INITIAL] == pools["revise_code", "updated"]
    assert len(set(pools.values())) == 5
    for (name, stage), pool in pools.items():
        domains = {s.name: s.domains for s in updates[name].sequence.stages()}[stage]
        assert plan.swarms[pool].size >= swarm_size(len(domains), 3)
    data_seeds = [plan.swarms[pool].seed for pool in set(pools.values())]
    assert len(set(data_seeds)) == len(data_seeds)


def test_swarms_know_their_updates_file(every):
    jobs = Jobs(every)
    for update in every.single_updates.values():
        group = update.groups[update.name]
        for swarm in (group.at(update.last), group.target):
            if swarm in every.swarms:
                assert jobs.swarm(swarm).updates is update
        assert jobs.stage(group.at(update.last)).updates is update
        for pool in update.pools.values():
            found = jobs.swarm(pool)
            assert found.space.stage in found.updates.stages
    assert jobs.swarm("pool-initial").updates is every.updates


def test_targets_are_all_mixes_that_are_compared(every):
    plan, updates = every, every.single_updates
    seeds = plan.scale["seeds"]
    groups = {name: update.groups[name] for name, update in updates.items()}
    counts = {name: plan.swarms[group.target].size for name, group in groups.items()}
    # (full, full reuse) x (tight, relaxed), three constructed, partial; natural once.
    assert counts == {
        "add_code": 1 + 8 * seeds, "remove_code": 1 + 2 * seeds, "partition_code": 1 + 2 * seeds,
        "revise_code": 1 + 2 * seeds, "add_pdf": 7 * seeds,
    }  # fmt: skip
    constructed = [c for c in groups["add_pdf"].chains if c.follows in CONSTRUCTED]
    assert len(constructed) == 3 * seeds
    assert all(updates["add_pdf"].runs(chain, "updated") == 0 for chain in constructed)


def test_tiny_stays_small():
    """Runs beside those of the main study; equal mixes, which are trained once, counted twice."""
    plan = planned("tiny")
    swarms = plan.needed_swarms("operators") | plan.needed_swarms("theory")
    swarms -= {"pool-initial"}
    targets = [plan.swarms[s].size for s in swarms if plan.swarms[s].model == "target"]
    proxies = [plan.swarms[s].size for s in swarms if plan.swarms[s].model != "target"]
    assert sum(proxies) <= 504
    assert sum(targets) <= 70


@pytest.fixture
def refused(tmp_path):
    """Load one update with a change to its file or its role, and return the complaint."""
    scale = load_scale(CONFIG / "scales", "smoke")

    def load(change=lambda content: None, file="add_code", **roles):
        content = yaml.safe_load(
            (REPOSITORY / "config/updates/single/smoke" / f"{file}.yaml").read_text()
        )
        content["domains"] = str(CONFIG / "domains" / "tiny.yaml")
        change(content)
        if not (tmp_path / "config").exists():
            shutil.copytree(CONFIG, tmp_path / "config")
        (tmp_path / "one.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        single = {"folder": ".", "operators": {}, "theory": [], "coupling": "one"} | roles
        changed = replace(scale, content=scale.content | {"single_updates": single})
        with pytest.raises(OlmixError) as error:
            plan_study(changed, tmp_path)
        return str(error.value)

    return load


def test_what_the_figures_could_not_be_made_of_is_refused(refused):
    assert "no domains under recompute" in refused(lambda c: c["updates"][0].pop("recompute"))
    more = {"name": "more", "remove": ["code:java"]}
    assert "2 updates, expected one" in refused(lambda c: c["updates"].append(more))
    assert "affects 'stackv2', the theory is for additions" in refused(
        file="revise_code", theory=["one"]
    )
    assert "reuse_within, expected none" in refused(lambda c: c.update(reuse_within=["web"]))
    assert "'main' is a group of the main study" in refused(coupling="main")
    assert "one.yaml" in refused(lambda c: c["updates"][0].update(add=["nothing"]))


def test_a_file_that_is_not_there_is_named(refused):
    assert "absent.yaml" in refused(coupling="absent")


def test_caps_that_cannot_be_met_are_refused_with_the_update(refused):
    def shrink(content):
        content["initial"], content["updates"] = (
            ["code:shell", "code:java"],
            [{"name": "updated", "add": ["code:python"], "recompute": ["code:java"]}],
        )

    message = refused(shrink)
    assert "one.yaml" in message
    assert "requested_tokens relaxed" in message
