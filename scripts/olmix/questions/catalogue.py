"""Every question by name, in the order of the report; and the plan of them all.

A question is a folder here with a `plan.py`. Nothing has to be said of it anywhere else.
"""

import ast
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from olmix.study.checks import check_plan
from olmix.study.plan import Plan
from olmix.study.question import Question
from olmix.study.scale import Scale

__all__ = [
    "SHARED_SETTINGS",
    "asked_questions",
    "lacking",
    "load_questions",
    "plan_study",
    "settings_of",
]

#: The settings of a scale that every answer is told, for its provenance if for nothing else.
SHARED_SETTINGS = (
    "engine",
    "updates",
    "requested_tokens",
    "repetition",
    "kl",
    "seeds",
    "target_repeats",
    "proxy",
)


@cache
def load_questions() -> dict[str, Question]:
    """Every question by the name of its folder, in the order of the report."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*/plan.py")):
        name = path.parent.name
        question = import_module(f"olmix.questions.{name}.plan").QUESTION
        found[name] = replace(question, figures=_drawn_in(path.with_name("figures.py")))
    return dict(sorted(found.items(), key=lambda item: item[1].place))


def _drawn_in(path: Path) -> tuple[str, ...]:
    """The public functions of a `figures.py`: read, not imported, as matplotlib is slow to."""
    if not path.is_file():
        return ()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return tuple(name for name in functions if not name.startswith("_"))


def asked_questions(scale: Scale) -> dict[str, Question]:
    """The questions that a scale is about: the paper's, or for one's own text, which mix."""
    questions = load_questions().items()
    return {name: found for name, found in questions if found.own_text == scale.of_own_text}


def plan_study(scale: Scale, root: str | Path) -> Plan:
    """The whole plan of a scale, checked; ``root`` is where its config files are."""
    plan = Plan.open(scale, root)
    for name, question in asked_questions(scale).items():
        plan.reads[name] = question.plan(plan)
    plan.close()
    check_plan(plan)
    return plan


def lacking(name: str, scale: Scale) -> str | None:
    """What a question or a figure needs that the engine of a scale does not have, if anything."""
    if scale["engine"] == "train":
        return None
    needs = {
        key: why for question in load_questions().values() for key, why in question.needs.items()
    }
    return needs.get(name)


def settings_of(question: str, scale: Scale) -> dict[str, object]:
    """The settings a question's answer reads: what all share, and its own sections."""
    keys = (*SHARED_SETTINGS, *load_questions()[question].settings)
    return {key: scale[key] for key in keys if key in scale.content}
