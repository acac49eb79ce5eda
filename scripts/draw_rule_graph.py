"""Draw the rules by stage: all of them, and those that each question needs."""

import logging
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.job import job_log
from olmix.plots.rule_graph import draw_rule_graph
from olmix.plots.style import save, stamp, style
from olmix.rule_graph import JobGraph, read_dot, rule_graph

NOTE = "Read from the workflow's graph of jobs; an arrow that follows from others is left out."


def main(
    pictures: list[Path],
    stages: Mapping[str, str],
    snakefile: Path,
    config: Mapping[str, Any],
    parts: list[str],
    scale: str,
) -> None:
    """Write ``pictures``: the whole graph is called rule_graph, a question's by its name."""
    jobs = jobs_of(snakefile, config, ["all", "published"])
    # Rules that run nothing, such as `all`, have no stage.
    jobs = jobs.only(job for job, rule in jobs.rules.items() if rule in stages)
    beside = [rule for rule in stages if rule not in set(jobs.rules.values())]
    with style():
        for path in pictures:
            whole = path.stem not in parts
            shown = jobs if whole else part_of(jobs, path.stem, stages)
            note = f"{NOTE} Not in it: {', '.join(beside)}." if whole and beside else NOTE
            graph = rule_graph(shown, stages)
            logging.info("%s: %s", path, graph.describe())
            figure = draw_rule_graph(graph, note)
            stamp(figure, f"scale: {scale}")
            save(figure, path)


def jobs_of(snakefile: Path, config: Mapping[str, Any], targets: list[str]) -> JobGraph:
    """Ask Snakemake for the jobs of some targets, without profiles: nothing is to run."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "config.json"
        write_json(settings, dict(config))
        options = ["--snakefile", snakefile, "--configfile", settings]
        options += ["--profile", "none", "--workflow-profile", "none", "--nolock"]
        command = [sys.executable, "-m", "snakemake", "--dag", "dot", *options, "--", *targets]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise OlmixError(f"snakemake --dag ended with status {done.returncode}: {last[0]}")
    return read_dot(done.stdout)


def part_of(jobs: JobGraph, question: str, stages: Mapping[str, str]) -> JobGraph:
    """What leads to a question's results, and the figures drawn from them."""
    # Released swarms are a stage of many rules, a question is a rule.
    rules = [question] if question in stages else [r for r in stages if stages[r] == question]
    answer = jobs.of_rules(rules)
    drawn = {
        job
        for job, needs in jobs.needs.items()
        if needs & answer and stages[jobs.rules[job]] == "figures"
    }
    return jobs.only(jobs.ancestors(answer) | drawn)


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            pictures=[Path(path) for path in snakemake.output.pictures if path.endswith(".pdf")],
            stages=snakemake.params.stages,
            snakefile=Path(snakemake.input.snakefile),
            config=snakemake.params.config,
            parts=snakemake.params.parts,
            scale=snakemake.params.scale,
        )
