"""``python -m olmix progress``: how far the workflow is, from another terminal."""

import argparse
import time
from pathlib import Path

from olmix.provenance.progress import Progress, newest_plan

HELP = "tell how many runs of the workflow are done, the time left and the best so far"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix progress`."""
    parser.add_argument(
        "--scale", help="the scale that is being run (default: the one that was started last)"
    )
    parser.add_argument(
        "--watch",
        nargs="?",
        type=float,
        const=10.0,
        metavar="SECONDS",
        help="go on until all runs are done, with a line every so often (default: 10)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the line once, or until the workflow has ended."""
    results = Path("results")
    plan = results / args.scale / "progress.json" if args.scale else newest_plan(results)
    progress = Progress(plan)
    progress.look()
    print(progress.line(), flush=True)
    while args.watch is not None and not progress.finished and not progress.ended:
        time.sleep(max(1.0, args.watch))
        progress.look()
        progress.ended = Progress(plan).ended
        print(progress.line(), flush=True)
