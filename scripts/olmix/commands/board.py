"""``python -m olmix board``: every claim on every ground, on one page."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pandas as pd

from olmix.claims.auto_reuse import gains_and_choices, in_one_line
from olmix.claims.figures import board_of_grounds
from olmix.claims.grounds import (
    asked_again,
    ground_board,
    over_replicas,
    read_ground,
    write_ground,
)
from olmix.claims.page import in_order, refresh_page
from olmix.claims.released import judge_released
from olmix.claims.settings import ClaimSettings, load_claims
from olmix.errors import OlmixError
from olmix.files import write_text
from olmix.measured.law import MeasuredLaw, load_replica
from olmix.paths import CONFIG
from olmix.presentation.gallery import shrink
from olmix.presentation.style import save, style

HELP = "judge the claims on every ground that there are results of; write the pages about them"

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
        "--auto-reuse", type=Path, default=CONFIG / "measured" / "auto_reuse.csv", metavar="FILE",
        help="where is kept what auto partial reuse chose and gained on the replicas "
        "(default: config/measured/auto_reuse.csv)",
    )  # fmt: skip
    parser.add_argument(
        "--page", type=Path, default=Path("docs/claims.md"), metavar="FILE",
        help="page whose block of grounds is written again (default: docs/claims.md)",
    )  # fmt: skip
    parser.add_argument(
        "--summary", type=Path, default=Path("README.md"), metavar="FILE",
        help="page whose summary of grounds is written again (default: README.md)",
    )  # fmt: skip
    parser.add_argument(
        "--picture", type=Path, default=Path("figures/gallery/claims.png"), metavar="FILE",
        help="picture of all verdicts (default: figures/gallery/claims.png)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Judge what there are results of, keep the verdicts, and write the pages from those kept."""
    settings = load_claims(CONFIG / "claims.yaml")
    for judged in (_keep_trained, _judge_measured, _judge_released):
        sys.stdout.write(judged(settings, args.results, args.grounds))
    sys.stdout.write(_keep_auto_reuse(settings, args.results, args.auto_reuse))
    kept = {path.stem: read_ground(path) for path in sorted(args.grounds.glob("*.csv"))}
    if not kept:
        raise OlmixError(
            f"{args.grounds}: no verdicts are kept there, and none found in {args.results}"
        )
    for page in (args.page, args.summary):
        refresh_page(page, settings, kept)
        sys.stdout.write(f"{page}: {len(settings.claims)} claims on {len(kept)} grounds\n")
    _draw(settings, kept, args.picture)
    sys.stdout.write(f"{args.picture}: the same as a picture\n")


def _draw(settings: ClaimSettings, kept: Mapping[str, pd.DataFrame], picture: Path) -> None:
    """The board as a small PNG."""
    with tempfile.TemporaryDirectory() as scratch, style():
        save(board_of_grounds(settings.claims, in_order(kept)), Path(scratch) / "board.pdf")
        shrink(Path(scratch) / "board.png", picture)


def _keep_trained(settings: ClaimSettings, results: Path, grounds: Path) -> str:
    """Verdicts of the scales that were trained here, as `snakemake claims` gave them.

    Claims that were asked again have the later verdict, found here or kept.
    """
    scales = [name for first, by in settings.repetitions.items() for name in (first, *by)]
    found = []
    for name in scales:
        later = settings.asked_again.get(name)
        here = [scale for scale in (name, later) if scale and _verdicts(results, scale).is_file()]
        if not here or name in settings.replicas:
            continue
        new = [read_ground(_verdicts(results, scale)).assign(by=scale) for scale in here]
        path = grounds / f"{name}.csv"
        kept = read_ground(path) if path.is_file() else new[0]
        # The scale's own verdicts first, then those of claims asked again, the newest last.
        table = new.pop(0) if here[0] == name else kept[kept["by"] == name]
        for rows in (kept[kept["by"] == later], *new):
            table = asked_again(table, rows)
        write_ground(path, table, f"{_today()}: snakemake claims --config scale=(by)")
        found += here
    return f"trained here: {', '.join(found) or 'nothing new, verdicts kept'}\n"


def _verdicts(results: Path, scale: str) -> Path:
    return results / scale / "verdicts.csv"


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


def _keep_auto_reuse(settings: ClaimSettings, results: Path, path: Path) -> str:
    """What auto partial reuse chose and gained on the replicas that were studied here."""
    tables = [gains_and_choices(scale, results) for scale in settings.replicas[MEASURED]]
    found = [table for table in tables if table is not None]
    if len(found) < 2:
        return f"auto reuse: {len(found)} of {len(tables)} replicas studied here, choices kept\n"
    together = pd.concat(found, ignore_index=True)
    text = together.to_csv(index=False, float_format="%.4g")
    write_text(path, f"# {_today()}: snakemake results/updates/ --config scale=(scale)\n{text}")
    return in_one_line(together, settings.confidence)


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
