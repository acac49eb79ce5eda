"""``python -m olmix reuse``: update a mix after its domains changed, recomputing few weights."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from olmix.commands.options import (
    add_method_options,
    add_request_options,
    add_seed_option,
    add_swarm_options,
    method_from,
    swarm_from,
)
from olmix.commands.outputs import output_folder
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.mix import Mix
from olmix.presentation.proposal import plot_mix
from olmix.presentation.proposal_report import gain_lines, mix_table, write_mix_csv
from olmix.proposers.proposal import Proposal, read_mix
from olmix.regressors.base import Regressor
from olmix.swarm.domain_file import prior_from
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
from olmix.tables import SwarmTable, scale_metrics, write_table
from olmix.tasks import families_of
from olmix.updates.auto_reuse import AutoChoice, choose_reuse, join_swarms, probe_size
from olmix.updates.collapse import Collapse
from olmix.updates.operators import Update, full_reuse, infer_update, partial_reuse
from olmix.updates.planning import swarm_size
from olmix.updates.reuse import carry_swarm, collapse_swarm, keep_ratios, propose_with_reuse

HELP = "update an existing mix after domains were added, removed, partitioned or revised"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: the update, what to recompute, and the swarm once it is trained."""
    update = parser.add_argument_group("update")
    update.add_argument(
        "--mix", type=Path, required=True, metavar="JSON",
        help="existing mix: a mix.json of `fit`, or {domain: weight}",
    )  # fmt: skip
    update.add_argument(
        "--from", dest="before", type=Path, required=True, metavar="FILE",
        help="domains before the update: JSON or YAML with token_counts",
    )  # fmt: skip
    update.add_argument(
        "--to", dest="after", type=Path, required=True, metavar="FILE",
        help="domains after the update; a changed token count means revised",
    )  # fmt: skip
    update.add_argument(
        "--partition", action="append", default=[], metavar="WHOLE=PART,PART",
        help="new domains that are parts of an old one; may be repeated (default: none)",
    )  # fmt: skip
    choice = parser.add_argument_group("what to recompute besides the affected domains")
    choice.add_argument(
        "--recompute", nargs="+", default=[], metavar="DOMAIN",
        help="unaffected domains to recompute too: partial reuse (default: none, full reuse)",
    )  # fmt: skip
    choice.add_argument(
        "--reuse-within", nargs="+", default=[], metavar="SOURCE",
        help="freeze ratios only inside these sources (default: all unaffected domains together)",
    )  # fmt: skip
    choice.add_argument(
        "--auto", action="store_true",
        help="choose by the coupling κ: needs --old-ratios, --old-metrics, and the probe swarm as "
        "--ratios, --metrics",
    )  # fmt: skip
    choice.add_argument(
        "--budget", type=int, metavar="RUNS", help="with --auto: proxy runs this update may cost"
    )
    choice.add_argument("--old-ratios", type=Path, metavar="CSV", help="with --auto: old swarm")
    choice.add_argument("--old-metrics", type=Path, metavar="CSV", help="with --auto: old swarm")
    choice.add_argument(
        "--c", type=int, default=3, help="swarm size: about c(m+1) runs (default: 3)"
    )
    add_swarm_options(parser, required=False)
    add_method_options(parser)
    add_request_options(parser)
    add_seed_option(parser)
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="where to write"
    )


def run(args: argparse.Namespace) -> None:
    """Write the runs to train, or, once there is a swarm of them, the updated mix."""
    if (args.ratios is None) != (args.metrics is None):
        raise OlmixError("--ratios and --metrics go together")
    before, after = DomainSet.load(args.before), DomainSet.load(args.after)
    update = infer_update(before, after, _partitions(args.partition))
    after = update.apply(before)
    existing = read_mix(args.mix)
    prior = prior_from(args.after, after)
    if args.auto:
        _run_auto(args, before, after, update, existing, prior)
        return
    split = partial_reuse(before, after, recompute=args.recompute, reuse_within=args.reuse_within)
    collapse = Collapse(after, split, existing)
    runs = swarm_size(split.dimension, args.c)
    if not runs:
        limits = {"repetition": args.repetition, "requested": args.target_tokens}
        _write_answer(args, keep_ratios(collapse, **limits), collapse)
        return
    # Caps that no mix can meet are refused here: before the runs are trained, not after.
    request = collapse.request(
        kl=args.kl, repetition=args.repetition, requested=args.target_tokens, prior=prior
    )
    if args.ratios is None:
        _write_runs(args, collapse, prior, runs)
        return
    swarm, families = swarm_from(args)
    swarm = collapse_swarm(swarm, collapse)
    proposal = propose_with_reuse(
        swarm, collapse, request, method_from(args), seed=args.seed, families=families
    )
    _write_answer(args, proposal, collapse)


def _partitions(options: list[str]) -> dict[str, list[str]]:
    partitions = {}
    for option in options:
        whole, equals, parts = option.partition("=")
        if not (whole and equals and parts):
            raise OlmixError(f"--partition {option!r}: expected WHOLE=PART,PART")
        partitions[whole] = parts.split(",")
    return partitions


def _write_runs(
    args: argparse.Namespace, collapse: Collapse, prior: Mix, runs: int, *, probe: bool = False
) -> None:
    """Sample the swarm to train: mixes over all domains, and their collapsed form.

    A probe's runs and files have names of their own, as it is later joined with the other runs.
    """
    swarm = sample_swarm(
        collapse.collapse(prior), runs, seed=args.seed, distribution=SwarmDistribution("dense")
    )
    names = [f"{'probe' if probe else 'run'}-{index:04d}" for index in range(runs)]
    prefix = "probe_" if probe else ""
    ratios = args.out / f"{prefix}ratios.csv"
    write_table(args.out / f"{prefix}collapsed_ratios.csv", names, collapse.names, swarm.mixes)
    expanded = swarm.mixes @ collapse.expansion
    write_table(ratios, names, collapse.domains.names, expanded)
    write_json(args.out / "split.json", collapse.split.to_dict())
    sys.stdout.write(
        f"{collapse.split.dimension} weights to recompute: train {runs} proxies on the mixes in "
        f"{ratios},\nthen call again with --ratios and --metrics of those runs\n"
    )


def _run_auto(
    args: argparse.Namespace,
    before: DomainSet,
    after: DomainSet,
    update: Update,
    existing: Mix,
    prior: Mix,
) -> None:
    """Probe first; with the probe trained, choose what to recompute and write the runs to train."""
    for option in ("old_ratios", "old_metrics", "budget"):
        if getattr(args, option) is None:
            raise OlmixError(f"--auto needs --{option.replace('_', '-')}")
    if args.recompute or args.reuse_within:
        raise OlmixError("--auto chooses what to recompute: leave out --recompute, --reuse-within")
    if not probe_size(before, after):
        raise OlmixError("--auto: nothing is affected that a probe could run on; leave out --auto")
    full = Collapse(after, full_reuse(before, after), existing)
    if args.ratios is None:
        _write_runs(args, full, prior, probe_size(before, after), probe=True)
        return
    probe = collapse_swarm(_unscaled(args, args.ratios, args.metrics), full)
    probe = replace(probe, domains=after.names, mixes=probe.mixes @ full.expansion)
    old = carry_swarm(_unscaled(args, args.old_ratios, args.old_metrics), update, before)
    joined = join_swarms(old.select_tasks(probe.tasks), probe)
    joined = scale_metrics(joined) if args.scale_metrics else joined
    choice = choose_reuse(
        joined, before, after, budget=args.budget, c=args.c, model=_law(args, joined)
    )
    sys.stdout.write("\n".join(choice.explain()) + "\n")
    _write_auto_runs(args, choice, Collapse(after, choice.split, existing), probe, prior)


def _unscaled(args: argparse.Namespace, ratios: Path, metrics: Path) -> SwarmTable:
    """One of the two swarms of --auto, read alike; they are scaled together, not each by itself."""
    values = vars(args) | {"ratios": ratios, "metrics": metrics, "scale_metrics": False}
    return swarm_from(argparse.Namespace(**values))[0]


def _law(args: argparse.Namespace, swarm: SwarmTable) -> Regressor | None:
    """The method's own law of all domains, where it has the form that κ is known of."""
    law = method_from(args).fit(swarm, families_of(swarm.tasks)).regressor
    return law if law.terms() else None


def _write_auto_runs(
    args: argparse.Namespace, choice: AutoChoice, collapse: Collapse, probe: SwarmTable, prior: Mix
) -> None:
    """Write the runs that are missing beside the probe's, which fit the chosen split already."""
    rest = choice.runs - len(probe)
    recompute = " ".join(step.domain for step in choice.steps)
    if rest > 0:
        _write_runs(args, collapse, prior, rest)
    write_json(args.out / "split.json", choice.to_dict())
    again = f" --recompute {recompute}" if recompute else ""
    sys.stdout.write(f"the final call is without --auto, on probe and new runs together:{again}\n")


def _write_answer(args: argparse.Namespace, proposal: Proposal, collapse: Collapse) -> None:
    natural = collapse.domains.natural()
    proposal.save(args.out / "mix.json")
    write_mix_csv(args.out / "mix.csv", proposal, natural, None)
    plot_mix(args.out / "mix.pdf", proposal, natural, None, f"reuse of {args.mix.name}")
    groups = ", ".join(f"{name} ({len(m)})" for name, m in collapse.split.groups.items())
    lines = [f"frozen: {groups}; recomputed: {len(collapse.split.recomputed)} domains", ""]
    lines += [*mix_table(proposal, natural, None), "", *gain_lines(proposal, None, None)]
    lines.append(f"written to {args.out}: mix.json, mix.csv and a figure")
    sys.stdout.write("\n".join(lines) + "\n")
