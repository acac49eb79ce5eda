"""From a folder to a first stage, and from what changed in it to the next ones."""

import shutil
from pathlib import Path

import pytest

from olmix.corpus.store import Corpus
from olmix.corpus.text import read_documents
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite, SuiteWriter
from olmix.own_text import prepare
from olmix.own_text.naming import plain_name
from olmix.own_text.prepare import Tokenizing, look
from olmix.own_text.project import Origin, Project, StageRecord
from olmix.own_text.stages import first_stage, next_stage


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project("mine", tmp_path / "clone")


@pytest.fixture
def origin(folder: Path) -> Origin:
    return Origin(str(folder))


def begin(project: Project, origin: Origin) -> StageRecord:
    stage = first_stage(project, origin, look(project, origin, 1), Tokenizing(words=320), 1)
    project.save(origin, [stage])
    return stage


def go_on(project: Project) -> StageRecord:
    origin, stages = project.load()
    stage = next_stage(project, origin, stages, look(project, origin, 1), 1)
    project.save(origin, [*stages, stage])
    return stage


def texts_of(project: Project, stored: str) -> set[str]:
    shards = sorted(project.shards(stored).glob("*.zst"))
    return {entry.text for shard in shards for entry in read_documents(shard)}


def test_the_first_stage_counts_what_is_left_after_holding_out(project, origin, folder):
    stage = begin(project, origin)
    assert list(stage.domains) == ["code", "english", "numbers"]
    assert Corpus.open(project.corpus).token_counts == stage.tokens
    for name, domain in stage.domains.items():
        texts = [path.read_text() for path in (folder / name).iterdir()]
        assert (domain.files, domain.documents) == (60, 60)
        assert domain.bytes == sum(len(text.encode()) for text in texts)
        assert len(texts_of(project, name)) == 54, "a tenth is held out"
    suite = Suite.open(project.suite("initial"))
    assert [task.name for task in suite.tasks] == ["code", "english", "numbers"]
    (english,) = (task for task in suite.tasks if task.name == "english")
    trained = "\n".join(texts_of(project, "english"))
    assert all(row.prompt + row.gold not in trained for row in suite.instances(english))
    assert project.load() == (origin, [stage])


def test_a_copy_of_a_held_out_document_is_held_out_of_every_domain(project, origin, folder):
    begin(project, origin)
    trained = texts_of(project, "english")
    held = [p for p in (folder / "english").iterdir() if p.read_text() not in trained]
    for number, path in enumerate(held):
        shutil.copy(path, folder / "code" / f"copy{number}.txt")
    shutil.rmtree(project.data)
    begin(project, origin)
    assert not {path.read_text() for path in held} & texts_of(project, "code")


def test_a_target_decides_the_tasks_and_nothing_else_is_held_out(project, folder, tmp_path):
    target = tmp_path / "care about"
    shutil.copytree(folder / "english", target)
    with pytest.raises(OlmixError, match="'english': nothing is left of it"):
        begin(project, Origin(str(folder), target=str(target)))
    for path in sorted(target.iterdir())[30:]:
        path.unlink()
    stage = begin(project, Origin(str(folder), target=str(target)))
    suite = Suite.open(project.suite(stage.name))
    assert [task.name for task in suite.tasks] == [plain_name("care about")]
    assert len(texts_of(project, "code")) == 60
    kept = texts_of(project, "english")
    assert len(kept) == 30 and not kept & {path.read_text() for path in target.iterdir()}


def test_a_suite_is_taken_as_it_is_and_outlives_domains_of_its_names(
    project, origin, folder, tmp_path
):
    given = tmp_path / "suite"
    with SuiteWriter(given, "given") as writer:
        writer.add("code", "a", [("1 + 1 =", " 2")] * 3, {"shots": 0})
        writer.add("sums", "b", [("2 + 2 =", " 4")])
        writer.add_mean("both", "b", ["code", "sums"])
    begin(project, Origin(str(folder), suite=str(given)))
    assert len(texts_of(project, "code")) == 60
    shutil.rmtree(folder / "code")
    stages = ["initial", go_on(project).name]
    assert stages[-1] == "remove_code"
    for stage in stages:
        mine, other = Suite.open(project.suite(stage)), Suite.open(given)
        assert mine.tasks == other.tasks
        assert [mine.instances(t) for t in mine.tasks] == [other.instances(t) for t in other.tasks]


def test_small_and_empty_domains_are_left_out_with_their_reason(project, origin, folder):
    (folder / "tiny").mkdir()
    (folder / "tiny" / "a.txt").write_text("x" * 200)
    (folder / "nothing").mkdir()
    stage = begin(project, origin)
    assert "200 bytes" in stage.domains["tiny"].left_out
    assert stage.domains["nothing"].left_out == "holds no text"
    assert list(stage.tokens) == ["code", "english", "numbers"]
    for name in ("code", "english"):
        shutil.rmtree(folder / name)
    with pytest.raises(OlmixError, match=r"1 domains with text, a mix needs two .*holds no text"):
        begin(Project("other", project.root), origin)


def test_nothing_is_read_twice_that_did_not_change(project, origin, folder, monkeypatch):
    begin(project, origin)
    monkeypatch.setattr(prepare, "survey_domains", lambda files, **_: iter(list(files)))
    assert set(look(project, origin, 1)) == {"code", "english", "numbers"}
    with pytest.raises(OlmixError, match="nothing changed since stage 'initial'"):
        go_on(project)


def test_an_added_domain_is_all_that_is_tokenised(project, origin, folder):
    first = begin(project, origin)
    before = {p: p.stat().st_mtime_ns for p in project.corpus.rglob("*.bin")}
    shutil.copytree(folder / "english", folder / "news")
    for path in (folder / "news").iterdir():
        path.write_text(path.read_text()[::-1])
    stage = go_on(project)
    assert (stage.name, stage.changes.added) == ("add_news", ("news",))
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert {n: t for n, t in stage.tokens.items() if n != "news"} == first.tokens
    tasks = [task.name for task in Suite.open(project.suite("add_news")).tasks]
    assert tasks == ["code", "english", "numbers", "news"]
    assert set(first.held_out) < set(stage.held_out)


def test_a_split_domain_is_its_parts_token_by_token(project, origin, folder):
    first = begin(project, origin)
    for number, path in enumerate(sorted((folder / "english").iterdir())):
        place = folder / f"part{number % 2}"
        place.mkdir(exist_ok=True)
        path.rename(place / path.name)
    (folder / "english").rmdir()
    stage = go_on(project)
    assert stage.changes.split == {"english": ("part0", "part1")}
    assert stage.tokens["part0"] + stage.tokens["part1"] == first.tokens["english"]
    assert [task.name for task in Suite.open(project.suite(stage.name)).tasks] == [
        "code", "english", "numbers",
    ]  # fmt: skip
    assert stage.sources == {"part0": "english", "part1": "english"}


def test_a_revised_domain_is_stored_beside_the_old_one(project, origin, folder):
    first = begin(project, origin)
    (folder / "code" / "more.txt").write_text("while True print " * 40)
    stage = go_on(project)
    assert stage.changes.revised == ("code",)
    assert (stage.domains["code"].stored, stage.domains["code"].version) == ("code@2", "2")
    counts = Corpus.open(project.corpus).token_counts
    assert counts["code@2"] > counts["code"] == first.tokens["code"]
    shutil.rmtree(folder / "code")
    assert go_on(project).changes.removed == ("code",)
    (folder / "code").mkdir()
    for number in range(60):
        (folder / "code" / f"{number}").write_text(f"{number} is back " * 40)
    again = go_on(project)
    assert (again.domains["code"].stored, again.domains["code"].version) == ("code@3", "3")


def test_a_renamed_domain_keeps_its_name_in_the_mix(project, origin, folder):
    begin(project, origin)
    (folder / "english").rename(folder / "prose")
    with pytest.raises(OlmixError, match="nothing changed"):
        go_on(project)
    shutil.rmtree(folder / "numbers")
    stage = go_on(project)
    assert list(stage.tokens) == ["code", "english"] and stage.renamed == {"prose": "english"}
    (folder / "code" / "more.txt").write_text("while True print " * 40)
    assert go_on(project).changes.unchanged == ("english",)
