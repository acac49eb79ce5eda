"""``python -m olmix plan``: how many proxy runs an update needs under each strategy."""

import argparse
import csv
from pathlib import Path

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import replacing
from olmix.updates.operators import Add, Partition, Remove, Revise, Update, infer_update
from olmix.updates.planning import StagePlan
from olmix.updates.sequence import INITIAL, Step, UpdateSequence, load_updates
from olmix.updates.strategies import PAPER, PARTIAL_MIXTURE_REUSE, strategy_of

HELP = "count the proxy runs that updates of a domain set need under each strategy"

# Per strategy and c, the cost of each stage.
Plans = dict[str, dict[int, list[StagePlan]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare two ways in: a file of updates, or the domains before and after one update."""
    parser.add_argument(
        "--updates", type=Path, metavar="YAML", help="file of updates, as config/updates/paper.yaml"
    )
    parser.add_argument(
        "--from",
        dest="before",
        type=Path,
        metavar="FILE",
        help="instead of --updates: domain file (.json or .yaml) before the update",
    )
    parser.add_argument(
        "--to", dest="after", type=Path, metavar="FILE", help="with --from: domain file after it"
    )
    parser.add_argument(
        "--partition",
        action="append",
        default=[],
        metavar="WHOLE=PART1,PART2",
        help="with --from and --to: new domains that are parts of an old one; may be repeated "
        "(default: none, a missing name is a removed domain and a new one an added domain)",
    )
    parser.add_argument(
        "--recompute",
        nargs="+",
        default=[],
        metavar="DOMAIN",
        help="with --from and --to: unaffected domains that partial mixture reuse recomputes "
        "(default: none)",
    )
    parser.add_argument(
        "--reuse-within",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="with --from and --to: sources inside which partial mixture reuse freezes ratios "
        "(default: all unaffected domains together)",
    )
    parser.add_argument(
        "--c",
        nargs="+",
        type=int,
        default=[1, 2, 3],
        help="multipliers: about c(m+1) runs for m domains (default: 1 2 3)",
    )
    parser.add_argument(
        "--strategy",
        nargs="+",
        choices=[s.name for s in PAPER],
        help="strategies to show (default: all)",
    )
    parser.add_argument("--csv", type=Path, help="also write the numbers to this file")


def run(args: argparse.Namespace) -> None:
    """Print a table per strategy: stage by c, with totals."""
    sequence = _sequence(args)
    single = args.updates is None
    partial = bool(sequence.reuse_within) or any(step.recompute for step in sequence.steps)
    shown = [strategy for strategy in PAPER if partial or strategy != PARTIAL_MIXTURE_REUSE]
    strategies = [strategy_of(name) for name in args.strategy or ()] or shown
    plans: Plans = {s.name: {c: s.plan(sequence, c) for c in args.c} for s in strategies}
    if single:
        print(f"update: {_describe(sequence.steps[0].update)}")
        print("Runs already made for the domains before it are not counted; swarm reuse takes")
        print("them to be a swarm of the same c, with weight on every domain.")
        plans = {s: {c: rows[1:] for c, rows in by_c.items()} for s, by_c in plans.items()}
    for strategy, by_c in plans.items():
        print(f"\n{strategy.replace('_', ' ')}")
        print("\n".join(_table(by_c)))
    if PARTIAL_MIXTURE_REUSE.name not in plans and not args.strategy:
        print("\npartial mixture reuse: same as full, as nothing says what to recompute besides")
        print("(recompute, reuse_within)")
    if args.csv is not None:
        _write_csv(args.csv, plans)
        print(f"\nwrote {args.csv}")


def _sequence(args: argparse.Namespace) -> UpdateSequence:
    """The updates to plan for, from either way in."""
    pair = args.before is not None and args.after is not None
    neither = args.before is None and args.after is None
    if args.updates is not None and neither:
        if args.partition or args.recompute or args.reuse_within:
            raise OlmixError(
                "plan: --partition, --recompute and --reuse-within go with --from and --to; "
                f"with --updates they are keys of {args.updates}"
            )
        return load_updates(args.updates)
    if args.updates is not None or not pair:
        raise OlmixError("plan: expected either --updates FILE, or both --from FILE and --to FILE")
    before, after = DomainSet.load(args.before), DomainSet.load(args.after)
    update = infer_update(before, after, dict(_partition(text) for text in args.partition))
    step = Step("update", update, tuple(args.recompute))
    return UpdateSequence(before, (step,), tuple(args.reuse_within))


def _partition(text: str) -> tuple[str, list[str]]:
    whole, equals, parts = text.partition("=")
    if not whole or not equals or not parts:
        raise OlmixError(f"plan: --partition {text!r}, expected WHOLE=PART1,PART2")
    return whole, parts.split(",")


def _describe(update: Update) -> str:
    """The operators of an update in words."""
    words = []
    for operator in update.operators:
        match operator:
            case Add(domains):
                words.append(f"add {', '.join(domain.name for domain in domains)}")
            case Remove(names):
                words.append(f"remove {', '.join(names)}")
            case Partition(whole, parts):
                words.append(f"partition {whole} into {len(parts)}")
            case Revise(name):
                words.append(f"revise {name}")
    return "; ".join(words)


def _table(by_c: dict[int, list[StagePlan]]) -> list[str]:
    """The lines of one strategy's table: runs by stage and c."""
    columns = list(by_c.values())
    stages = [row.stage for row in columns[0]]
    width = max(len(stage) for stage in [*stages, INITIAL])
    lines = [f"  {'stage':<{width}}  domains" + "".join(f"  {f'c={c}':>6}" for c in by_c)]
    for rows in zip(*columns, strict=True):
        runs = "".join(f"  {row.runs:>6}" for row in rows)
        lines.append(f"  {rows[0].stage:<{width}}  {rows[0].domains_recomputed:>7}{runs}")
    if len(stages) > 1:
        totals = "".join(f"  {sum(row.runs for row in rows):>6}" for rows in columns)
        lines.append(f"  {'total':<{width}}  {'':>7}{totals}")
    return lines


def _write_csv(path: Path, plans: Plans) -> None:
    """Write the plan as CSV: one line per strategy, c and stage."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["strategy", "c", "stage", "domains_recomputed", "runs"])
        for strategy, by_c in plans.items():
            for c, rows in by_c.items():
                for row in rows:
                    writer.writerow([strategy, c, row.stage, row.domains_recomputed, row.runs])
