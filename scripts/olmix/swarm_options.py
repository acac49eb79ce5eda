"""The command-line options about a swarm and a method, shared by `fit` and `reuse`."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from olmix.config_files import read_config
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.method import PROPOSERS, Method
from olmix.mix import Mix
from olmix.paths import CONFIG
from olmix.regressors import FAMILIES
from olmix.surrogate import GRANULARITIES
from olmix.tables import SwarmTable, average_columns, read_swarm
from olmix.tasks import families_of, fold_mmlu, outside_suite, read_families

__all__ = [
    "add_method_options",
    "add_request_options",
    "add_swarm_options",
    "check_same_domains",
    "method_from",
    "prior_from",
    "swarm_from",
]


def add_swarm_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Where the swarm is and which of its metrics count."""
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
    group.add_argument(
        "--families", type=Path, metavar="FILE",
        help="JSON or YAML of {family: [tasks]} (default: maths, code and QA, by name)",
    )  # fmt: skip


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Regression, granularity and proposer; the defaults are OlmixBase."""
    group = parser.add_argument_group("method (defaults: OlmixBase)")
    group.add_argument(
        "--regressor", choices=tuple(FAMILIES), default="log_linear",
        help="regression family (default: log_linear)",
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
        "--proposer", choices=PROPOSERS, default=None,
        help="solver (default: exact where the family is convex, otherwise search)",
    )  # fmt: skip


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """What is asked of the mix."""
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
    group.add_argument("--seed", type=int, default=0, help="seed of all that is drawn (default: 0)")


def swarm_from(args: argparse.Namespace) -> tuple[SwarmTable, dict[str, list[str]]]:
    """Read the swarm, keep the metrics asked for, and group them into families."""
    swarm = read_swarm(args.ratios, args.metrics)
    if not args.keep_mmlu_subjects:
        swarm = fold_mmlu(swarm, CONFIG / "tasks" / "mmlu_subjects.csv")
    if args.paper_suite and outside_suite(swarm.tasks):
        swarm = swarm.drop_tasks(outside_suite(swarm.tasks))
    if args.drop_task:
        swarm = swarm.drop_tasks(args.drop_task)
    for option in args.group_tasks:
        name, equals, members = option.partition("=")
        if not (name and equals and members):
            raise OlmixError(f"--group-tasks {option!r}: expected NAME=TASK,TASK")
        swarm = average_columns(swarm, name, dict.fromkeys(members.split(","), 1.0))
    if args.families:
        return swarm, read_families(read_config(args.families), swarm.tasks)
    return swarm, families_of(swarm.tasks)


def method_from(args: argparse.Namespace) -> Method:
    """The method the options describe."""
    settings = {}
    for option in args.setting:
        name, equals, value = option.partition("=")
        try:
            settings[name] = json.loads(value)
        except json.JSONDecodeError:
            equals = ""
        if not (name and equals):
            raise OlmixError(f"--setting {option!r}: expected NAME=NUMBER")
    convex = args.regressor in ("log_linear", "bimix", "autoscale")
    proposer = args.proposer or ("exact" if convex else "search")
    return Method(args.regressor, args.granularity, proposer, settings)


def check_same_domains(found: Sequence[str], expected: Sequence[str], what: str) -> None:
    """Refuse two sets of domains that differ, naming what only one side has."""
    for names, others, where in (
        (found, expected, "has no token count"),
        (expected, found, f"is not in {what}"),
    ):
        missing = [name for name in names if name not in set(others)]
        if missing:
            raise OlmixError(f"domain '{missing[0]}' {where} ({len(missing)} such)")


def prior_from(path: Path, domains: DomainSet) -> Mix:
    """The KL prior of a domain file: its ``relative_sizes``, or the natural distribution."""
    sizes = read_config(path).get("relative_sizes")
    if sizes is None:
        return domains.natural()
    check_same_domains(list(sizes), domains.names, "relative_sizes")
    total = sum(sizes.values())
    zero = [name for name, size in sizes.items() if not size > 0]
    if zero:
        raise OlmixError(
            f"{path}: relative size of '{zero[0]}' is {sizes[zero[0]]}, expected more than 0"
        )
    return Mix.from_dict({name: size / total for name, size in sizes.items()}).aligned(
        domains.names
    )
