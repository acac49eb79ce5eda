"""Draw one figure of the released swarms: `olmix.published.figures.<figure>`."""

from pathlib import Path
from typing import Any

from olmix.files import write_text
from olmix.presentation.captions import figure_caption
from olmix.presentation.style import save, stamp, style
from olmix.provenance.job import job_log
from olmix.published import figures


def main(figure: str, results: Path, out: Path) -> None:
    """Draw, say what it was made from, save as PDF and PNG, with the caption beside them."""
    with style():
        drawn = getattr(figures, figure)(results)
        stamp(drawn, "released swarms")
        save(drawn, out)
    caption = figure_caption("published", figure, results / "published_table")
    write_text(out.with_suffix(".rst"), caption + "\n")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            figure=snakemake.wildcards.released,
            results=Path(snakemake.input.table).parent,
            out=Path(snakemake.output.pdf),
        )
