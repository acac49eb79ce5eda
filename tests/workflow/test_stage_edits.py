"""Editing one stage of the sequence of updates: what a dry run then wants to do again.

Nothing is trained: outputs are made up and Snakemake is told that they are its own.
"""

from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

TARGETS = ("results/updates", "results/rq7")
STAGES = ["initial", "add_code", "add_sources", "revise_pdfs", "remove_algebra_code",
          "partition_pdfs"]  # fmt: skip
SHARES = {"web": 0.5, "code": 0.2, "maths": 0.15, "pdf": 0.10, "algebra_code": 0.05}


@pytest.fixture(scope="module")
def touched(module_clone):
    """A clone that looks as if the update study and RQ7 had run."""
    listed = module_clone.snakemake("--summary", *TARGETS)
    assert listed.returncode == 0, listed.stdout + listed.stderr
    for line in listed.stdout.splitlines()[1:]:
        path = module_clone.folder / line.split("\t")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
        else:
            path.mkdir(exist_ok=True)
    done = module_clone.snakemake("--touch", "--forceall", "--cores", "1", *TARGETS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert module_clone.planned(*TARGETS) == {}
    return module_clone


@pytest.fixture
def edited(touched):
    """``edited(stage, **keys)``: what is to be done after an edit of a stage; undone at the end."""
    path = touched.folder / "config" / "updates" / "smoke.yaml"
    before = path.read_text()

    def edit(stage: str, **keys) -> list[str]:
        content = yaml.safe_load(before)
        next(entry for entry in content["updates"] if entry["name"] == stage).update(keys)
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return touched.messages(*TARGETS)

    yield edit
    path.write_text(before)


def stages_proposed(messages):
    return [line.split(" at ")[1] for line in messages if line.startswith("Proposing the mixes of")]


@pytest.mark.parametrize(
    ("stage", "keys"),
    [
        # More domains to recompute: more runs.
        ("revise_pdfs", {"recompute": ["web:health"]}),
        # As many runs, but other ones.
        ("revise_pdfs", {"prior": SHARES}),
        ("add_code", {"recompute": ["web:health"]}),
        ("partition_pdfs", {"recompute": ["web:health"]}),
    ],
)
def test_a_stage_and_its_successors_are_recomputed_and_no_other(edited, stage, keys):
    messages = edited(stage, **keys)
    number = STAGES.index(stage)
    assert stages_proposed(messages) == STAGES[number:]
    assert f"Sampling the swarm of main at {stage}" in messages
    assert any(line.startswith(f"Training proxies of main-{stage},") for line in messages)
    assert "Comparing the strategies over all updates" in messages
    for earlier in STAGES[:number]:
        assert not [line for line in messages if earlier in line]
    # RQ7 is about domains, and they are the same.
    assert not [line for line in messages if "rq7" in line.lower() or "topics" in line]


def test_other_words_recompute_nothing(touched):
    path = Path(touched.folder / "config" / "updates" / "smoke.yaml")
    before = path.read_text()
    path.write_text(before.replace("description: ", "description: still "))
    try:
        assert touched.planned(*TARGETS) == {}
    finally:
        path.write_text(before)
