from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from olmix.corpus.sources import TextSource
from olmix.questions.catalogue import plan_study
from olmix.study.public_data import PublicData, data_plan, lacking_access, lacking_files
from olmix.study.scale import Scale, load_scale

REPOSITORY = Path(__file__).resolve().parents[2]
SCALES = REPOSITORY / "config" / "scales"


@pytest.fixture
def paper() -> PublicData:
    return PublicData.open(load_scale(SCALES, "paper"), REPOSITORY)


def test_every_domain_of_the_paper_has_a_source(paper):
    plan = plan_study(load_scale(SCALES, "paper"), REPOSITORY)
    stages = plan.updates.sequence.stages()
    names = {domain.name for stage in stages for domain in stage.domains if domain.name != "pdf"}
    fed = [domain for source in paper.sources.values() for domain in source.domains]
    assert names | {"pdf@1"} == set(fed), "the revision's former version is made, too"
    assert len(fed) == len(set(fed))


def test_what_cannot_be_had_is_left_out_by_name():
    plan = plan_study(load_scale(SCALES, "paper"), REPOSITORY)
    planned = plan.reads["operators"].planned
    assert list(planned["operators"]) == ["add", "remove", "partition"]
    assert planned["left_out"]["revise"].startswith("no text of stackv2 (bigcode/the-stack-v2 is")


def test_a_source_that_reads_anothers_files_is_not_fetched_and_dealt_alike(paper):
    assert "pdf-before" not in paper.fetched
    assert paper.shards("pdf-before") == paper.shards("pdf-topics")
    assert paper.downloaded("pdf-before", 3) == ["results/paper/download_source/pdf-topics/3.json"]
    assert len(paper.downloads) == sum(paper.shards(name) for name in paper.fetched)


def test_the_data_plan_says_sizes_licences_access_and_what_is_here(paper, tmp_path):
    text = data_plan(paper)
    assert "dclm              about 340 GB  WebOrganizer/Corpus-200B" in text
    assert "licence odc-by; access open" in text
    assert "left out  bigcode/the-stack-v2 is gated" in text
    assert "of these at most" not in text
    sampled = replace(paper, settings={**paper.settings, "most_files": 3})
    assert "\n  of these at most 3 files of each domain" in data_plan(sampled)
    content = load_scale(SCALES, "paper").content
    sources = {"mine": {"paths": ["/somewhere/*.jsonl"]}}
    (tmp_path / "corpora.yaml").write_text(yaml.safe_dump({"sources": sources}))
    settings = {**content["data"]["public"], "sources": "corpora.yaml"}
    own = Scale("own", {**content, "data": {"public": settings}})
    assert "mine         local  its 'paths' in corpora.yaml" in data_plan(
        PublicData.open(own, tmp_path)
    )


def test_a_rehearsal_spreads_a_source_over_fewer_jobs():
    rehearsal = PublicData.open(load_scale(SCALES, "rehearsal"), REPOSITORY)
    assert rehearsal.made_here
    assert {rehearsal.shards(name) for name in rehearsal.sources} == {1}
    assert "nothing is downloaded" in data_plan(rehearsal)


def test_tokens_of_files_that_two_sources_read_are_counted_twice(paper):
    tokens = sum(source.tokens or 0 for source in paper.sources.values())
    pdf = paper.sources["pdf-topics"].tokens
    total = 1.7 * tokens + 4 * (tokens + pdf)
    assert f"with tokens about {total / 1e12:.1f} TB in all" in data_plan(paper)


def test_files_that_are_named_but_not_there_are_told_where_a_job_needs_them(paper, tmp_path):
    own = TextSource("wikipedia", {"wikipedia": (f"{tmp_path}/*.jsonl",)})
    here = {
        "hub": f"{tmp_path}/hub",
        "wheel": f"{tmp_path}/a.whl",
        "tokenizer": {"path": "no.json"},
    }
    data = replace(
        paper, settings={**paper.settings, **here}, every={**paper.every, "wikipedia": own}
    )
    assert lacking_files(data, [], []) == []
    steps = ["list_source", "fetch_tokenizer", "build_suite", "tokenize_source"]
    hub, tokenizer, wheel, texts = lacking_files(data, steps, ["wikipedia", "dclm"])
    assert hub.endswith("hub: no such folder, expected a mirror of the hub")
    assert tokenizer == "tokenizer no.json: no such file"
    assert "a.whl: no such file" in wheel
    assert texts.startswith("config/corpora.yaml, source 'wikipedia': 'wikipedia': no file matches")
    assert lacking_files(paper, steps, ["wikipedia"]) == []


def test_a_gated_source_wants_a_token_before_the_first_job(paper):
    gated = replace(paper.every["dclm"], access="gated")
    data = replace(paper, every={**paper.every, "dclm": gated})
    (said,) = lacking_access(data, ["arxiv", "dclm", "dclm"], None)
    assert "source 'dclm': access to WebOrganizer/Corpus-200B is gated" in said
    assert "HF_TOKEN" in said
    assert lacking_access(data, ["arxiv"], None) == lacking_access(data, ["dclm"], "hf_x") == []
    mirror = replace(data, settings={**data.settings, "hub": "/mirror"})
    assert lacking_access(mirror, ["dclm"], None) == []
