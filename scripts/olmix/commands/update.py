"""``python -m olmix update``: see what changed in one's own text, and write the next stage."""

import argparse
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from olmix.errors import OlmixError
from olmix.own_text.naming import matching_patterns
from olmix.own_text.prepare import look
from olmix.own_text.project import Origin, Project, StageRecord
from olmix.own_text.scale_file import NextStage, write_stage, write_updates
from olmix.own_text.stages import NothingChangedError, next_stage
from olmix.own_text.strategy_costs import OFFERED, cost_lines
from olmix.own_text.table import domain_table, notes
from olmix.proposers.proposal import read_mix
from olmix.study.scale import load_scale
from olmix.updates.sequence import load_updates
from olmix.updates.strategies import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
)

HELP = "find what changed in a folder of text since `init`, and write the next stage of its scale"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("name", help="the scale that `init` wrote, such as mine")
    parser.add_argument(
        "--strategy", choices=[strategy.name for strategy in OFFERED],
        help=f"what is trained again (default: {FULL_MIXTURE_REUSE.name}, or with --recompute "
        f"{PARTIAL_MIXTURE_REUSE.name})",
    )  # fmt: skip
    parser.add_argument(
        "--recompute", nargs="+", default=[], metavar="DOMAIN",
        help="unchanged domains to recompute with those that changed: partial reuse",
    )  # fmt: skip
    parser.add_argument(
        "--domain", action="append", default=[], metavar="NAME=GLOB",
        help="a new domain and its files, where `init` was given patterns; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--mix", type=Path, metavar="JSON",
        help="the mix to go on from (default: the one `snakemake mix` proposed last)",
    )  # fmt: skip
    parser.add_argument(
        "--processes", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
        help="files read at once (default: the %(default)s cores of this machine)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Look, say what changed and what each strategy would cost, write the next stage."""
    project = Project(args.name)
    origin, stages = project.load()
    _check(args)
    origin = _with_domains(origin, args.domain)
    unfinished = []
    while len(stages) > 1 and args.mix is None and not project.proposed(stages[-1].name).is_file():
        unfinished.append(stages.pop().name)
        _say(f"stage '{unfinished[-1]}' has no mix yet: it is written anew")
    mix = _mix_before(args, project, stages[-1])
    found = look(project, origin, args.processes)
    try:
        stage = next_stage(project, origin, stages, found, args.processes)
    except NothingChangedError as unchanged:
        if not unfinished:
            raise
        _write(project, origin, stages)
        _say(f"{unchanged}; what was written of '{unfinished[-1]}' is taken back")
        return
    frozen = _frozen(args, stage)
    _say(*stage.changes.lines(), "", *domain_table(stage), "")
    _say(*(f"note: {line}" for line in notes(found, origin)))
    _keep(project, stages[-1].name, mix)
    _write(project, origin, [*stages, replace(stage, frozen=frozen)])
    scale = load_scale(project.scale_file.parent, project.name)
    sequence = load_updates(project.updates_file)
    _say(*cost_lines(sequence, scale, args.recompute), _chosen(stage, frozen), "")
    _say(
        f"wrote stage '{stage.name}' in {project.relative(project.scale_file)} and "
        f"{project.relative(project.updates_file)}",
        f"next: snakemake mix --config scale={project.name}",
    )


def _check(args: argparse.Namespace) -> None:
    """Refuse at once options that do not go together."""
    partial = PARTIAL_MIXTURE_REUSE.name
    if args.recompute and args.strategy not in (None, partial):
        raise OlmixError(f"--recompute goes with {partial}, not {args.strategy}")
    if args.strategy == partial and not args.recompute:
        raise OlmixError(f"--strategy {partial}: say what to recompute, with --recompute DOMAIN")


def _with_domains(origin: Origin, options: list[str]) -> Origin:
    """Where the text is, with new patterns; a name that is known gets the new ones."""
    if options and origin.folder is not None:
        raise OlmixError(f"--domain: the text is in {origin.folder}, put a sub-folder there")
    return replace(origin, patterns=origin.patterns | matching_patterns(options))


def _mix_before(args: argparse.Namespace, project: Project, stage: StageRecord) -> Path:
    """The mix that the next stage goes on from, which must be over the domains of the last."""
    path = args.mix or project.proposed(stage.name)
    if not path.is_file():
        raise OlmixError(
            f"{path}: no such file; run `snakemake mix --config scale={project.name}` for stage "
            f"'{stage.name}' first, or give the mix you use with --mix"
        )
    odd = set(read_mix(path).names) ^ set(stage.tokens)
    if odd:
        raise OlmixError(
            f"{path}: is over other domains than stage '{stage.name}', such as '{min(odd)}'"
        )
    return path


def _frozen(args: argparse.Namespace, stage: StageRecord) -> list[str]:
    """The domains whose ratios stay, by strategy: those that did not change, or some of them."""
    unchanged = {*stage.changes.unchanged, *stage.changes.renamed.values()}
    for name in args.recompute:
        if name not in unchanged:
            why = "is recomputed anyway" if name in stage.tokens else "is no domain"
            raise OlmixError(
                f"--recompute {name}: {why}, expected one of {', '.join(sorted(unchanged))}"
            )
    if args.strategy == FULL_RECOMPUTATION.name:
        return []
    return [name for name in stage.tokens if name in unchanged - set(args.recompute)]


def _chosen(stage: StageRecord, frozen: list[str]) -> str:
    weights = len(stage.tokens) - len(frozen) + bool(frozen)
    kept = f"{len(frozen)} domains keep their ratios" if frozen else "no ratios are kept"
    return f"chosen: {kept}, {weights if weights > 1 else 0} weights are recomputed"


def _keep(project: Project, stage: str, mix: Path) -> None:
    """Put the mix that a stage ended with, and its answer, where the next one leaves them."""
    kept = project.mix(stage)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if mix.resolve() != kept.resolve():
        shutil.copyfile(mix, kept)
    project.keep_answer(stage)


def _write(project: Project, origin: Origin, stages: list[StageRecord]) -> None:
    """Write all files for the last of some stages; the record last, so that a half is noticed."""
    write_updates(project, stages, origin.folder or "files by pattern")
    previous = stages[-2].name if len(stages) > 1 else None
    write_stage(project, NextStage(stages[-1].name, previous, stages[-1].frozen))
    project.save(origin, stages)


def _say(*lines: str) -> None:
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")
