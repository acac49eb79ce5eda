"""The command-line options about a swarm and a method, shared by `fit`, `explore` and `reuse`."""

import argparse
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from olmix.config_files import read_config
from olmix.errors import OlmixError
from olmix.paths import CONFIG
from olmix.proposers import SOLVERS
from olmix.proposers.method import Method
from olmix.regressors import FAMILIES
from olmix.regressors.surrogate import GRANULARITIES
from olmix.study.methods import OLMIX_ENSEMBLE, load_methods
from olmix.tables import (
    MISSING,
    SwarmTable,
    average_columns,
    metric_columns,
    read_swarm,
    scale_metrics,
)
from olmix.tasks import families_of, fold_mmlu, outside_suite, read_families

__all__ = [
    "add_domains_option",
    "add_method_options",
    "add_request_options",
    "add_seed_option",
    "add_swarm_options",
    "add_task_options",
    "families_from",
    "method_from",
    "metric_notes",
    "scored_swarm",
    "seed_number",
    "swarm_from",
]

# Names of metrics that are no losses.
_LARGER_IS_BETTER = re.compile(
    r"(^|[^a-z])(acc|accuracy|exact_match|f1|pass@\d+|win_?rate)([^a-z]|$)", re.IGNORECASE
)


def seed_number(text: str) -> int:
    """The value of ``--seed`` as a number; anything but a whole number is refused."""
    if not text.isdecimal():
        raise OlmixError(f"--seed {text}: expected a whole number of 0 or more")
    return int(text)


def add_swarm_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the options that say where a swarm is and which of its metrics count."""
    group = parser.add_argument_group("swarm")
    group.add_argument(
        "--ratios", type=Path, required=required, metavar="CSV",
        help="mixes: columns run, name, index, then a column per domain",
    )  # fmt: skip
    group.add_argument(
        "--metrics", type=Path, required=required, metavar="CSV",
        help="BPB: columns run, name, index, then a column per task",
    )  # fmt: skip
    group.add_argument(
        "--run-column", metavar="NAME",
        help="column both files name their runs by (default: the first of run, run_id, run_name, "
        "name, id, index that both have)",
    )  # fmt: skip
    group.add_argument(
        "--missing", choices=MISSING, default="refuse",
        help="empty or non-finite values: refuse them, or leave out the runs or tasks that have "
        "any (default: refuse)",
    )  # fmt: skip
    group.add_argument(
        "--ignore-column", action="append", default=[], metavar="NAME",
        help="a column of either file that is neither a domain nor a metric; may be repeated "
        "(default: none; columns of text are left out anyway)",
    )  # fmt: skip
    add_task_options(group)
    group.add_argument(
        "--scale-metrics", action="store_true",
        help="divide every metric by its median, so that metrics in different units weigh alike "
        "and --kl means what it means for BPB",
    )  # fmt: skip
    group.add_argument(
        "--drop-task", action="append", default=[], metavar="TASK",
        help="leave a metric out; may be repeated (default: none)",
    )  # fmt: skip
    group.add_argument(
        "--paper-suite", action="store_true",
        help="leave out the metrics of the authors' tables that are not among the paper's 52 tasks",
    )  # fmt: skip
    group.add_argument(
        "--group-tasks", action="append", default=[], metavar="NAME=TASK,TASK",
        help="replace several metrics by their plain average; may be repeated (default: none)",
    )  # fmt: skip
    group.add_argument(
        "--keep-mmlu-subjects", action="store_true",
        help="do not fold per-subject MMLU columns into four categories (default: fold, weighted "
        "by number of questions)",
    )  # fmt: skip


def add_task_options(parser: argparse._ActionsContainer) -> None:
    """Declare the options that say how metrics are shown: their unit and their families."""
    parser.add_argument(
        "--unit", default="BPB", metavar="NAME",
        help="what the metrics are measured in, for texts and figures (default: BPB)",
    )  # fmt: skip
    parser.add_argument(
        "--families", type=Path, metavar="FILE",
        help="JSON or YAML of {family: [tasks]} (default: maths, code and QA, by name)",
    )  # fmt: skip


def add_domains_option(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Declare the option for the file of the domains' sizes."""
    without = "" if required else "; without a file the swarm's mean mix, and nothing can be capped"
    parser.add_argument(
        "--domains", type=Path, required=required, metavar="FILE",
        help="JSON or YAML with token_counts {domain: tokens} and optionally relative_sizes, the "
        f"prior of the KL term (default: natural{without})",
    )  # fmt: skip


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the method; its defaults are config/methods/olmix_ensemble.yaml."""
    own = load_methods(CONFIG / "methods")[OLMIX_ENSEMBLE]
    group = parser.add_argument_group(f"method (defaults: {own.label})")
    group.add_argument(
        "--regressor", choices=tuple(FAMILIES), default=own.regression_family,
        help=f"regression family (default: {own.regression_family}; the paper's: log_linear)",
    )  # fmt: skip
    group.add_argument(
        "--setting", action="append", default=[], metavar="NAME=VALUE",
        help="a setting of the regression family, such as ridge=0.001; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--granularity", choices=GRANULARITIES, default="task",
        help="one model per task, per family, or one for the average (default: task)",
    )  # fmt: skip
    group.add_argument(
        "--proposer", choices=tuple(SOLVERS), default=None,
        help="solver (default: exact where the family is convex, otherwise search)",
    )  # fmt: skip


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what is asked of the mix: R, k and λ."""
    group = parser.add_argument_group("request")
    group.add_argument(
        "--target-tokens", type=float, metavar="R",
        help="tokens of the target run, such as 1e12 (default: none, so nothing is capped)",
    )  # fmt: skip
    group.add_argument(
        "--repetition", type=float, default=4.0, metavar="K",
        help="how often a domain's tokens may be seen (default: 4; inf: no caps)",
    )  # fmt: skip
    group.add_argument(
        "--kl", type=float, default=0.05, metavar="LAMBDA",
        help="weight of the KL term that keeps the mix near its prior (default: 0.05)",
    )  # fmt: skip


def add_seed_option(parser: argparse.ArgumentParser) -> None:
    """Declare the option for the seed of all that is drawn."""
    parser.add_argument(
        "--seed", type=seed_number, default=0, help="seed of all that is drawn (default: 0)"
    )


def families_from(args: argparse.Namespace, tasks: Sequence[str]) -> dict[str, list[str]]:
    """The families of a file, or those that the tasks' names tell."""
    if args.families:
        return read_families(read_config(args.families), tasks)
    return families_of(tasks)


def swarm_from(args: argparse.Namespace) -> tuple[SwarmTable, dict[str, list[str]]]:
    """Read the swarm, keep the metrics asked for, and group them into families."""
    columns = metric_columns(args.metrics)
    unwanted = set(outside_suite(columns)) if args.paper_suite else set()
    # Left out before their values are looked at: what is not wanted need not be complete.
    swarm = read_swarm(
        args.ratios,
        args.metrics,
        run_column=args.run_column,
        missing=args.missing,
        skip=lambda task: task in unwanted or task in args.drop_task,
        ignore=args.ignore_column,
    )
    if not args.keep_mmlu_subjects:
        swarm = fold_mmlu(swarm, CONFIG / "tasks" / "mmlu_subjects.csv")
    folded = [task for task in args.drop_task if task not in columns]
    if folded:
        swarm = swarm.drop_tasks(folded)
    for option in args.group_tasks:
        name, equals, members = option.partition("=")
        if not (name and equals and members):
            raise OlmixError(f"--group-tasks {option!r}: expected NAME=TASK,TASK")
        swarm = average_columns(swarm, name, dict.fromkeys(members.split(","), 1.0))
    if args.scale_metrics:
        swarm = scale_metrics(swarm)
    swarm = replace(swarm, notes=(*swarm.notes, *metric_notes(swarm)))
    return swarm, families_from(args, swarm.tasks)


def scored_swarm(
    args: argparse.Namespace, ratios: Path, metrics: Path, fitted: SwarmTable
) -> SwarmTable:
    """Runs that a fit is scored on and has not seen, in the domains and tasks of the fitted swarm.

    They may lack domains (weight 0) and, where every task has a law of its own, tasks.
    """
    columns = metric_columns(metrics)
    dropped = [task for task in args.drop_task if task in columns]
    values = vars(args) | {"ratios": ratios, "metrics": metrics, "drop_task": dropped}
    swarm, _ = swarm_from(argparse.Namespace(**values))
    for place, domain in enumerate(swarm.domains):
        if domain not in fitted.domains and swarm.mixes[:, place].any():
            raise OlmixError(f"{ratios}: domain '{domain}' is not in the swarm that is fitted")
    tasks = [task for task in fitted.tasks if task in swarm.tasks]
    missing = [task for task in fitted.tasks if task not in swarm.tasks]
    if not tasks or (missing and args.granularity != "task"):
        raise OlmixError(f"{metrics}: no task '{missing[0]}', on which the swarm is fitted")
    if missing:
        note = f"{metrics.name} lacks {len(missing)} of the tasks that are fitted"
        swarm = replace(swarm, notes=(*swarm.notes, note))
    mixes = np.zeros((len(swarm), len(fitted.domains)))
    for place, domain in enumerate(fitted.domains):
        if domain in swarm.domains:
            mixes[:, place] = swarm.mixes[:, swarm.domains.index(domain)]
    return replace(swarm.select_tasks(tasks), domains=fitted.domains, mixes=mixes)


def metric_notes(swarm: SwarmTable) -> list[str]:
    """What to know about metrics that do not look like losses in bits per byte."""
    notes = []
    larger = [task for task in swarm.tasks if _LARGER_IS_BETTER.search(task)]
    if larger:
        notes.append(
            f"better when larger, by their names: {_few(larger)}; a mix is proposed for small "
            "values: give errors (1 - accuracy), or --drop-task"
        )
    still = np.ptp(swarm.metrics, axis=0) == 0
    flat = [task for task, same in zip(swarm.tasks, still, strict=True) if same]
    if flat and len(swarm) > 1:
        notes.append(f"the same in every run, so that no mix is better for them: {_few(flat)}")
    median = np.median(swarm.metrics, axis=0)
    odd = [
        f"{task} ({middle:.3g})"
        for task, middle in zip(swarm.tasks, median, strict=True)
        if not 0.1 <= middle <= 10
    ]
    if odd:
        notes.append(
            f"not in bits per byte by their medians: {_few(odd)}; a metric weighs in the average, "
            "and against --kl, by its size (--scale-metrics makes all alike)"
        )
    return notes


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def method_from(args: argparse.Namespace) -> Method:
    """The method the options describe."""
    settings = {}
    for option in args.setting:
        name, equals, value = option.partition("=")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            equals = ""
        if not (name and equals and _is_setting(settings[name])):
            raise OlmixError(f"--setting {option!r}: expected NAME=NUMBER, 0 or more")
    convex = FAMILIES[args.regressor].convex
    proposer = args.proposer or ("exact" if convex else "search")
    return Method(args.regressor, args.granularity, proposer, settings)


def _is_setting(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0
