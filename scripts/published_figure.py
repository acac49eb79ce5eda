"""Draw one figure of the released swarms: `olmix.plots.published.<figure>`."""

from pathlib import Path

from olmix.captions import figure_caption
from olmix.files import write_text
from olmix.job import job_log
from olmix.plots import published
from olmix.plots.style import save, stamp, style


def main(figure: str, results: Path, out: Path) -> None:
    """Draw, say what it was made from, save as PDF and PNG, with the caption beside them."""
    with style():
        drawn = getattr(published, figure)(results)
        stamp(drawn, "released swarms")
        save(drawn, out)
    caption = figure_caption("published", figure, results / "published_table")
    write_text(out.with_suffix(".rst"), caption + "\n")


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            figure=snakemake.wildcards.released,
            results=Path(snakemake.input.table).parent,
            out=Path(snakemake.output.pdf),
        )
