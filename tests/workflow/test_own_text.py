"""Own text from a folder to a mix and through an update, with real training, in a clone."""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from olmix.files import read_json

pytestmark = pytest.mark.slow

WORDS = {
    "english": "the of and to in is that for it as was with be by on not this are or from",
    "code": "def return if else for in while import class self None True print len range",
    "numbers": " ".join(str(number) for number in range(100, 140)),
    "later": "ein der die das und ist nicht mit auf sich des dem den von zu im am",
}


def write_domain(folder: Path, kind: str) -> None:
    draw = random.Random(kind)
    (folder / kind).mkdir(parents=True)
    for number in range(80):
        text = " ".join(draw.choices(WORDS[kind].split(), k=160))
        (folder / kind / f"{number}.txt").write_text(text)


def olmix(clone, *arguments: str) -> str:
    environment = clone.environment | {"PYTHONPATH": str(clone.folder / "scripts")}
    done = subprocess.run(
        [sys.executable, "-m", "olmix", *arguments],
        cwd=clone.folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shorten(clone) -> None:
    """Runs so short that they only have to exist; two repetitions."""
    path = clone.folder / "config" / "scales" / "mine.yaml"
    text = re.sub(r"tokens: \d+\n    batch", "tokens: 20480\n    batch", path.read_text())
    text = re.sub(r"multiplier: \d", "multiplier: 3", text)
    path.write_text(text.replace("target_repeats: 4", "target_repeats: 2"))


def trained(clone) -> set[str]:
    return {path.name for path in (clone.folder / "results" / "mine" / "runs").iterdir()}


@pytest.fixture(scope="module")
def mixed(module_clone, tmp_path_factory):
    """A clone with a mix of three domains, and the folder of their text."""
    text = tmp_path_factory.mktemp("own") / "text"
    for kind in ("english", "code", "numbers"):
        write_domain(text, kind)
    olmix(module_clone, "init", str(text), "--minutes", "3", "--devices", "2")
    shorten(module_clone)
    done = module_clone.snakemake("mix", scale="mine")
    assert done.returncode == 0, done.stdout + done.stderr
    return module_clone, text


def test_init_and_mix_answer_which_mix_from_a_folder_alone(mixed):
    clone, _ = mixed
    answer = clone.folder / "results" / "mix"
    summary = read_json(answer / "summary.json")
    assert set(summary["mix"]) == {"english", "code", "numbers"}
    assert set(summary["gains"]) == {"natural", "uniform"}
    assert (answer / "index.html").is_file() and (answer / "explore.html").is_file()
    assert summary["proxy_runs"] == 8 and len(trained(clone)) == 8 + 2 * 3


def test_nothing_finished_is_done_twice(mixed):
    clone, _ = mixed
    assert clone.planned("mix", scale="mine") == {}
    # As after an interruption that took the results but not the finished runs.
    before = {
        path: path.stat().st_mtime_ns
        for path in (clone.folder / "results" / "mine" / "runs").rglob("weights.safetensors")
    }
    for rule in ("train_proxies", "evaluate_proxies", "collect_swarm", "propose_mixes"):
        shutil.rmtree(clone.folder / "results" / "mine" / rule)
    shutil.rmtree(clone.folder / "results" / "mix")
    assert clone.snakemake("mix", scale="mine").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(trained(clone)) == len(before)


def test_an_update_trains_only_what_it_has_to(mixed):
    clone, text = mixed
    before = trained(clone)
    write_domain(text, "later")
    said = olmix(clone, "update", "mine")
    assert "later: new" in said and "full mixture reuse: 8 for 2 weights" in said
    done = clone.snakemake("mix", scale="mine")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = read_json(clone.folder / "results" / "mix" / "summary.json")
    assert summary["stage"] == "add_later" and set(summary["gains"]) == {
        "natural", "uniform", "kept",
    }  # fmt: skip
    # Eight proxies; proposed, natural and uniform twice. The mix before was trained before.
    assert len(trained(clone) - before) == 8 + 2 * 3
    assert before <= trained(clone)


def test_a_scale_of_own_text_asks_for_a_mix_alone(mixed):
    clone, _ = mixed
    done = clone.snakemake("-n", "results/rq7/", scale="mine")
    assert done.returncode != 0
    assert "results/rq7: needs a scale of the paper" in done.stdout + done.stderr
    done = clone.snakemake("-n", "mix", scale="smoke")
    assert "mix: needs a scale of your own text" in done.stdout + done.stderr
