"""Refresh the pictures in figures/gallery, numbers.json beside them, and the README's blocks."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from olmix.files import write_json, write_text
from olmix.gallery import gpu_hours, refresh, result_numbers, shrink
from olmix.job import job_log
from olmix.report.categories import CATEGORIES
from olmix.study.timing import job_minutes

CORES = 2


def question_rows(timed: str, figures: Mapping[str, str], cost: Path) -> list[dict[str, Any]]:
    """A row per question: command, figures, minutes at a scale, GPU-hours at the paper scale."""
    hours = gpu_hours(cost)
    rows = []
    for question in CATEGORIES:
        drawn = [figure for figure, of in figures.items() if of == question]
        if not drawn:
            continue
        minutes = job_minutes(f"results/{question}", timed)
        rows.append(
            {
                "question": question,
                "title": CATEGORIES[question],
                "command": f"snakemake results/{question}/",
                "figures": drawn,
                "minutes": None if minutes is None else minutes / CORES,
                "gpu_hours": hours.get(question),
            }
        )
    return rows


def main(
    timed: str,
    runs: Sequence[tuple[str, int]],
    figures: Mapping[str, str],
    pictures: Iterable[Path],
    cost: Path,
    readme: Path,
) -> None:
    """Pictures and numbers into figures/gallery, blocks into the README."""
    gallery = Path("figures/gallery")
    for picture in pictures:
        shrink(picture, gallery / picture.name)
    answers = dict.fromkeys(figures.values())
    numbers = result_numbers(Path("results"), answers) | {
        "runs": dict(runs),
        "questions": question_rows(timed, figures, cost),
    }
    write_json(gallery / "numbers.json", numbers)
    before = readme.read_text(encoding="utf-8")
    after = refresh(before, numbers)
    if after != before:
        write_text(readme, after)
    logging.info("README.md %s", "unchanged" if after == before else "refreshed")


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            timed=snakemake.params.timed,
            runs=snakemake.params.runs,
            figures=snakemake.params.figures,
            pictures=[Path(path) for path in snakemake.input.figures],
            cost=Path(snakemake.params.cost),
            readme=Path("README.md"),
        )
