"""Download the public corpora of a corpora file, such as the paper's."""

import argparse
import os
import sys
from functools import partial

from olmix.commands.outputs import output_folder
from olmix.corpus.download import download, plan_download, verify_downloads
from olmix.corpus.hub import PUBLIC, Hub
from olmix.corpus.sources import read_sources
from olmix.errors import OlmixError

HELP = "download public corpora, resuming and checking; local paths make it unnecessary"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix download`."""
    parser.add_argument("--to", required=True, help="the folder for downloads (no default)")
    parser.add_argument(
        "--corpora",
        default="config/corpora.yaml",
        help="the YAML file of sources (default: %(default)s)",
    )
    parser.add_argument(
        "--source",
        action="append",
        metavar="NAME",
        help="a source to download; repeat for more (default: all that have no paths)",
    )
    parser.add_argument(
        "--endpoint",
        default=os.environ.get("HF_ENDPOINT", PUBLIC),
        help="the hub (default: the environment variable HF_ENDPOINT, else %(default)s)",
    )
    parser.add_argument(
        "--max-files",
        type=int,
        help="only the first files of each domain, to try things out (default: all)",
    )
    parser.add_argument(
        "--connections", type=int, default=4, help="files fetched at once (default: %(default)s)"
    )
    parser.add_argument(
        "--list", action="store_true", help="only say what would be fetched (default: no)"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="only check the files already in --to against their checksums (default: no)",
    )


def run(args: argparse.Namespace) -> int:
    """Download, or list, or verify. A token is read from HF_TOKEN only."""
    if args.verify:
        return _verify(args.to)
    for name, value in (("--max-files", args.max_files), ("--connections", args.connections)):
        if value is not None and value < 1:
            raise OlmixError(f"{name} {value}: expected at least 1")
    if not args.list:
        output_folder(args.to)
    hub = Hub(args.endpoint, os.environ.get("HF_TOKEN"))
    sources = read_sources(args.corpora, args.source)
    if not args.source:
        sources = [source for source in sources if not source.local and not source.unavailable]
    plans = [plan_download(source, args.to, hub, args.max_files) for source in sources]
    for plan in plans:
        sys.stdout.write(
            f"{plan.source}: {len(plan.files):,} files, {plan.bytes / 1e9:,.2f} GB "
            f"from {plan.dataset}@{plan.commit[:12]}\n"
        )
    if args.list:
        return 0
    for plan in plans:
        download(
            plan,
            args.to,
            hub,
            connections=args.connections,
            on_progress=partial(_show_progress, plan.source),
        )
    return 0


def _show_progress(source: str, done: int, total: int) -> None:
    sys.stderr.write(f"download: {source}: {done / 1e9:,.2f} of {total / 1e9:,.2f} GB\n")


def _verify(to: str) -> int:
    checked = wrong = 0
    for path, problem in verify_downloads(to):
        checked += 1
        if problem:
            wrong += 1
            sys.stdout.write(f"{path}: {problem}\n")
    if not checked:
        raise OlmixError(f"{to}: nothing was downloaded here")
    sys.stdout.write(f"{checked - wrong} of {checked} files are as they were fetched\n")
    return 1 if wrong else 0
