"""What a person sees of a run: progress while it goes on, and how a file was made afterwards."""

import json
import re
import subprocess
import sys

import pytest

from olmix.files import read_json, sha256

pytestmark = pytest.mark.slow

LINE = re.compile(r"proxies \d+/\d+( · targets \d+/\d+)?.* · best so far \d\.\d{3} BPB \(.+, .+\)")
TRAINED = "results/smoke/train_proxies/rq1/0"


def olmix(clone, *arguments):
    """`python -m olmix` in a clone, with its own code."""
    return subprocess.run(
        [sys.executable, "-m", "olmix", *arguments],
        cwd=clone.folder,
        env={**clone.environment, "PYTHONPATH": str(clone.folder / "scripts")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def commit(module_clone):
    """The clone as a git checkout, and its commit."""
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], cwd=module_clone.folder, check=True)
    command = [*git, "rev-parse", "HEAD"]
    return subprocess.run(
        command, cwd=module_clone.folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def drawn(module_clone, commit):
    """A clone where one figure was drawn, and what was on the screen meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        # The training rules call `python -m olmix`: it must be the clone's.
        patch.setenv("PYTHONPATH", str(module_clone.folder / "scripts"))
        done = module_clone.snakemake("figures/proxy_size.pdf", "--cores", "2")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return module_clone, done.stdout + done.stderr


def test_the_end_says_what_was_made_and_where_to_look(drawn):
    _, screen = drawn
    assert re.search(r"Made in \d+ (s|min): figures/proxy_size.pdf, results/rq1\.", screen)
    assert "Next: look at figures/proxy_size.pdf;" in screen


def test_runs_done_and_the_best_are_told_while_it_runs(drawn):
    clone, screen = drawn
    told = [line for line in screen.splitlines() if LINE.search(line)]
    assert told
    # The last line is the final state, which the command tells as well.
    proxies, targets = re.search(r"proxies (\d+)/\1 · targets (\d+)/\2", told[-1]).groups()
    assert (int(proxies), int(targets)) == (4 * 6, 6)
    done = olmix(clone, "progress")
    assert done.stdout.strip() == told[-1].strip()
    assert read_json(clone.folder / "results" / "smoke" / "progress.json")["ended"]


def test_provenance_of_a_figure(drawn, commit):
    clone, _ = drawn
    done = olmix(clone, "provenance", "figures/proxy_size.pdf", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rule"] == "draw_figure"
    assert [entry["file"] for entry in found["inputs"]] == ["results/rq1"]
    assert found["inputs"][0]["state"] == "as read"
    assert found["made_with"]["commit"] == commit
    assert found["sha256"] == sha256(clone.folder / "figures" / "proxy_size.pdf")
    assert found["seconds"] > 0 and found["unknown"] == []
    text = olmix(clone, "provenance", "figures/proxy_size.png").stdout
    assert f"commit     {commit}\n" in text
    assert "snakemake figures/proxy_size.png --force --config scale=smoke" in text


def test_every_output_tells_how_it_was_made_back_to_the_data(drawn, commit):
    clone, _ = drawn
    done = olmix(clone, "provenance", "results/rq1", "--json", "--deep")
    assert done.returncode == 0, done.stderr
    origins = json.loads(done.stdout)
    rules = {origin["rule"] for origin in origins}
    assert {"rq1", "collect_swarm", "train_proxies", "train_targets", "build_domains"} <= rules
    for origin in origins:
        assert origin["made_with"]["commit"] == commit, origin["output"]
        assert origin["sha256"] and origin["log"] and origin["benchmark"], origin["output"]
    run = next((clone.folder / TRAINED).iterdir())
    found = json.loads(olmix(clone, "provenance", str(run), "--json").stdout)
    assert found["output"] == TRAINED
    assert found["run"]["provenance"]["commit"] == commit
    assert {"run.data_seed", "run.init.seed"} <= set(found["seeds"])


def test_the_line_that_remakes_a_figure_gives_the_same_bytes(drawn):
    clone, _ = drawn
    figure = clone.folder / "figures" / "proxy_size.pdf"
    before = figure.read_bytes()
    found = json.loads(olmix(clone, "provenance", str(figure), "--json").stdout)
    figure.write_bytes(b"spoiled")
    words = found["remake"].split()[1:]
    command = clone.command(*words)
    done = subprocess.run(
        command, cwd=clone.folder, env=clone.environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert figure.read_bytes() == before


@pytest.mark.parametrize("quiet", ["all", "progress"])
def test_quiet_stays_quiet(clone, quiet):
    done = clone.snakemake("--cores", "1", TRAINED, "--quiet", quiet)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "BPB" not in done.stdout + done.stderr
    assert "proxies 6/6" in olmix(clone, "progress").stdout
