"""Draw one figure from one question's results: `olmix.questions.<question>.figures.<figure>`."""

from importlib import import_module
from pathlib import Path
from typing import Any

from olmix.files import write_text
from olmix.presentation.captions import figure_caption, notes
from olmix.presentation.style import save, stamp, style
from olmix.provenance.job import job_log


def main(
    figure: str, question: str, answer: Path, scale: str, notice: str | None, out: Path
) -> None:
    """Draw, say which scale made it and what its engine must say, save with the caption beside."""
    draw = getattr(import_module(f"olmix.questions.{question}.figures"), figure)
    with style():
        drawn = draw(answer)
        stamp(drawn, "\n".join([*notes(answer), f"scale: {scale}"]), notice)
        save(drawn, out)
    write_text(out.with_suffix(".rst"), figure_caption(question, figure, answer) + "\n")


snakemake: Any  # what the workflow tells the job

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
