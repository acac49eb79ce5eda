from pathlib import Path

import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.updates.operators import Add, Remove, Update
from olmix.updates.sequence import Step, UpdateSequence, load_updates

PAPER = Path(__file__).resolve().parents[2] / "config/updates/paper.yaml"

OWN = """
domains: {web: 900, code: 100, "science:physics": 30, "science:maths": 20}
initial: [web, code]
updates:
  - name: first
    add: science
    recompute: code
  - name: second
    partition: science
    revise: {code: 150}
  - name: third
    add: {forum: 40}
    remove: ["science:*"]
  - name: fourth
    partition: {web: {news: 500, blogs: 400}}
"""


def load(tmp_path, text):
    path = tmp_path / "updates.yaml"
    path.write_text(text, encoding="utf-8")
    return load_updates(path)


def test_paper_stages():
    stages = load_updates(PAPER).stages()
    assert [(stage.name, len(stage.domains)) for stage in stages] == [
        ("initial", 24),
        ("add_stack_edu", 39),
        ("add_more_sources", 45),
        ("revise_pdfs", 45),
        ("remove_algebraicstack", 44),
        ("partition_pdfs", 64),
    ]
    assert stages[0].update is None
    assert [d.version for s in stages for d in s.domains if d.name == "pdf"] == ["1", "2", "2"]
    pdf = stages[2].domains["pdf"]
    # The sum of the 21 topics of the paper's table.
    assert pdf.tokens == sum(d.tokens for d in stages[-1].domains.of_source("pdf"))
    assert pdf.tokens == 997_705_734_314


def test_paper_reuse_splits():
    sequence = load_updates(PAPER)
    first = sequence.partial_reuse("add_stack_edu")
    assert list(first.groups) == ["dclm"]
    assert len(first.groups["dclm"]) == 23
    assert "dclm:software_development" in first.recomputed
    second = sequence.partial_reuse("add_more_sources")
    assert {name: len(members) for name, members in second.groups.items()} == {
        "dclm": 24,
        "stack-edu": 15,
    }
    assert set(second.recomputed) == {
        "arxiv", "finemath-3plus", "pdf", "wikipedia", "algebraicstack", "pes2o"
    }  # fmt: skip
    assert sequence.full_reuse("revise_pdfs").recomputed == ("pdf",)
    assert len(sequence.full_reuse("revise_pdfs").groups["existing"]) == 44
    for stage in sequence.stages()[1:]:
        for split in (sequence.full_reuse(stage.name), sequence.partial_reuse(stage.name)):
            assert sorted(split.members) == sorted(stage.domains.names)


def test_a_file_of_ones_own(tmp_path):
    sequence = load(tmp_path, OWN)
    stages = {stage.name: stage.domains for stage in sequence.stages()}
    assert stages["first"].names == ("web", "code", "science")
    assert stages["first"]["science"].tokens == 50
    assert stages["second"].names == ("web", "code", "science:physics", "science:maths")
    assert stages["second"]["code"].tokens == 150
    assert stages["third"].names == ("web", "code", "forum")
    assert stages["fourth"].names == ("news", "blogs", "code", "forum")
    assert stages["fourth"]["news"].source == "web"
    assert sequence.partial_reuse("first").recomputed == ("code", "science")


def test_domains_may_be_another_file(tmp_path):
    DomainSet.from_token_counts({"web": 9, "code": 1}).save(tmp_path / "domains.json")
    text = "domains: domains.json\ninitial: [web]\nupdates: [{name: grow, add: [code]}]\n"
    assert load(tmp_path, text).stages()[-1].domains.names == ("web", "code")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("initial:", "start:", "unknown key 'start'"),
        ("recompute:", "recalculate:", "update 1: unknown key 'recalculate'"),
        ("  - name: first\n    add", "  - add", "update 1: key 'name' is missing"),
        ("name: second", "name: first", "stage name 'first' appears more than once"),
        ("add: science", "add: sience", "'sience' is neither a domain nor a source"),
        ("add: science", "add: web", "add: domain 'web' is already in the set"),
        ("recompute: code", "recompute: books", "update 'first': recompute: 'books' is not"),
        ('remove: ["science:*"]', "remove: [maths]", "update 'third': remove: domain 'maths'"),
        ('remove: ["science:*"]', 'remove: ["art:*"]', "no domain of the stage belongs to 'art:*'"),
        ("blogs: 400", "blogs: 300", "the 2 parts of 'web' hold 800 tokens, expected the 900"),
        ("partition: {web:", "partition: {net:", "update 'fourth': domain set: no domain 'net'"),
        ("{code: 150}", "{code: 0}", "update 'second': domain 'code': tokens is 0"),
        ("[web, code]", "[web, 2024]", "expected a list of names"),
        ("initial:", "reuse_within: [wbe]\ninitial:", "no stage has a source 'wbe'"),
        ('add: {forum: 40}\n    remove: ["science:*"]', "", "update 'third': changes nothing"),
    ],
)
def test_mistakes_in_a_file_name_the_file_the_update_and_the_value(tmp_path, old, new, message):
    assert old in OWN
    with pytest.raises(OlmixError) as error:
        load(tmp_path, OWN.replace(old, new))
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "updates.yaml"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("updates", ["", "{name: a}", "[add]"])
def test_updates_must_be_a_list_of_mappings(tmp_path, updates):
    with pytest.raises(OlmixError, match="expected a"):
        load(tmp_path, f"domains: {{a: 1}}\ninitial: a\nupdates: {updates}\n")


def test_domains_without_updates_are_a_sequence_of_one_stage(tmp_path):
    sequence = load(tmp_path, "domains: {a: 1}\ninitial: a\nupdates: []\n")
    assert [stage.name for stage in sequence.stages()] == ["initial"]


def test_a_sequence_made_in_code_is_checked_too():
    base = DomainSet.from_token_counts({"a": 1, "b": 2})
    step = Step("drop", Update((Remove(("c",)),)))
    with pytest.raises(OlmixError, match="update 'drop': remove: domain 'c'"):
        UpdateSequence(base, (step,))
    new = DomainSet.from_token_counts({"c": 3}).domains
    sequence = UpdateSequence(base, (Step("grow", Update((Add(new),))), step))
    assert [len(domains) for _, _, domains in sequence.stages()] == [2, 3, 2]
    with pytest.raises(OlmixError, match="no update 'shrink', expected one of grow, drop"):
        sequence.full_reuse("shrink")


def test_the_initial_stage_may_have_a_prior(tmp_path):
    text = OWN.replace("updates:", "initial_prior: {web: 3, code: 1}\nupdates:")
    assert load(tmp_path, text).prior("initial").to_dict() == {"web": 0.75, "code": 0.25}
    assert load(tmp_path, OWN).prior("initial").to_dict() == {"web": 0.9, "code": 0.1}
    with pytest.raises(OlmixError, match="expected a share for each of web, code"):
        load(tmp_path, OWN.replace("updates:", "initial_prior: {web: 1}\nupdates:"))


def test_domains_may_come_from_several_places(tmp_path):
    (tmp_path / "more.yaml").write_text("domains: {web: 900, code: 100}", encoding="utf-8")
    text = OWN.replace("domains: {web: 900, code: 100,", "domains: [more.yaml, {")
    text = text.replace('"science:maths": 20}', '"science:maths": 20}]')
    assert load(tmp_path, text).stages() == load(tmp_path, OWN).stages()


SHARES = """
domains: {web:a: 60, web:b: 20, pdf: 15, code: 5}
initial: ["web:*", code]
updates:
  - name: grow
    add: [pdf]
    prior: {web: 0.5, code: 0.2, pdf: 0.3}
    reuse_prior: {pdf: 0.1}
"""


def shares(tmp_path, text=SHARES, **options):
    path = tmp_path / "updates.yaml"
    path.write_text(text)
    return load_updates(path, **options)


def test_reuse_may_have_other_shares_of_some_sources(tmp_path):
    sequence = shares(tmp_path)
    expected = {"web:a": 0.375, "web:b": 0.125, "code": 0.2, "pdf": 0.3}
    assert sequence.prior("grow").to_dict() == pytest.approx(expected)
    # The others keep their ratios: 5 to 2, web inside by its tokens.
    rest = 0.9 / 0.7
    reused = {name: share * rest for name, share in expected.items()} | {"pdf": 0.1}
    assert sequence.prior("grow", reuse=True).to_dict() == pytest.approx(reused)
    assert sequence.prior("initial", reuse=True) == sequence.prior("initial")


def test_shares_under_reuse_alone_leave_the_rest_natural(tmp_path):
    text = SHARES.replace("    prior: {web: 0.5, code: 0.2, pdf: 0.3}\n", "")
    found = shares(tmp_path, text).prior("grow", reuse=True).to_dict()
    assert found == pytest.approx(
        {"web:a": 0.9 * 60 / 85, "web:b": 0.9 * 20 / 85, "code": 0.9 * 5 / 85, "pdf": 0.1}
    )


def test_natural_priors_leave_out_what_the_file_states(tmp_path):
    sequence = shares(tmp_path, priors="natural")
    for stage in sequence.stages():
        for reuse in (False, True):
            assert sequence.prior(stage.name, reuse=reuse) == stage.domains.natural()


@pytest.mark.parametrize("given", ["{pdf: 1.0}", "{maths: 0.1}", "{pdf: -0.1}", "[pdf]"])
def test_shares_under_reuse_that_mean_nothing_are_refused(tmp_path, given):
    with pytest.raises(OlmixError, match=r"update 'grow': reuse_prior"):
        shares(tmp_path, SHARES.replace("{pdf: 0.1}", given))


def test_the_papers_shares_are_those_released():
    """Update 3: PDFs 0.02; update 5: PDFs 0.30 under reuse; 0.10 in the full recomputation."""
    sequence = load_updates(PAPER)

    def pdfs(stage, reuse):
        prior = sequence.prior(stage, reuse=reuse).to_dict()
        return sum(share for name, share in prior.items() if name.startswith("pdf"))

    assert pdfs("revise_pdfs", True) == pytest.approx(0.02)
    assert pdfs("partition_pdfs", True) == pytest.approx(0.30)
    assert pdfs("partition_pdfs", False) == pytest.approx(0.10, abs=0.001)
