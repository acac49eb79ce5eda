"""Write every table of a question as a page of the report, with its caption beside it."""

from pathlib import Path
from typing import Any

from olmix.files import read_json, write_text
from olmix.presentation.captions import table_caption
from olmix.presentation.report.pages import table_page, tables_of
from olmix.provenance.job import job_log


def main(question: str, answer: Path, out: Path) -> None:
    """Write ``<table>.html`` and ``<table>.rst`` into ``out``."""
    record = answer / "provenance.json"
    provenance = read_json(record) if record.is_file() else {}
    for path in tables_of(answer):
        caption = table_caption(question, path.stem, answer)
        write_text(out / f"{path.stem}.rst", caption + "\n")
        write_text(out / f"{path.stem}.html", table_page(path, caption, provenance))


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            question=snakemake.wildcards.question,
            answer=Path(snakemake.input.answer),
            out=Path(snakemake.output.pages),
        )
