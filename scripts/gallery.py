"""Refresh figures/gallery, numbers.json in it, codecheck.yml, the blocks of README.md and docs/."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from olmix.files import write_json, write_text
from olmix.presentation.blocks import refresh
from olmix.presentation.codecheck import codecheck
from olmix.presentation.gallery import cost_column, result_numbers, shrink, time_spent
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
    benchmarks: Path,
    citation: Path,
    out: Path,
    manifest: Path,
    pages: Iterable[Path],
) -> None:
    """Write numbers, pictures beside them, the manifest of outputs, and the blocks of pages."""
    for picture in pictures:
        shrink(picture, out.parent / picture.name)
    answers = dict.fromkeys(figures.values())
    numbers = result_numbers(Path("results"), answers) | {
        "runs": dict(runs),
        "questions": question_rows(figures, cost, paper_cost),
        "time": time_spent(benchmarks),
    }
    write_json(out, numbers)
    cited = yaml.safe_load(citation.read_text(encoding="utf-8"))
    write_text(manifest, codecheck(cited, numbers["questions"]))
    for page in pages:
        before = page.read_text(encoding="utf-8")
        after = refresh(before, numbers, page.name)
        if after != before:
            write_text(page, after)
        logging.info("%s %s", page, "unchanged" if after == before else "refreshed")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            runs=snakemake.params.runs,
            figures=snakemake.params.figures,
            pictures=[Path(path) for path in snakemake.input.figures],
            cost=Path(snakemake.params.cost),
            paper_cost=Path(snakemake.params.paper_cost),
            benchmarks=Path(snakemake.params.benchmarks),
            citation=Path(snakemake.input.citation),
            out=Path(snakemake.output.numbers),
            manifest=Path(snakemake.output.manifest),
            pages=[Path(page) for page in snakemake.output.pages],
        )
