"""Sources: which files, and which domain each document belongs to."""

import glob
from pathlib import Path

import pytest

from olmix.config_files import read_config
from olmix.corpus.sources import find_files, path_matches, read_sources, source_from_patterns
from olmix.errors import OlmixError


def read(tmp_path, text: str, names=None):
    path = tmp_path / "corpora.yaml"
    path.write_text(text)
    return read_sources(path, names)


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_find_files(tmp_path):
    touch(*(tmp_path / name for name in ("b.txt", "a.txt", "sub/c.jsonl.gz", "note.md")))
    patterns = [f"{tmp_path}/*.txt", f"{tmp_path}/a.txt", f"{tmp_path}/**/*.gz"]
    names = [path.name for path in find_files(patterns, "d")]
    assert names == ["a.txt", "b.txt", "c.jsonl.gz"]


def test_missing_file_and_empty_glob(tmp_path):
    with pytest.raises(OlmixError, match=r"gone.txt: no such file \(named by 'd'\)"):
        find_files([f"{tmp_path}/gone.txt"], "d")
    with pytest.raises(OlmixError, match=r"'d': no file matches .*\*.txt"):
        find_files([f"{tmp_path}/*.txt"], "d")
    touch(tmp_path / "a.csv")
    with pytest.raises(OlmixError, match=r"a.csv: unknown kind of text file"):
        find_files([f"{tmp_path}/a.csv"], "d")


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b.txt", "a/*.txt", True),
        ("a/b/c.txt", "a/*.txt", False),
        ("a/b/c.txt", "a/**/*.txt", True),
        ("a/c.txt", "a/**/*.txt", True),
        ("a/b/c/d.txt", "**/d.txt", True),
        ("a/x1.txt", "a/x[12].txt", True),
        ("a/x3.txt", "a/x[12].txt", False),
        ("a/bb.txt", "a/?.txt", False),
        ("a", "a/*", False),
    ],
)
def test_globs_inside_a_dataset_follow_local_rules(tmp_path, path, pattern, expected):
    assert path_matches(path, pattern) is expected
    touch(tmp_path / path)
    found = {p for p in tmp_path.rglob("*") if p.is_file()}
    local = {Path(p) for p in glob.glob(f"{tmp_path}/{pattern}", recursive=True)}  # noqa: PTH207
    assert bool(found & local) is expected


def test_command_line_source(tmp_path):
    touch(tmp_path / "a.txt", tmp_path / "b.txt")
    source = source_from_patterns({"x": [f"{tmp_path}/a.txt"], "y": [f"{tmp_path}/b.*"]})
    assert source.domains == ["x", "y"]
    assert source.files() == {"x": [tmp_path / "a.txt"], "y": [tmp_path / "b.txt"]}


def test_the_three_kinds(tmp_path):
    touch(tmp_path / "p/1.jsonl", tmp_path / "c/1.txt", tmp_path / "go/1.txt")
    papers, code, web = read(
        tmp_path,
        f"""
sources:
  papers: {{paths: ["{tmp_path}/p/*.jsonl"]}}
  code:
    paths:
      code:C: ["{tmp_path}/c/*.txt"]
      code:Go: "{tmp_path}/go/*.txt"
  web:
    paths: ["{tmp_path}/p/*.jsonl"]
    column: metadata.topic
    text_field: body
    domains: {{web:games: games, web:news: [politics, world]}}
""",
    )
    assert papers.domains == ["papers"]
    assert papers.files() == {"papers": [tmp_path / "p/1.jsonl"]}
    assert code.files() == {"code:C": [tmp_path / "c/1.txt"], "code:Go": [tmp_path / "go/1.txt"]}
    assert web.domains == ["web:games", "web:news"]
    assert web.routes == {"games": "web:games", "politics": "web:news", "world": "web:news"}
    assert web.files() == {"": [tmp_path / "p/1.jsonl"]}
    assert (web.column, web.text_field) == ("metadata.topic", "body")


DATASET = """
sources:
  one:
    dataset: some/data
    domains: {a: [x/*.jsonl], b: [y/*.jsonl]}
  two:
    dataset: some/labelled
    files: [documents/*.jsonl.zst]
    labels: ../topics/{stem}__choice.npy
    domains: {t:0: 0, t:1: 1}
  three: {unavailable: nobody published it}
"""


def test_datasets_are_read_from_the_downloads(tmp_path):
    (source,) = read(tmp_path, DATASET, ["one"])
    touch(tmp_path / "dl/some/data/x/1.jsonl", tmp_path / "dl/some/data/y/1.jsonl")
    assert source.files(tmp_path / "dl")["b"] == [tmp_path / "dl/some/data/y/1.jsonl"]
    with pytest.raises(OlmixError, match=r"source 'one' has no paths.*--downloads"):
        source.files()


def test_labels_beside_documents(tmp_path):
    (source,) = read(tmp_path, DATASET, ["two"])
    documents = Path("/d/documents/shard_0_processed.jsonl.zst")
    expected = Path("/d/documents/../topics/shard_0_processed__choice.npy")
    assert source.labels_of(documents) == expected


def test_paths_override_what_cannot_be_had(tmp_path):
    (source,) = read(tmp_path, DATASET, ["three"])
    with pytest.raises(OlmixError, match=r"no public copy to read \(nobody published it\)"):
        source.files(tmp_path)
    touch(tmp_path / "mine.txt")
    text = DATASET.replace("three: {", f'three: {{paths: ["{tmp_path}/mine.txt"], ')
    (source,) = read(tmp_path, text, ["three"])
    assert source.files() == {"three": [tmp_path / "mine.txt"]}


def test_a_list_of_paths_keeps_the_name_of_the_only_domain(tmp_path):
    touch(tmp_path / "mine.txt")
    path = f'paths: ["{tmp_path}/mine.txt"]'
    (source,) = read(tmp_path, f"sources: {{pdf-old: {{{path}, domains: {{pdf: [x]}}}}}}")
    assert source.domains == ["pdf"]
    with pytest.raises(OlmixError, match="expected a mapping of domains to globs"):
        read(tmp_path, f"sources: {{s: {{{path}, domains: {{a: [x], b: [y]}}}}}}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sources: {}", "'sources' is empty"),
        ("other: 1", "unknown key 'other'"),
        ("sources: {a: 3}", "source 'a': holds int"),
        ("sources: {a: {}}", "expected 'paths' or a 'dataset'"),
        ("sources: {a: {paths: []}}", "names no files"),
        ("sources: {a: {paths: 3}}", "files are int"),
        ("sources: {a: {paths: [3]}}", "is not a list of file names"),
        ("sources: {a: {path: [x]}}", "unknown key 'path'"),
        ("sources: {a: {paths: [x], column: c}}", "'domains' is missing"),
        ("sources: {a: {paths: [x], column: c, labels: l}}", "both 'column' and 'labels'"),
        ("sources: {a: {paths: [x], column: c, domains: {p: v, q: v}}}", "leads to two domains"),
        ("sources: {a: {paths: {.hidden: [x]}}}", "domain name '.hidden'"),
        ("sources: {a: {paths: {p: [x]}, column: c, domains: {p: v}}}", "expected a list of globs"),
        ("sources: {a: {paths: [x]}, a: {paths: [y]}}", "key 'a' appears twice"),
    ],
)
def test_bad_entries(tmp_path, text, message):
    with pytest.raises(OlmixError, match=message) as caught:
        read(tmp_path, text)
    assert "corpora.yaml" in str(caught.value) or "domain name" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_source(tmp_path):
    with pytest.raises(OlmixError, match="no source 'four', it has one, two, three"):
        read(tmp_path, DATASET, ["four"])


# The file that ships with the repository

CORPORA = Path(__file__).parents[2] / "config" / "corpora.yaml"
DOMAINS = CORPORA.parent / "domains" / "paper.yaml"


def test_the_papers_corpora_cover_the_papers_domains():
    sources = {source.name: source for source in read_sources(CORPORA)}
    offered = {domain for source in sources.values() for domain in source.domains}
    paper = set(read_config(DOMAINS)["domains"])
    assert len(paper) >= 64
    assert paper - offered == set()
    assert offered - paper <= {"pdf@1", "stackv2"}
    assert len(sources["dclm"].domains) == 24
    assert sorted(sources["dclm"].routes) == list(range(24))
    assert len(sources["stack-edu"].domains) == 15
    assert len(sources["pdf-topics"].domains) == 21
    assert sources["pdf-before"].domains == ["pdf@1"]


def test_the_papers_corpora_do_not_overlap_by_accident():
    """`stack_edu-C` must not take C# and C++, nor software the folder of software development."""
    sources = {source.name: source for source in read_sources(CORPORA)}
    for name, folders in {
        "stack-edu": [f"data/stack_edu-{d.split(':')[1]}" for d in sources["stack-edu"].domains],
        "pdf-topics": [
            "data/olmocr_science_pdfs-software",
            "data/olmocr_science_pdfs-software_development",
            "data/olmocr_science_pdfs-science_math_and_technology-part1",
            "data/olmocr_science_pdfs-science_math_and_technology-part2",
        ],
    }.items():
        for folder in folders:
            path = f"{folder}/shard_00000000.jsonl.zst"
            takers = [
                domain
                for domain, patterns in sources[name].patterns.items()
                if any(path_matches(path, pattern) for pattern in patterns)
            ]
            assert len(takers) == 1, (folder, takers)


def test_no_entry_claims_more_than_was_checked():
    entries = read_config(CORPORA)["sources"]
    assert all(entry["verified"] is False for entry in entries.values())
    with pytest.raises(OlmixError, match=r"'stackv2' has no public copy .* 'paths'"):
        read_sources(CORPORA, ["stackv2"])[0].files()
