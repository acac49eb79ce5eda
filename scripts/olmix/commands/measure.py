"""``python -m olmix measure``: laws from runs that somebody else trained and released."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.config_files import read_config
from olmix.errors import OlmixError
from olmix.files import read_json, replacing, sha256
from olmix.measured.check import compare_fits, on_measured, score, score_unseen
from olmix.measured.files import (
    load_measured,
    paper_domains,
    read_runs,
    source_of,
    write_laws,
)
from olmix.measured.law import MeasuredLaw, load_replica
from olmix.measured.measure import measure
from olmix.measured.noise import Noise
from olmix.measured.runs import ReleasedRuns
from olmix.paths import CONFIG
from olmix.published.catalogue import find_swarms
from olmix.published.fetch import list_released
from olmix.published.settings import load_settings

HELP = "measure laws with their noise on released runs, or score them on other runs"

LAWS = CONFIG / "measured" / "law.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: where the runs are, where the laws go, what is checked."""
    parser.add_argument(
        "--published", type=Path, metavar="FOLDER",
        help="folder of released swarms (default: `local` of config/published.yaml)",
    )  # fmt: skip
    parser.add_argument(
        "--settings", type=Path, default=CONFIG / "measured.yaml", metavar="FILE",
        help="forms, replicas and assumptions (default: config/measured.yaml)",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="FILE",
        help="file of laws to write; unseen.csv is written beside it",
    )  # fmt: skip
    parser.add_argument(
        "--check", action="store_true",
        help="compare RQ4's curves on real runs and on the law's, into rq4.csv beside the laws: "
        "those just measured with --out, else those of --law",
    )  # fmt: skip
    parser.add_argument(
        "--score", metavar="SWARM",
        help="instead of measuring: score a file of laws on this swarm of the folder, whose runs "
        "it should not have seen",
    )  # fmt: skip
    parser.add_argument(
        "--law", type=Path, default=LAWS, metavar="FILE",
        help="the file of laws that --score and --check are about (default: "
        "config/measured/law.json)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Measure and write laws, or score those of a file."""
    local = args.published or read_config(CONFIG / "published.yaml")["local"]
    if local is None:
        raise OlmixError("no --published FOLDER, and config/published.yaml names none as `local`")
    folder = Path(local)
    if args.score:
        sys.stdout.write(_scored(args.law, folder, args.score))
        return
    if args.out is None and not args.check:
        raise OlmixError("--out FILE is missing: where to write the laws")
    settings = load_measured(args.settings)
    runs = read_runs(folder, settings["swarms"])
    if args.out is None:
        _check(load_replica(args.law, 0), runs, settings["check"], args.law)
        return
    sys.stdout.write(f"{len(runs)} runs over {len(runs.domains)} domains: fitting and checking\n")
    measured = measure(runs, settings, paper_domains())
    command = f"python -m olmix measure --published FOLDER --out {args.out}"
    write_laws(args.out, measured, source_of(measured, list_released(folder), command))
    unseen = score_unseen(measured)
    _write(unseen, args.out.with_name("unseen.csv"))
    sys.stdout.write(unseen.round(3).to_string(index=False) + "\n")
    if args.check:
        _check(measured.replicas[0], runs, settings["check"], args.out)
    sys.stdout.write(f"{len(measured.replicas)} laws, best form '{measured.best}': {args.out}\n")


def _check(law: MeasuredLaw, runs: ReleasedRuns, settings: Mapping[str, Any], laws: Path) -> None:
    """Write RQ4's curves on real runs and on a law's beside the file of laws, and print them."""
    fits = compare_fits(law, runs, settings)
    _write(fits, laws.with_name("rq4.csv"))
    sys.stdout.write(fits.round(3).to_string(index=False) + "\n")


def _scored(path: Path, folder: Path, swarm: str) -> str:
    """The first law of a file on a swarm, in a line."""
    law, record = load_replica(path, 0), read_json(path)
    runs = read_runs(folder, [swarm])
    try:
        mixes = on_measured(law, runs.domains, runs.mixes)
    except OlmixError as error:
        raise OlmixError(f"{path}: {error}, swarm '{swarm}' has") from None
    order = [runs.tasks.index(task) for task in law.tasks]
    found = score(
        law.bpb(mixes), runs.metrics[:, order], Noise.from_dict(record["errors"]),
        law.fitted.form.alone(mixes),
    )  # fmt: skip
    return (
        f"{found['runs']} runs: mean Pearson per task {found['pearson']:.3f}, of the average "
        f"{found['pearson_of_average']:.3f}; residuals {found['deviation']:.2f} times what is "
        f"expected of unseen runs{_fitted_on(record, folder, swarm)}\n"
    )


def _fitted_on(record: Mapping[str, Any], folder: Path, swarm: str) -> str:
    """Says so where laws were fitted on the very table that they are scored on."""
    table = find_swarms(folder, load_settings(CONFIG / "published.yaml")["swarms"])[swarm]
    known = record.get("source", {}).get("sha256", {}).values()
    return " (but the laws were fitted on these)" if sha256(table / "metrics.csv") in known else ""


def _write(frame: pd.DataFrame, path: Path) -> None:
    with replacing(path) as temporary:
        frame.round(4).to_csv(temporary, index=False)
