"""``python -m olmix init``: from a folder of text to a scale that `snakemake mix` runs."""

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from olmix.corpus.store import Corpus
from olmix.corpus.tokenizer import load_tokenizer
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.own_text.demo import DOMAINS, gather_demo
from olmix.own_text.naming import matching_patterns
from olmix.own_text.prepare import Tokenizing, look, target_folders
from olmix.own_text.project import Origin, Project, StageRecord
from olmix.own_text.scale_file import NextStage, Wishes, write_scale, write_updates
from olmix.own_text.sizing import Sizing, choose_sizes
from olmix.own_text.speed import Stopwatch
from olmix.own_text.stages import first_stage, take_part
from olmix.own_text.table import domain_table, notes
from olmix.own_text.vocabulary import check_size

HELP = "count a folder of text, propose models and swarm for your time, and write a scale for it"

DEMO = "demo"
# The largest vocabulary that is trained: on a core the words are most of a small model's work.
MOST_WORDS = 2048
MOST_WORDS_ON_GPU = 32_768


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    text = parser.add_argument_group("text")
    text.add_argument(
        "folder", nargs="?", type=Path, help="a folder with a sub-folder (or a file) per domain"
    )
    text.add_argument(
        "--domain", action="append", default=[], metavar="NAME=GLOB",
        help="a domain and its files, instead of a folder; may be repeated",
    )  # fmt: skip
    text.add_argument(
        "--demo", action="store_true",
        help="the demonstration: text of the installed packages, in ten domains",
    )  # fmt: skip
    text.add_argument(
        "--text-field", default="text", metavar="NAME",
        help="the field of JSON lines and parquet files that is the text (default: text)",
    )  # fmt: skip
    aim = parser.add_argument_group("what the mix is for (default: held-out text of each domain)")
    which = aim.add_mutually_exclusive_group()
    which.add_argument(
        "--target", type=Path, metavar="FOLDER",
        help="text like that you care about: a task per sub-folder",
    )  # fmt: skip
    which.add_argument(
        "--suite", type=Path, metavar="FOLDER",
        help="a task suite, such as one that `python -m olmix tasks --prepare FOLDER` wrote",
    )  # fmt: skip
    aim.add_argument(
        "--tokens", type=float, metavar="R",
        help="tokens of the run that the mix is for, such as 1e9 (default: as many as there are)",
    )  # fmt: skip
    aim.add_argument(
        "--repetition", type=float, default=4.0, metavar="K",
        help="how often a domain may be seen in that run (default: 4)",
    )  # fmt: skip
    means = parser.add_argument_group("means")
    means.add_argument(
        "--minutes", type=float, default=60.0, metavar="N",
        help="time for choosing the mix and checking it, all devices busy (default: 60)",
    )  # fmt: skip
    means.add_argument(
        "--devices", type=int, metavar="N",
        help="GPUs (or cores) there will be (default: those of this machine)",
    )  # fmt: skip
    means.add_argument("--tokenizer", type=Path, metavar="FILE", help="default: one is trained")
    means.add_argument(
        "--vocabulary", type=int, metavar="N",
        help="words of the tokenizer that is trained (default: by the amount of text)",
    )  # fmt: skip
    means.add_argument(
        "--name", help=f"of the scale: config/scales/NAME.yaml (default: mine, or {DEMO})"
    )
    means.add_argument(
        "--processes", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
        help="files read at once (default: the %(default)s cores of this machine)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Count, hold out, tokenise, measure, propose, write."""
    project = Project(args.name or (DEMO if args.demo else "mine"))
    origin = _origin(args, project)
    _check(args, project, origin)
    if args.demo:
        _say(f"gathering text of the installed packages into {project.relative(project.data)}")
        gather_demo(_demo_text(project), project.data / "later")
    found = look(project, origin, args.processes)
    take_part(found)
    with Stopwatch(args.devices) as watch:
        words = MOST_WORDS_ON_GPU if watch.devices.on_gpu else MOST_WORDS
        tokenizing = Tokenizing(args.tokenizer, args.vocabulary, words)
        stage = first_stage(project, origin, found, tokenizing, args.processes)
        _say("", *domain_table(stage), "", *(f"note: {line}" for line in notes(found, origin)))
        wishes = _wishes(args, stage)
        _say("measuring how fast models train here, some seconds each")
        sizing = _sizing(args, project, stage, wishes, watch)
    project.save(origin, [stage])
    write_updates(project, [stage], origin.folder or "files by pattern")
    write_scale(project, sizing, wishes, NextStage(stage.name))
    _say(*_proposed(sizing), "")
    _say(
        f"wrote {project.relative(project.scale_file)}, which you may edit, and "
        f"{project.relative(project.updates_file)}",
        f"next: snakemake mix --config scale={project.name}",
    )


def _origin(args: argparse.Namespace, project: Project) -> Origin:
    """Where the text is, from exactly one of the three ways to say it."""
    ways = [args.folder is not None, bool(args.domain), args.demo]
    if sum(ways) != 1:
        raise OlmixError("init: expected a FOLDER, or --domain NAME=GLOB, or --demo")
    folder = _demo_text(project) if args.demo else args.folder
    return Origin(
        folder=None if folder is None else str(folder.resolve()),
        patterns=matching_patterns(args.domain),
        text_field=args.text_field,
        target=None if args.target is None else str(args.target.resolve()),
        suite=None if args.suite is None else str(args.suite.resolve()),
    )


def _demo_text(project: Project) -> Path:
    """Where the demonstration's text is put."""
    return project.data / "source"


def _check(args: argparse.Namespace, project: Project, origin: Origin) -> None:
    """Refuse at once what would be refused after minutes."""
    for option in ("minutes", "repetition", "tokens", "devices", "processes"):
        value = getattr(args, option)
        if value is not None and not value > 0:
            raise OlmixError(f"--{option} {value:g}: expected more than 0")
    if args.vocabulary is not None:
        check_size(args.vocabulary)
    if args.tokenizer is not None:
        load_tokenizer(args.tokenizer)
    if args.suite is not None:
        Suite.open(args.suite)
    if args.target is not None:
        target_folders(args.target)
    if project.scale_file.exists():
        raise OlmixError(
            f"{project.relative(project.scale_file)} is there already: `python -m olmix update "
            f"{project.name}` if the text changed, --name for another scale, or delete the file"
        )
    if project.record.is_file():
        known, stages = project.load()
        if known != origin or len(stages) > 1:
            raise OlmixError(
                f"{project.relative(project.data)} holds other text or later stages: choose "
                "another --name, or delete the folder"
            )


def _wishes(args: argparse.Namespace, stage: StageRecord) -> Wishes:
    available = sum(stage.tokens.values())
    return Wishes(
        minutes=args.minutes,
        requested=args.tokens or available,
        requested_from="As you asked." if args.tokens else "Here: all the tokens there are.",
        repetition=args.repetition,
        task_weights={kind.domain: float(kind.wanted) for kind in DOMAINS} if args.demo else {},
    )


def _sizing(
    args: argparse.Namespace,
    project: Project,
    stage: StageRecord,
    wishes: Wishes,
    watch: Stopwatch,
) -> Sizing:
    return choose_sizes(
        domains=len(stage.tokens),
        vocabulary=Corpus.open(project.corpus).tokenizer.vocab_size,
        minutes=args.minutes,
        devices=watch.devices,
        measure=partial(
            watch.measure,
            corpus=project.corpus,
            suite=project.suite(stage.name),
            tokenizer=project.tokenizer,
        ),
        requested=wishes.requested,
    )


def _proposed(sizing: Sizing) -> list[str]:
    proxy, target = sizing.proxy, sizing.target
    return [
        f"proxies: {sizing.runs} runs of {proxy.shape} ({proxy.parameters:,} parameters), "
        f"{proxy.tokens:,} tokens each at {proxy.speed.tokens_per_second:,.0f} tokens/s on a "
        f"{sizing.devices.unit}",
        f"targets: {sizing.target_runs} runs of {target.shape} ({target.parameters:,} "
        f"parameters), {target.tokens:,} tokens each",
        f"about {sizing.minutes:.0f} minutes of training on {sizing.devices}",
    ]


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
