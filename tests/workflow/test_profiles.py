"""The profiles as Snakemake's own parser reads them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

REPOSITORY = Path(__file__).resolve().parents[2]
# Prints what the command line and the profiles come to.
READ = (
    "import json; from snakemake.cli import parse_args; args = vars(parse_args(None)[1]);"
    "args['submissions'] = vars(args['max_jobs_per_timespan']);"
    "plain = lambda value: sorted(map(str, value)) if isinstance(value, frozenset) else str(value);"
    "print(json.dumps({key: plain(value) for key, value in args.items()}))"
)


def arguments(*words: str) -> dict[str, str]:
    """Snakemake's arguments, as if the words were typed after its name in the repository."""
    done = subprocess.run(
        [sys.executable, "-c", READ, *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return yaml.safe_load(done.stdout)


def test_every_key_of_the_slurm_profile_is_an_option_of_snakemake():
    known = set(get_argument_parser()._option_string_actions)
    text = (REPOSITORY / "slurm" / "config.yaml").read_text()
    suggested = re.findall(r"^# ([a-z-]+): \S+$", text, flags=re.MULTILINE)
    assert "slurm-no-account" in suggested
    for key in (*yaml.safe_load(text), *suggested):
        assert f"--{key}" in known, key


def test_a_site_edits_five_lines_at_most():
    text = (REPOSITORY / "slurm" / "config.yaml").read_text()
    top = text[: text.index("From here on the same everywhere")]
    for key in ("slurm_account", "slurm_partition", "slurm-status-command", "jobs"):
        assert len(re.findall(rf"^\s*(# )?{key}: ", top, flags=re.MULTILINE)) == 1
    workflow = (REPOSITORY / "slurm" / "workflow.yaml").read_text()
    assert len(re.findall(r"^(# )?gpu_request: ", workflow, flags=re.MULTILINE)) == 1


def test_slurm_is_not_bound_to_the_cores_of_this_machine():
    local, slurm = arguments("figures/solvers.pdf"), arguments("--profile", "slurm", "x")
    assert int(slurm["cores"]) >= 10_000 > int(local["cores"])
    assert (local["executor"], slurm["executor"]) == ("None", "slurm")
    # What is not about cores is the same here and there.
    for key in ("keep_going", "rerun_incomplete", "show_failed_logs", "rerun_triggers"):
        assert slurm[key] == local[key]
    assert int(slurm["retries"]) > 0


def test_a_cluster_gets_no_more_submissions_than_its_profile_says():
    assert arguments("--profile", "slurm", "x")["submissions"] == "{'max_jobs': 5, 'timespan': 1.0}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "scale"),
    [((), "paper"), (("--config", "scale=smoke"), "smoke"), (("--config", "published=x"), "paper")],
)
def test_paper_is_the_scale_of_the_slurm_profile_unless_told(clone, words, scale):
    done = subprocess.run(
        clone.command("--profile", "slurm", "-n", "results/rq7/", *words),
        cwd=clone.folder,
        env=clone.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert f"results/{scale}/train_proxies" in text
    assert "train_proxies" in text[text.index("Job stats:") :]
