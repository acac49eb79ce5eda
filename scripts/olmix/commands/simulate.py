"""``python -m olmix simulate``: a swarm from a known law, to try things on."""

import argparse
import math
import sys
from pathlib import Path

from olmix.commands.options import seed_number
from olmix.commands.outputs import output_folder
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.paths import CONFIG
from olmix.simulation.law import random_law
from olmix.swarm.sampling import SwarmDistribution, sample_swarm
from olmix.tables import write_table

HELP = "write a swarm whose true law is known (no training), to try `fit` on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: domains, sizes and a seed."""
    parser.add_argument(
        "--domains", type=Path, default=CONFIG / "domains" / "paper.yaml", metavar="FILE",
        help="domain file (default: the paper's 65 domains)",
    )  # fmt: skip
    parser.add_argument(
        "--source", metavar="SOURCE", help="only the domains of one source, such as dclm"
    )
    parser.add_argument("--runs", type=int, default=128, help="swarm size (default: 128)")
    parser.add_argument("--tasks", type=int, default=12, help="number of tasks (default: 12)")
    parser.add_argument(
        "--noise", type=float, default=0.05, help="noise of a run in BPB (default: 0.05)"
    )
    parser.add_argument(
        "--kind", choices=("sparse", "dense"), default="sparse", help="swarm (default: sparse)"
    )
    parser.add_argument(
        "--seed", type=seed_number, default=0, help="seed of law and swarm (default: 0)"
    )
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="where to write"
    )


def run(args: argparse.Namespace) -> None:
    """Write ratios.csv, metrics.csv, domains.json and law.json."""
    if args.tasks < 1:
        raise OlmixError(f"--tasks {args.tasks}: expected 1 or more")
    if not 0 <= args.noise < math.inf:
        raise OlmixError(f"--noise {args.noise}: expected a finite number of 0 or more")
    domains = DomainSet.load(args.domains)
    if args.source:
        members = domains.of_source(args.source)
        if not members:
            raise OlmixError(
                f"--source {args.source!r}: expected one of {', '.join(domains.sources)}"
            )
        domains = DomainSet(members)
    tasks = [f"task_{number:02d}" for number in range(args.tasks)]
    law = random_law(domains, tasks, seed=args.seed, noise=args.noise)
    swarm = sample_swarm(
        domains.natural(), args.runs, seed=args.seed, distribution=SwarmDistribution(args.kind)
    )
    names = [f"run-{index:04d}" for index in range(args.runs)]
    table = law.run_swarm(swarm.mixes, names, args.seed)
    counts = {domain.name: domain.tokens for domain in domains}
    write_table(args.out / "ratios.csv", names, domains.names, swarm.mixes)
    write_table(args.out / "metrics.csv", names, tasks, table.metrics)
    write_json(args.out / "domains.json", {"token_counts": counts})
    write_json(args.out / "law.json", law.to_dict())
    sys.stdout.write(
        f"{args.runs} simulated runs over {len(domains)} domains and {len(tasks)} tasks in "
        f"{args.out}\n"
    )
