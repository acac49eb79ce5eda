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
from olmix.own_text.stages import next_stage
from olmix.own_text.table import domain_table, notes
from olmix.proposers.proposal import read_mix
from olmix.study.scale import Scale, load_scale
from olmix.updates.operators import partial_reuse
from olmix.updates.sequence import UpdateSequence, load_updates
from olmix.updates.strategies import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PAPER,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
)

HELP = "find what changed in a folder of text since `init`, and write the next stage of its scale"

# What can be run from here; runs of an old swarm are not scored on new tasks.
OFFERED = (FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE, FULL_RECOMPUTATION)


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
    origin = _with_domains(origin, args.domain)
    while len(stages) > 1 and args.mix is None and not project.proposed(stages[-1].name).is_file():
        _say(f"stage '{stages[-1].name}' has no mix yet: it is written anew")
        stages.pop()
    mix = _mix_before(args, project, stages[-1])
    scale = load_scale(project.scale_file.parent, project.name)
    found = look(project, origin, args.processes)
    stage = next_stage(project, origin, stages, found, args.processes)
    _say(*stage.changes.lines(), "", *domain_table(stage), "")
    _say(*(f"note: {line}" for line in notes(found)))
    stages = [*stages, stage]
    write_updates(project, stages, origin.folder or "files by pattern")
    sequence = load_updates(project.updates_file)
    frozen = _frozen(args, sequence, stage.name)
    _say(*_costs(sequence, scale, frozen), "")
    before = project.mix(stages[-2].name)
    before.parent.mkdir(parents=True, exist_ok=True)
    if mix.resolve() != before.resolve():
        shutil.copyfile(mix, before)
    project.keep_answer(stages[-2].name)
    write_stage(project, NextStage(stage.name, stages[-2].name, frozen))
    project.save(origin, stages)
    _say(
        f"wrote stage '{stage.name}' in {project.relative(project.scale_file)} and "
        f"{project.relative(project.updates_file)}",
        f"next: snakemake mix --config scale={project.name}",
    )


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


def _frozen(args: argparse.Namespace, sequence: UpdateSequence, stage: str) -> tuple[str, ...]:
    """The domains whose ratios stay, by strategy."""
    strategy = (
        args.strategy or (PARTIAL_MIXTURE_REUSE if args.recompute else FULL_MIXTURE_REUSE).name
    )
    if args.recompute and strategy != PARTIAL_MIXTURE_REUSE.name:
        raise OlmixError(f"--recompute goes with {PARTIAL_MIXTURE_REUSE.name}, not {strategy}")
    if strategy == PARTIAL_MIXTURE_REUSE.name and not args.recompute:
        raise OlmixError(f"--strategy {strategy}: say what to recompute, with --recompute DOMAIN")
    if strategy == FULL_RECOMPUTATION.name:
        return ()
    stages = sequence.stages()
    split = partial_reuse(stages[-2].domains, stages[-1].domains, recompute=args.recompute)
    return next(iter(split.groups.values()), ())


def _costs(sequence: UpdateSequence, scale: Scale, frozen: tuple[str, ...]) -> list[str]:
    """Proxy runs of each strategy for the last update, and what was chosen."""
    c = scale["mix"]["multiplier"]
    lines = ["proxies that each strategy would train:"]
    for strategy in PAPER:
        if strategy == PARTIAL_MIXTURE_REUSE:
            continue
        planned = strategy.plan(sequence, c)[-1]
        note = " (not offered here)" if strategy == SWARM_REUSE else ""
        lines.append(
            f"  {strategy.label}: {planned.runs} for {planned.domains_recomputed} weights{note}"
        )
    domains = len(sequence.stages()[-1].domains)
    weights = domains - len(frozen) + bool(frozen)
    kept = f"{len(frozen)} domains keep their ratios" if frozen else "no ratios are kept"
    lines.append(f"chosen: {kept}, {weights if weights > 1 else 0} weights are recomputed")
    return lines


def _say(*lines: str) -> None:
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")
