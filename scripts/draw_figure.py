"""Draw one figure from one question's results: `olmix.plots.<question>.<figure>`."""

from importlib import import_module
from pathlib import Path

from olmix.captions import figure_caption
from olmix.files import write_text
from olmix.job import job_log
from olmix.plots.style import save, stamp, style


def main(
    figure: str, question: str, answer: Path, scale: str, notice: str | None, out: Path
) -> None:
    """Draw, say which scale made it and what its engine must say, save with the caption beside."""
    draw = getattr(import_module(f"olmix.plots.{question}"), figure)
    with style():
        drawn = draw(answer)
        stamp(drawn, f"scale: {scale}", notice)
        save(drawn, out)
    write_text(out.with_suffix(".rst"), figure_caption(question, figure, answer) + "\n")


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            figure=snakemake.wildcards.figure,
            question=snakemake.params.question,
            answer=Path(snakemake.input.answer),
            scale=snakemake.params.scale,
            notice=snakemake.params.notice,
            out=Path(snakemake.output.pdf),
        )
