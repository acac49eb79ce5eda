"""Give the finished runs of a job their place in the results: one folder per run, by name.

The files are links to the store of runs, so they take no space, and the store keeps a run when the
workflow deletes the outputs of a failed job. It also tells the job's log what the runs were made
with, which the other scripts do by opening their log.
"""

import argparse
import os
import sys
from pathlib import Path

from olmix.environment import environment_line
from olmix.errors import OlmixError
from olmix.files import read_json

REQUIRED = ("weights.safetensors", "run.json")
OPTIONAL = ("eval.json",)


def main(runs: Path, out: Path) -> None:
    """Link every run that ``runs`` lists into ``out``."""
    for entry in read_json(runs):
        folder = runs.parent / entry["folder"]
        for name in REQUIRED:
            if not (folder / name).is_file():
                raise OlmixError(f"{folder}: run '{entry['names'][0]}' is not finished, no {name}")
        for run in entry["names"]:
            place = out / run
            place.mkdir(parents=True, exist_ok=True)
            for name in REQUIRED + OPTIONAL:
                (place / name).unlink(missing_ok=True)
                if (folder / name).is_file():
                    os.link(folder / name, place / name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, help="list of a job's runs")
    parser.add_argument("--out", type=Path, required=True, help="folder that gets a folder per run")
    arguments = parser.parse_args()
    sys.stdout.write(environment_line() + "\n")
    main(arguments.runs, arguments.out)
