"""``python -m olmix board``: every claim on every ground, on one page."""

import argparse
import sys
import tempfile
from datetime import date
from pathlib import Path

import pandas as pd

from olmix.claims.grounds import ground_board, over_replicas, read_ground, write_ground
from olmix.claims.page import refresh_page
from olmix.claims.released import judge_released
from olmix.claims.settings import ClaimSettings, load_claims
from olmix.measured.law import MeasuredLaw, load_replica
from olmix.paths import CONFIG

HELP = "judge the claims on the measured law and on released runs; write the page of all grounds"

MEASURED, RELEASED = "measured", "published"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: where results are, where verdicts are kept, the page."""
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="DIR",
        help="results of the scales measured-N and of `snakemake published` (default: results)",
    )  # fmt: skip
    parser.add_argument(
        "--grounds", type=Path, default=CONFIG / "grounds", metavar="DIR",
        help="where verdicts are kept, for clones without results (default: config/grounds)",
    )  # fmt: skip
    parser.add_argument(
        "--page", type=Path, default=Path("docs/claims.md"), metavar="FILE",
        help="page whose block of grounds is written again (default: docs/claims.md)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Judge what there are results of, keep the verdicts, and write the page from those kept."""
    settings = load_claims(CONFIG / "claims.yaml")
    for judged in (_keep_trained, _judge_measured, _judge_released):
        sys.stdout.write(judged(settings, args.results, args.grounds))
    kept = {path.stem: read_ground(path) for path in sorted(args.grounds.glob("*.csv"))}
    refresh_page(args.page, settings, kept)
    sys.stdout.write(f"{args.page}: {len(settings.claims)} claims on {len(kept)} grounds\n")


def _keep_trained(settings: ClaimSettings, results: Path, grounds: Path) -> str:
    """Verdicts of the scales that were trained here, as `snakemake claims` gave them."""
    scales = [name for first, by in settings.repetitions.items() for name in (first, *by)]
    found = []
    for name in scales:
        path = results / name / "verdicts.csv"
        if path.is_file() and name not in settings.replicas:
            command = f"snakemake claims --config scale={name}"
            write_ground(grounds / f"{name}.csv", read_ground(path), f"{_today()}: {command}")
            found.append(name)
    return f"trained here: {', '.join(found) or 'nothing new, verdicts kept'}\n"


def _judge_measured(settings: ClaimSettings, results: Path, grounds: Path) -> str:
    """Verdicts over the replicas that were studied here."""
    scales = settings.replicas[MEASURED]
    found = [path for scale in scales if (path := results / scale / "estimates.csv").is_file()]
    if len(found) < 2:
        return f"measured law: {len(found)} of {len(scales)} replicas studied here, verdicts kept\n"
    estimates = over_replicas([pd.read_csv(path) for path in found], settings)
    reasons = {
        "C01": "no released runs of other sizes",
        "C16": "no BPB along training",
    }
    board = ground_board(settings, estimates, reasons)
    command = "snakemake claims --config scale=measured-N for every replica; python -m olmix board"
    write_ground(
        grounds / f"{MEASURED}.csv", board, f"{len(found)} replicas, {_today()}: {command}"
    )
    return f"measured law: judged over {len(found)} replicas\n"


def _judge_released(settings: ClaimSettings, results: Path, grounds: Path) -> str:
    """Verdicts of the released runs, where they were looked at here."""
    published = results / RELEASED
    if not (published / "published_design").is_dir():
        return "released runs: not looked at here, verdicts kept\n"
    laws = _drawn_laws(settings)
    with tempfile.TemporaryDirectory() as scratch:
        estimates, reasons = judge_released(
            settings, published, CONFIG / "published" / "proposed_mixes.csv", laws, Path(scratch)
        )
    board = ground_board(settings, estimates, reasons)
    command = "snakemake published --config published=FOLDER; python -m olmix board"
    write_ground(grounds / f"{RELEASED}.csv", board, f"{_today()}: {command}")
    return "released runs: judged\n"


def _drawn_laws(settings: ClaimSettings) -> list[MeasuredLaw]:
    """The replicas that draw what is not known: all but the best guess."""
    path = CONFIG / "measured" / "law.json"
    return [load_replica(path, 1 + number) for number in range(len(settings.replicas[MEASURED]))]


def _today() -> str:
    return date.today().isoformat()
