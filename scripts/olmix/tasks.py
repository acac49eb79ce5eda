"""Tasks and their families: maths, code, QA, and MMLU folded into categories (App. Evaluation)."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from olmix.config_files import read_config
from olmix.errors import OlmixError
from olmix.tables import SwarmTable, average_columns

__all__ = [
    "OUTSIDE_SUITE",
    "families_of",
    "fold_mmlu",
    "outside_suite",
    "read_families",
    "suite_columns",
]

# Metrics of the authors' released tables that are not among the paper's 52 tasks (App. RQ2, and the
# metrics their released fits leave out).
OUTSIDE_SUITE = (
    "qasper_yesno",
    "sciriff_yesno",
    "lab_bench_dbqa",
    "lab_bench_protocolqa",
    "medqa_en",
    "ultrachat_masked_ppl",
    "wildchat_masked_ppl",
)

_MMLU_COLUMN = re.compile(r"^mmlu_(?P<subject>[a-z_]+?)(:.*)?$")
_FAMILY_PATTERNS = (
    ("math", re.compile(r"minerva|math|gsm", re.IGNORECASE)),
    ("code", re.compile(r"humaneval|mbpp|code|coding_task", re.IGNORECASE)),
)


def outside_suite(tasks: Sequence[str]) -> list[str]:
    """Which of these columns measure something outside the paper's 52 tasks."""
    return [task for task in tasks if task.split(":")[0] in OUTSIDE_SUITE]


def suite_columns(columns: Sequence[str], suite: str | Path) -> list[str]:
    """Which columns of a released metrics table are tasks (or MMLU subjects) of a suite file."""
    known: set[str] = set()
    for task in read_config(suite)["tasks"]:
        pattern = task["csv_column"]
        known.update(pattern.format(subject=subject) for subject in task.get("subjects", [""]))
        known.add(task["name"])
    return [column for column in columns if column in known]


def fold_mmlu(table: SwarmTable, subjects: str | Path) -> SwarmTable:
    """Fold per-subject MMLU columns into four categories, weighted by number of questions.

    ``subjects`` is a CSV of subject, category, test_questions. A table without such columns is
    returned as it is; one with only some of the subjects is refused, as its average would differ.
    """
    with Path(subjects).open(newline="", encoding="utf-8") as file:
        rows = {row["subject"]: row for row in csv.DictReader(file)}
    columns = {}
    for task in table.tasks:
        match = _MMLU_COLUMN.match(task)
        if match and match["subject"] in rows:
            columns[match["subject"]] = task
    if not columns:
        return table
    missing = [subject for subject in rows if subject not in columns]
    if missing:
        raise OlmixError(f"MMLU: {len(columns)} of {len(rows)} subjects present, no '{missing[0]}'")
    for category in dict.fromkeys(row["category"] for row in rows.values()):
        weights = {
            columns[subject]: float(row["test_questions"])
            for subject, row in rows.items()
            if row["category"] == category
        }
        table = average_columns(table, f"mmlu_{category}", weights)
    return table


def families_of(tasks: Sequence[str]) -> dict[str, list[str]]:
    """Group tasks into math, code and QA by name, as the paper's evaluation table does."""
    families: dict[str, list[str]] = {}
    for task in tasks:
        # Basic Skills and MMLU are QA whatever their subtask is called (paper's table of tasks).
        family = "qa"
        if not task.startswith(("basic_skills", "mmlu_")):
            family = next((name for name, rule in _FAMILY_PATTERNS if rule.search(task)), "qa")
        families.setdefault(family, []).append(task)
    return families


def read_families(content: Mapping[str, Sequence[str]], tasks: Sequence[str]) -> dict[str, list]:
    """Families from a user's ``{family: [tasks]}``; each task must be in exactly one."""
    placed = [task for members in content.values() for task in members]
    for task in placed:
        if task not in tasks:
            raise OlmixError(f"task families: no task '{task}' in the metrics")
        if placed.count(task) > 1:
            raise OlmixError(f"task families: '{task}' is in more than one family")
    missing = [task for task in tasks if task not in placed]
    if missing:
        raise OlmixError(f"task families: '{missing[0]}' is in no family ({len(missing)} such)")
    return {family: list(members) for family, members in content.items()}
