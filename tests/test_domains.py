import csv
from pathlib import Path

import numpy as np
import pytest

from olmix.domains import Domain, DomainSet, check_caps
from olmix.errors import OlmixError

ROOT = Path(__file__).resolve().parents[1]


def small():
    return DomainSet.from_token_counts({"web:news": 600, "web:blogs": 300, "code": 100})


def test_names_say_source_and_topic():
    domains = small()
    assert domains.names == ("web:news", "web:blogs", "code")
    assert domains.sources == ("web", "code")
    assert [d.name for d in domains.of_source("web")] == ["web:news", "web:blogs"]
    assert domains["web:news"] == Domain("web:news", "web", "news", 600)
    assert domains["code"].topic is None
    assert domains.tokens.tolist() == [600, 300, 100]
    assert "code" in domains
    assert "web" not in domains


def test_natural_and_caps_by_hand():
    domains = small()
    assert domains.natural().to_dict() == {"web:news": 0.6, "web:blogs": 0.3, "code": 0.1}
    assert domains.caps(4, 2000).tolist() == [1.2, 0.6, 0.2]
    assert np.isinf(domains.caps(np.inf, 2000)).all()


@pytest.mark.parametrize(("k", "R"), [(0, 1), (-4, 1), (4, 0), (4, -1e12), (float("nan"), 1)])
def test_caps_of_nonsense_are_refused(k, R):
    with pytest.raises(OlmixError, match="expected more than 0"):
        small().caps(k, R)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (0, "'x': tokens is 0, expected more than 0"),
        (-5, "'x': tokens is -5, expected more than 0"),
        (1.5, "'x': tokens is 1.5, expected a whole number"),
        ("1e9", "'x': tokens is '1e9', expected a whole number"),
        (None, "'x': tokens is None"),
        (True, "'x': tokens is True"),
        (float("nan"), "'x': tokens is nan"),
        (float("inf"), "'x': tokens is inf"),
    ],
)
def test_bad_token_counts_are_refused(tokens, message):
    with pytest.raises(OlmixError, match=message):
        DomainSet.from_token_counts({"ok": 1, "x": tokens})


def test_whole_floats_and_numpy_integers_are_token_counts():
    domains = DomainSet.from_token_counts({"a": 1e9, "b": np.int64(7)})
    assert [d.tokens for d in domains] == [10**9, 7]
    assert all(type(d.tokens) is int for d in domains)


@pytest.mark.parametrize("name", ["", " ", 2024, None, "run", "name", "index"])
def test_bad_names_are_refused(name):
    with pytest.raises(OlmixError, match="domain name"):
        DomainSet.from_token_counts({name: 5})


def test_duplicates_empty_sets_and_unknown_names():
    twice = (Domain.named("a", 1), Domain.named("a", 2))
    with pytest.raises(OlmixError, match="'a' appears more than once"):
        DomainSet(twice)
    with pytest.raises(OlmixError, match="no domains"):
        DomainSet(())
    with pytest.raises(OlmixError, match="no domain 'books' among its 3"):
        small()["books"]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_files_round_trip(tmp_path, suffix):
    domains = DomainSet((*small(), Domain("papers", "science", "physics", 50, version="2")))
    path = tmp_path / f"domains{suffix}"
    domains.save(path)
    assert DomainSet.load(path) == domains


def test_the_authors_meta_file_is_a_domain_file(tmp_path):
    path = tmp_path / "meta.json"
    path.write_text('{"relative_sizes": {"a": 1.0}, "token_counts": {"a": 10, "b": 5}}')
    assert DomainSet.load(path) == DomainSet.from_token_counts({"a": 10, "b": 5})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("domains: {a: 1, a: 2}", "key 'a' appears twice"),
        ("domains: {a: 0}", "domain 'a': tokens is 0"),
        ("domains: {2024: 5}", "domain name 2024"),
        ("domains: [a, b]", "expected a mapping"),
        ("domains: {a: {tokens: 1, size: 2}}", "domain 'a': unknown key 'size'"),
        ("domains: {a: {source: web}}", "domain 'a': key 'tokens' is missing"),
        ("tokens: {a: 1}", "unknown key 'tokens'"),
        ("description: nothing", "expected one of the keys 'domains' and 'token_counts'"),
    ],
)
def test_bad_domain_files_name_file_and_value(tmp_path, text, message):
    path = tmp_path / "domains.yaml"
    path.write_text(text)
    with pytest.raises(OlmixError) as error:
        DomainSet.load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}: ")


def test_paper_domains():
    domains = DomainSet.load(ROOT / "config/domains/paper.yaml")
    assert len(domains) == 65
    sizes = {source: len(domains.of_source(source)) for source in domains.sources}
    assert sizes == {
        "dclm": 24,
        "algebraicstack": 1,
        "arxiv": 1,
        "finemath-3plus": 1,
        "pes2o": 1,
        "wikipedia": 1,
        "stack-edu": 15,
        "pdf": 21,
    }
    # The last rows of three blocks of the paper's table.
    assert domains["dclm:travel_and_tourism"].tokens == 57_642_815_530
    assert domains["stack-edu:TypeScript"].tokens == 2_495_753_789
    assert domains["pdf:travel"].tokens == 2_102_425_717


def test_paper_natural_distribution_to_its_six_decimals():
    domains = DomainSet.load(ROOT / "config/domains/paper.yaml")
    final = domains.subset(name for name in domains.names if name != "algebraicstack")
    with (ROOT / "config" / "published" / "proposed_mixes.csv").open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        published = {row["domain"]: float(row["natural"]) for row in rows}
    natural = final.natural().to_dict()
    assert set(natural) == set(published)
    assert max(abs(natural[name] - published[name]) for name in natural) < 0.51e-6


def test_infeasible_caps_name_their_sum_and_the_largest_domains():
    names, caps = ("a", "b", "c", "d"), np.array([0.1, 0.4, 0.2, 0.05])
    with pytest.raises(OlmixError, match=r"sum to 0\.75.*largest: b 0\.4, c 0\.2, a 0\.1"):
        check_caps(names, caps)
    with pytest.raises(OlmixError, match=r"request at most 7\.5e\+11 tokens"):
        check_caps(names, caps, requested=1e12)
    check_caps(names, caps / 0.75)
    check_caps(("a", "b"), np.array([np.inf, 0.0]))
    with pytest.raises(OlmixError, match="the cap of 'b' is nan"):
        check_caps(("a", "b"), np.array([1.0, np.nan]))
    with pytest.raises(OlmixError, match="1 caps for 2 domains"):
        check_caps(("a", "b"), np.array([1.0]))
