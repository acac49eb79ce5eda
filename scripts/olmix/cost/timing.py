"""Where a study's time went, from the benchmark files of its jobs."""

import csv
from collections import defaultdict
from pathlib import Path

__all__ = ["job_seconds", "time_lines"]

# Rules whose time is the study's work itself; all else is what the workflow adds to it.
WORK = {
    "training": ("train_proxies", "train_targets"),
    "evaluating": ("evaluate_proxies", "evaluate_targets"),
    "fitting": ("fit_models", "propose_mixes", "choose_recomputed", "update_mixes"),
    "answering": ("rq", "methods", "updates", "budgets", "operators", "theory"),
}


def job_seconds(folder: str | Path) -> dict[str, list[float]]:
    """Seconds of every job by rule, from ``<folder>/<rule>/.../<job>.tsv`` or ``<rule>.tsv``."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for path in sorted(Path(folder).rglob("*.tsv")):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        with path.open(newline="", encoding="utf-8") as file:
            seconds[rule] += [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
    return dict(seconds)


def _kind(rule: str) -> str:
    for kind, rules in WORK.items():
        if rule in rules or (kind == "answering" and rule.startswith("rq")):
            return kind
    return "workflow"


def time_lines(folder: str | Path) -> list[str]:
    """A table of rules by seconds, then the share of each kind of work."""
    seconds = job_seconds(folder)
    if not seconds:
        return [f"no benchmark files in {folder}: nothing has run yet"]
    total = sum(sum(values) for values in seconds.values())
    lines = [f"{'rule':<20} {'jobs':>5} {'seconds':>9} {'share':>7}"]
    for rule, values in sorted(seconds.items(), key=lambda item: -sum(item[1])):
        lines.append(f"{rule:<20} {len(values):>5} {sum(values):>9.1f} {sum(values) / total:>7.1%}")
    kinds: dict[str, float] = defaultdict(float)
    for rule, values in seconds.items():
        kinds[_kind(rule)] += sum(values)
    lines.append("")
    lines += [f"{kind:<20} {kinds[kind]:>15.1f} {kinds[kind] / total:>7.1%}" for kind in kinds]
    return lines
