"""Judge the paper's claims by what was measured here: tables, a document, a picture."""

from pathlib import Path
from typing import Any

import pandas as pd

from olmix.claims.board import compare_repetitions, in_markdown, judge, verdicts
from olmix.claims.evidence import Evidence
from olmix.claims.figures import scoreboard
from olmix.claims.settings import load_claims
from olmix.files import replacing, write_text
from olmix.presentation.captions import figure_caption
from olmix.presentation.style import save, stamp, style
from olmix.provenance.job import job_log


def main(
    rules: Path,
    only: str | None,
    results: Path,
    repetitions: list[Path],
    scale: str,
    notice: str | None,
    out: dict[str, str],
) -> None:
    """Write the board of a scale; ``repetitions`` are the verdicts of other grounds.

    Those of a scale are in its results, kept ones in a folder ``grounds`` under their name.
    """
    settings = load_claims(rules)
    board, estimates = judge(settings.only(only), Evidence(results, settings.confidence))
    _write(verdicts(board, settings), out["verdicts"])
    _write(estimates, out["kept"])
    found = {
        path.stem if path.parent.name == "grounds" else path.parent.name: path
        for path in repetitions
    }
    board = compare_repetitions(board, settings, scale, found)
    _write(board, out["board"])
    _write(estimates, out["estimates"])
    write_text(out["text"], in_markdown(board, settings, scale, notice))
    with style():
        drawn = scoreboard(board, estimates, scale, settings.repetitions.get(scale, ()))
        stamp(drawn, f"scale: {scale}", notice)
        save(drawn, out["pdf"])
    write_text(out["caption"], figure_caption("claims", "claims", Path(out["board"])) + "\n")


def _write(frame: pd.DataFrame, path: str) -> None:
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            rules=Path(snakemake.input.rules),
            only=snakemake.params.only,
            results=Path(snakemake.input.answers[0]).parent,
            repetitions=[Path(path) for path in snakemake.input.get("repetitions", [])],
            scale=snakemake.params.scale,
            notice=snakemake.params.notice,
            out=dict(snakemake.output.items()),
        )
