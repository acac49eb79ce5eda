"""`init` and `update`: what they refuse at once, and what they write."""

import shutil
from pathlib import Path

import pytest

from olmix.__main__ import main
from olmix.files import write_json
from olmix.own_text import project
from olmix.own_text.project import Project
from olmix.own_text.speed import Devices, Speed
from olmix.study.scale import load_scale


class FixedWatch:
    """Stands in for the measurement, which takes torch and some seconds."""

    def __init__(self, count: int | None = None) -> None:
        self.devices = Devices("cpu", count or 2)

    def __enter__(self) -> "FixedWatch":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def measure(self, shape: str, **_: Path) -> Speed:
        return Speed(40_000.0, 0.5)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch) -> Path:
    """A root for projects, and no measuring."""
    root = tmp_path / "clone"
    monkeypatch.setattr(project, "REPOSITORY", root)
    monkeypatch.setattr("olmix.commands.init.Stopwatch", FixedWatch)
    return root


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Two domains of 40 documents, with a name that needs help."""
    for name, word in (("web", "the web says "), ("code & more", "def code(): return ")):
        place = tmp_path / "text" / name
        place.mkdir(parents=True)
        for number in range(40):
            (place / f"{number}.txt").write_text(f"{number} {word}" * 40)
    return tmp_path / "text"


def refused(capsys, *arguments: str) -> str:
    assert main(list(arguments)) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ")
    return error


def test_init_writes_a_scale_and_its_updates(clone: Path, text: Path, capsys):
    assert main(["init", str(text), "--minutes", "5", "--tokens", "1e5", "--processes", "1"]) == 0
    said = capsys.readouterr().out
    scale = load_scale(clone / "config" / "scales", "mine")
    assert scale["requested_tokens"]["tight"] == 1e5
    assert scale["hardware"]["devices"] == 2
    assert scale["models"]["proxy"]["vocabulary"] == 320
    assert "next: snakemake mix --config scale=mine" in said
    assert "code_more-" in said, "odd names become plain ones"
    assert (clone / "data" / "mine" / "suites" / "initial" / "suite.json").is_file()


def test_init_is_refused_before_anything_is_read(clone: Path, text: Path, capsys):
    assert "expected a FOLDER, or --domain" in refused(capsys, "init")
    assert "expected a FOLDER, or --domain" in refused(capsys, "init", str(text), "--demo")
    assert "no such folder" in refused(capsys, "init", str(text / "nowhere"))
    assert "--minutes 0: expected more than 0" in refused(
        capsys, "init", str(text), "--minutes", "0"
    )
    assert "lower-case" in refused(capsys, "init", str(text), "--name", "Mine")
    assert "--domain web: no file matches" in refused(
        capsys, "init", "--domain", f"web={text}/*.no", "--domain", f"a={text}/web/*"
    )
    nowhere = str(text / "nowhere")
    for option, expected in (
        ("--tokenizer", "no such tokenizer file"),
        ("--target", "no such folder"),
        ("--suite", "not a task suite"),
    ):
        assert expected in refused(capsys, "init", str(text), option, nowhere)
    assert "expected 320 or more" in refused(capsys, "init", str(text), "--vocabulary", "9")
    assert not (clone / "data").exists()
    main(["init", str(text), "--minutes", "5", "--processes", "1"])
    assert "is there already" in refused(capsys, "init", str(text))


def test_update_needs_a_project_a_mix_and_a_change(clone: Path, text: Path, capsys):
    assert "expected a project that" in refused(capsys, "update", "mine")
    main(["init", str(text), "--minutes", "5", "--processes", "1"])
    assert "run `snakemake mix --config scale=mine`" in refused(capsys, "update", "mine")
    names = list(load_updates_domains(clone))
    mix = clone / "mix.json"
    write_json(mix, dict.fromkeys(names, 0.5))
    assert "nothing changed since stage 'initial'" in refused(
        capsys, "update", "mine", "--mix", str(mix), "--processes", "1"
    )
    write_json(mix, {"web": 1.0})
    assert "is over other domains" in refused(capsys, "update", "mine", "--mix", str(mix))


def test_update_says_what_changed_and_what_it_costs(clone: Path, text: Path, capsys):
    main(["init", str(text), "--minutes", "5", "--processes", "1"])
    names = list(load_updates_domains(clone))
    proposed = Project("mine").proposed("initial")
    write_json(proposed, dict.fromkeys(names, 0.5))
    shutil.copytree(text / "web", text / "news")
    for path in (text / "news").iterdir():
        path.write_text(path.read_text().replace("web", "news"))
    capsys.readouterr()
    assert main(["update", "mine", "--processes", "1"]) == 0
    said = capsys.readouterr().out
    assert "news: new" in said
    assert "full recomputation: 24 for 3 weights" in said
    assert "full mixture reuse: 18 for 2 weights, less than 1 min" in said
    assert "partial mixture reuse: 24 for 3 weights" in said
    assert "16 target runs to check the mix" in said
    assert "2 domains keep their ratios, 2 weights are recomputed" in said
    stage = load_scale(clone / "config" / "scales", "mine")["stage"]
    assert stage["name"] == "add_news" and stage["frozen"] == names
    # Not run yet, and the text changes again: the stage is written anew.
    shutil.rmtree(text / "news")
    (text / "web" / "more.txt").write_text("one document more " * 30)
    assert main(["update", "mine", "--processes", "1", "--recompute", names[0]]) == 0
    assert "stage 'add_news' has no mix yet: it is written anew" in capsys.readouterr().out
    stage = load_scale(clone / "config" / "scales", "mine")["stage"]
    assert (stage["name"], stage["frozen"]) == ("revise_web", [])


def test_an_update_that_is_undone_before_it_is_run_is_taken_back(clone: Path, text: Path, capsys):
    main(["init", str(text), "--minutes", "5", "--processes", "1"])
    scale, updates = Project("mine").scale_file, Project("mine").updates_file
    before = scale.read_text(), updates.read_text()
    write_json(Project("mine").proposed("initial"), dict.fromkeys(load_updates_domains(clone), 0.5))
    shutil.copytree(text / "web", text / "news")
    for path in (text / "news").iterdir():
        path.write_text(path.read_text().replace("web", "news"))
    assert "--recompute news: is recomputed anyway" in refused(
        capsys, "update", "mine", "--processes", "1", "--recompute", "news"
    )
    assert (scale.read_text(), updates.read_text()) == before, "nothing is written half"
    assert main(["update", "mine", "--processes", "1"]) == 0
    assert (scale.read_text(), updates.read_text()) != before
    shutil.rmtree(text / "news")
    assert main(["update", "mine", "--processes", "1"]) == 0
    assert "what was written of 'add_news' is taken back" in capsys.readouterr().out
    again = load_scale(scale.parent, "mine")
    assert again["stage"] == {"name": "initial", "previous": None, "frozen": []}
    assert updates.read_text() == before[1]


def test_another_tokenizer_asked_for_by_a_later_init_is_taken(clone: Path, text: Path):
    call = ["init", str(text), "--minutes", "5", "--processes", "1"]
    main(call)
    one = Project("mine")
    first, given = one.tokenizer.read_bytes(), clone / "given.json"
    given.write_bytes(first)
    one.scale_file.unlink()
    assert main([*call, "--vocabulary", "330"]) == 0
    assert load_scale(one.scale_file.parent, "mine")["models"]["proxy"]["vocabulary"] == 330
    one.scale_file.unlink()
    assert main([*call, "--tokenizer", str(given)]) == 0
    assert one.tokenizer.read_bytes() == first
    assert load_scale(one.scale_file.parent, "mine")["models"]["proxy"]["vocabulary"] == 320


def load_updates_domains(clone: Path) -> tuple[str, ...]:
    from olmix.updates.sequence import load_updates

    return load_updates(clone / "config" / "updates" / "mine.yaml").initial.names
