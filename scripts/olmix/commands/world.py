"""`python -m olmix world`: make the embedded world."""

import argparse
import sys

from olmix.commands.outputs import output_folder
from olmix.paths import CONFIG

HELP = "make the embedded world: a small corpus, tokenizer and task suite from a seed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix world`."""
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="folder to write"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of words and text (default: 0)")
    parser.add_argument(
        "--design",
        default=str(CONFIG / "world.yaml"),
        metavar="FILE",
        help="skills, domains and tasks (default: config/world.yaml)",
    )


def run(args: argparse.Namespace) -> int | None:
    """Build, and print the domains with what they are made of."""
    from olmix.world.build import build_world
    from olmix.world.design import WorldDesign

    record = build_world(WorldDesign.load(args.design), args.seed, args.out)
    lines = [f"{'domain':<34}{'tokens':>9}  main skills"]
    for name, domain in record["domains"].items():
        shares = sorted(domain["skills"].items(), key=lambda item: -item[1])[:4]
        main = ", ".join(f"{skill} {share:.0%}" for skill, share in shares)
        lines.append(f"{name:<34}{domain['tokens']:>9,}  {main}")
    lines.append(
        f"{len(record['domains'])} domains, {len(record['tasks'])} tasks, "
        f"{record['vocabulary']} words in {args.out}"
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return None
