import csv

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.tables import SwarmTable, read_swarm
from olmix.tasks import families_of, fold_mmlu, outside_suite, read_families


@pytest.fixture
def subjects(mmlu_subjects):
    with mmlu_subjects.open(newline="") as file:
        return list(csv.DictReader(file))


def table_of(tasks, metrics):
    runs = tuple(f"r{k}" for k in range(len(metrics)))
    mixes = np.tile([0.5, 0.5], (len(metrics), 1))
    return SwarmTable(runs, ("a", "b"), mixes, tuple(tasks), np.asarray(metrics, dtype=float))


def test_mmlu_folds_into_four_weighted_means(subjects, mmlu_subjects):
    """Every subject's column, in another order and with the authors' suffix, beside others."""
    assert len(subjects) == 57
    rng = np.random.default_rng(0)
    order = rng.permutation(57)
    names = [f"mmlu_{subjects[i]['subject']}:rc::olmes" for i in order]
    values = rng.random((3, 57))
    table = table_of(["lambada", *names, "zeta"], np.column_stack([[1, 2, 3], values, [4, 5, 6]]))
    folded = fold_mmlu(table, mmlu_subjects)
    assert folded.tasks[:2] == ("lambada", "zeta")
    assert set(folded.tasks[2:]) == {
        "mmlu_stem", "mmlu_humanities", "mmlu_social_sciences", "mmlu_other",
    }  # fmt: skip
    assert folded.metrics[:, :2].tolist() == [[1, 4], [2, 5], [3, 6]]
    for category in ("stem", "humanities", "social_sciences", "other"):
        total, questions = np.zeros(3), 0
        for column, i in enumerate(order):
            if subjects[i]["category"] == category:
                total += int(subjects[i]["test_questions"]) * values[:, column]
                questions += int(subjects[i]["test_questions"])
        column = folded.tasks.index(f"mmlu_{category}")
        np.testing.assert_allclose(folded.metrics[:, column], total / questions, rtol=1e-12)


def test_part_of_mmlu_is_refused(subjects, mmlu_subjects):
    names = [f"mmlu_{row['subject']}" for row in subjects[1:]]
    table = table_of(names, np.ones((1, 56)))
    with pytest.raises(
        OlmixError, match=f"56 of 57 subjects present, no '{subjects[0]['subject']}'"
    ):
        fold_mmlu(table, mmlu_subjects)


def test_no_mmlu_is_left_as_it_is(mmlu_subjects):
    table = table_of(["lambada", "mmlu_stem"], [[1.0, 2.0]])
    assert fold_mmlu(table, mmlu_subjects) is table


def test_outside_the_suite():
    columns = ["medqa_en:rc::none", "lab_bench_dbqa", "arc_easy:rc::olmes", "medmcqa:rc::none"]
    assert outside_suite(columns) == ["medqa_en:rc::none", "lab_bench_dbqa"]


def test_families_by_name():
    families = families_of(
        ["gsm8k", "minerva_math_algebra::olmes", "mbpp:3shot::none", "codex_humaneval:3shot::none",
         "basic_skills_coding:rc::olmes", "basic_skills_arithmetic:rc::olmes",
         "mmlu_stem", "lambada"]
    )  # fmt: skip
    assert families == {
        "math": ["gsm8k", "minerva_math_algebra::olmes"],
        "code": ["mbpp:3shot::none", "codex_humaneval:3shot::none"],
        "qa": ["basic_skills_coding:rc::olmes", "basic_skills_arithmetic:rc::olmes", "mmlu_stem",
               "lambada"],
    }  # fmt: skip


def test_published_columns_are_7_math_19_code_26_qa(published, published_swarm):
    raw = read_swarm(published / "ratios.csv", published / "metrics.csv")
    assert len(outside_suite(raw.tasks)) == 5
    assert len(published_swarm) == 127
    assert len(published_swarm.domains) == 24
    families = families_of(published_swarm.tasks)
    assert {name: len(tasks) for name, tasks in families.items()} == {
        "math": 7, "code": 19, "qa": 26,
    }  # fmt: skip


def test_a_users_families_hold_each_task_once():
    tasks = ("x", "y", "z")
    assert read_families({"f": ["z", "x"], "g": ["y"]}, tasks) == {"f": ["z", "x"], "g": ["y"]}
    for families, message in [
        ({"f": ["x", "y"]}, r"'z' is in no family \(1 such\)"),
        ({"f": ["x", "y", "z"], "g": ["x"]}, "'x' is in more than one family"),
        ({"f": ["x", "y", "z", "w"]}, "no task 'w' in the metrics"),
    ]:
        with pytest.raises(OlmixError, match=message):
            read_families(families, tasks)
