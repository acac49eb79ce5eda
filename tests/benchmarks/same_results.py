"""Are two folders of results the same to the last digit? For changes that should change no number.

``python tests/benchmarks/same_results.py BEFORE AFTER`` compares every table and every JSON file of
two ``results/`` folders of one scale, made on one machine: training rounds differently on another
processor, so no hash of these numbers can be kept in the repository. What says when and where it
was made (provenance, logs, times) is left out. What only one of them has is listed, not judged.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

# Folders and files that differ from run to run, or hold no numbers of the study.
LEFT_OUT = {"benchmarks", "cost", "logs", "report", "runs", "state"}
LEFT_OUT |= {"progress.json", "provenance.json"}
# Settings of single runs: what they give is compared, and their folders have hashes for names.
LEFT_OUT |= {"list_runs", "train_proxies", "train_targets"}


def results(folder: Path) -> dict[str, Path]:
    """The tables and JSON files of a folder, by their path in it."""
    found = [*folder.rglob("*.csv"), *folder.rglob("*.json")]
    inside = {str(path.relative_to(folder)): path for path in found}
    return {name: path for name, path in inside.items() if not LEFT_OUT & set(Path(name).parts)}


def read(path: Path) -> Any:
    """A file's values: rows of text, or JSON."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file)) if path.suffix == ".csv" else json.load(file)


def difference(one: Any, other: Any, where: str = "") -> str | None:
    """The first place where two values differ; a key of one only, or provenance, is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        shared = [key for key in one if key in other and key != "provenance"]
        found = (difference(one[key], other[key], f"{where}/{key}") for key in shared)
        return next((text for text in found if text), None)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        found = (difference(a, b, f"{where}[{number}]") for number, (a, b) in pairs)
        return next((text for text in found if text), None)
    return None if one == other else f"{where or 'whole'}: {one!r:.80} became {other!r:.80}"


def main(before: Path, after: Path) -> int:
    """Print what differs and return how many files do."""
    old, new = results(before), results(after)
    both = [name for name in old if name in new]
    found = {name: difference(read(old[name]), read(new[name])) for name in sorted(both)}
    different = {name: text for name, text in found.items() if text}
    for name, text in different.items():
        print(f"{name} {text}")
    for label, names in (("gone", set(old) - set(new)), ("new", set(new) - set(old))):
        for name in sorted(names):
            print(f"{label}: {name}")
    print(f"{len(both)} files in both, {len(different)} of them different")
    return len(different)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__)
    else:
        sys.exit(bool(main(Path(sys.argv[1]), Path(sys.argv[2]))))
