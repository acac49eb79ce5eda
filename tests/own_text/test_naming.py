"""Domains of a folder, of patterns, and names that everything after can hold."""

from pathlib import Path

import pytest

from olmix.corpus.store import folder_name
from olmix.errors import OlmixError
from olmix.own_text.naming import (
    domain_files,
    domains_of_folder,
    domains_of_patterns,
    plain_name,
)


def test_plain_names_stay_and_odd_ones_become_plain_and_stay_different():
    assert plain_name("web-2024.v1:news") == "web-2024.v1:news"
    odd = ["a b", "a_b!", "日本語", "中文字", "Ünï cödé", "run", "..", "-x", "new\nline", ""]
    names = [plain_name(name) for name in odd]
    assert len(set(names)) == len(odd)
    assert all(plain_name(name) == name and folder_name(name) for name in names)
    assert plain_name("Ünï cödé").startswith("Uni_code-")


def test_a_folder_has_a_domain_per_sub_folder_or_file_and_hidden_ones_are_none(tmp_path: Path):
    for name in ("web", ".git", "code"):
        (tmp_path / name).mkdir()
    (tmp_path / "papers.jsonl.gz").touch()
    (tmp_path / ".DS_Store").touch()
    assert list(domains_of_folder(tmp_path)) == ["code", "papers", "web"]


def test_a_folder_that_is_missing_empty_or_ambiguous_is_refused_in_a_line(tmp_path: Path):
    with pytest.raises(OlmixError, match="no such folder"):
        domains_of_folder(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(OlmixError, match="is a file, expected a folder"):
        domains_of_folder(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OlmixError, match="is empty"):
        domains_of_folder(tmp_path / "empty")
    (tmp_path / "two").mkdir()
    for name in ("web.txt", "web.md"):
        (tmp_path / "two" / name).touch()
    with pytest.raises(OlmixError, match="both domain 'web': rename one"):
        domains_of_folder(tmp_path / "two")


def test_patterns_name_domains_and_may_be_repeated(tmp_path: Path, monkeypatch):
    tmp_path = tmp_path / "here [1]"
    (tmp_path / "deep").mkdir(parents=True)
    (tmp_path / "a.txt").touch()
    (tmp_path / "deep" / "b.md").touch()
    monkeypatch.chdir(tmp_path)
    given = domains_of_patterns(["web=*.txt", "web=**/*.md"])
    monkeypatch.chdir("/")  # the next command may be called from another folder
    assert [path.name for path in domain_files(given["web"])] == ["a.txt", "b.md"]
    for wrong in ("web", "=x", "web="):
        with pytest.raises(OlmixError, match="expected NAME=GLOB"):
            domains_of_patterns([wrong])
    with pytest.raises(OlmixError, match="letters, digits"):
        domains_of_patterns(["a b=x"])


def test_links_in_a_circle_are_followed_once_and_hidden_files_not_at_all(tmp_path: Path):
    (tmp_path / "web" / "inner").mkdir(parents=True)
    (tmp_path / "web" / "inner" / "again").symlink_to(tmp_path / "web")
    (tmp_path / "web" / "inner" / "text.txt").touch()
    (tmp_path / "web" / ".hidden").touch()
    (tmp_path / "web" / "inner" / "up").symlink_to(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "not this.txt").touch()
    (tmp_path / "linked").symlink_to(tmp_path / "web")
    assert [path.name for path in domain_files(tmp_path / "web")] == ["text.txt"]
    assert [path.name for path in domain_files(tmp_path / "linked")] == ["text.txt"]
