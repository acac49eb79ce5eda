"""What a person is told of odd text, in one line each."""

import os
from pathlib import Path

from olmix.own_text.prepare import look
from olmix.own_text.project import Origin, Project
from olmix.own_text.table import notes


def test_odd_names_and_files_are_named_in_one_line_each(tmp_path: Path):
    text = tmp_path / "text"
    for folder in ("пайтон", "web", "tiny"):
        (text / folder).mkdir(parents=True)
    (text / "plain.v1.txt").write_text("a file is a domain too " * 500)
    (text / "пайтон" / "a.txt").write_text("naïve " * 2000, encoding="cp1252")
    (text / "web" / "a\nb.bin").write_bytes(b"\0\1\2\3")
    (text / "web" / os.fsdecode(b"caf\xe9.txt")).write_text("the web says " * 1000)
    (text / "tiny" / "a.txt").write_text("x" * 200)
    origin = Origin(folder=str(text), suite="any")
    found = look(Project("mine", tmp_path), origin, processes=1)
    said = notes(found, origin)
    odd = next(name for name in found if name.startswith("domain-"))
    assert f"{odd}: stands for пайтон" in said
    assert f"{odd}: 1 file not UTF-8, read as UTF-16/32 or Windows-1252" in said
    assert f"web: 1 not text, left out, such as {text}/web/a\\nb.bin" in said
    assert "tiny: left out of the mix: only 200 bytes of text, 10,000 are expected" in said
    assert len(said) == 4 and not any("\n" in line for line in said)


def test_copies_across_domains_are_named_with_their_share(tmp_path: Path):
    text = tmp_path / "text"
    for folder, numbers in (("one", range(10)), ("two", range(5, 25))):
        (text / folder).mkdir(parents=True)
        for number in numbers:
            (text / folder / f"{number}.txt").write_text(f"document {number} " * 200)
    origin = Origin(folder=str(text), target="any")
    found = look(Project("mine", tmp_path), origin, processes=1)
    assert notes(found, origin) == [
        "one and two share documents, or nearly: 50 % of the first, 25 % of the second"
    ]


def test_a_domain_of_which_no_task_can_be_made_is_named(tmp_path: Path):
    text = tmp_path / "text"
    for folder, documents in (("few", 9), ("alike", 30), ("enough", 30)):
        (text / folder).mkdir(parents=True)
        for number in range(documents):
            words = [
                f"{place if folder == 'alike' else 1000 * number + place} " for place in range(500)
            ]
            (text / folder / f"{number}.txt").write_text("".join(words))
    origin = Origin(folder=str(text))
    said = notes(look(Project("mine", tmp_path), origin, processes=1), origin)
    without = [line.split(":")[0] for line in said if line.endswith("no task is made of it")]
    assert without == ["alike", "few"]
    assert "alike: 97 % of its documents are copies of another one of it, or nearly" in said
