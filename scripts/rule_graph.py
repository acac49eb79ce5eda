"""Write docs/rule_graph.md, the rules on one page, and the README's graph of the main figure."""

import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import write_text
from olmix.presentation.rule_graph import COLOURS, mermaid, read_arrows
from olmix.provenance.job import job_log

MAIN = "figures/main_results.pdf"
TARGETS = {MAIN: "The main figure", "all": "All questions", "published": "The released swarms"}
ABOUT = """\
# The rules

A box is a rule, or several with the same arrows; its colour says which file it is written in. A
dotted arrow leads back: the rule runs again, for the next stage or for targets. Arrows that follow
from others, and what only the report needs, are left out. `snakemake rule_graph` writes this page
from Snakemake's graph of jobs; `snakemake --rulegraph TARGET` prints the graph of any target.
"""


def main(snakefile: Path, files: Mapping[str, str], page: Path, readme: Path) -> None:
    """Write both; ``files`` gives the file of every rule, in the order of the workflow."""
    graphs = {target: mermaid(arrows_to(target, snakefile), files) for target in TARGETS}
    parts = [f"## {title}: `snakemake {t}`\n\n{graphs[t]}\n" for t, title in TARGETS.items()]
    table = ["| colour | file | its rules |", "| --- | --- | --- |"]
    for file, colour in zip(dict.fromkeys(files.values()), cycle(COLOURS), strict=False):
        text = (snakefile.parent / f"workflow/rules/{file}.smk").read_text(encoding="utf-8")
        about = " ".join(line[2:] for line in text.partition("\n\n")[0].splitlines())
        table.append(f"| {colour} | `{file}.smk` | {about} |")
    write_text(page, "\n".join([ABOUT, *parts, "## The files", "", *table, ""]))
    block = re.compile("(?<=<!-- rules -->\n).*?(?=<!-- /rules -->)", re.DOTALL)
    write_text(readme, block.sub(lambda _: graphs[MAIN] + "\n", readme.read_text(encoding="utf-8")))


def arrows_to(target: str, snakefile: Path) -> set[tuple[str, str]]:
    """Ask Snakemake for the jobs of a target at the smallest scale; nothing is run."""
    options = "--dag dot --nolock --profile none --workflow-profile none --config scale=smoke --"
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), *options.split()]
    done = subprocess.run([*command, target], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OlmixError(f"snakemake --dag dot {target} failed: {done.stderr.strip()[-300:]!r}")
    return read_arrows(done.stdout)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            Path(snakemake.input.snakefile), snakemake.params.files,
            Path(snakemake.output.page), Path(snakemake.output.readme),
        )  # fmt: skip
