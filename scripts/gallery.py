"""Refresh the pictures in figures/gallery, numbers.json beside them, and the README's blocks."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from olmix.files import write_json, write_text
from olmix.presentation.gallery import cost_column, refresh, result_numbers, shrink
from olmix.provenance.job import job_log
from olmix.questions.catalogue import load_questions


def question_rows(figures: Mapping[str, str], cost: Path, paper_cost: Path) -> list[dict[str, Any]]:
    """A row per question: command, figures, hours here, GPU-hours at the paper scale."""
    hours, gpu_hours = cost_column(cost, "hours"), cost_column(paper_cost, "device_hours")
    rows = []
    for name, question in load_questions().items():
        drawn = [figure for figure, of in figures.items() if of == name]
        if drawn:
            rows.append(
                {
                    "question": name,
                    "title": question.title,
                    "command": f"snakemake results/{name}/",
                    "figures": drawn,
                    "hours": hours.get(name),
                    "gpu_hours": gpu_hours.get(name),
                }
            )
    return rows


def main(
    runs: Sequence[tuple[str, int]],
    figures: Mapping[str, str],
    pictures: Iterable[Path],
    cost: Path,
    paper_cost: Path,
    out: Path,
    readme: Path,
) -> None:
    """Numbers into ``out``, pictures beside it, blocks into the README."""
    for picture in pictures:
        shrink(picture, out.parent / picture.name)
    answers = dict.fromkeys(figures.values())
    numbers = result_numbers(Path("results"), answers) | {
        "runs": dict(runs),
        "questions": question_rows(figures, cost, paper_cost),
    }
    write_json(out, numbers)
    before = readme.read_text(encoding="utf-8")
    after = refresh(before, numbers)
    if after != before:
        write_text(readme, after)
    logging.info("README.md %s", "unchanged" if after == before else "refreshed")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            runs=snakemake.params.runs,
            figures=snakemake.params.figures,
            pictures=[Path(path) for path in snakemake.input.figures],
            cost=Path(snakemake.params.cost),
            paper_cost=Path(snakemake.params.paper_cost),
            out=Path(snakemake.output.numbers),
            readme=Path(snakemake.output.readme),
        )
