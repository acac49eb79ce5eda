"""Hostile names end to end: Snakemake refuses them before anything of them is run."""

import pytest
import yaml

pytestmark = pytest.mark.slow


def refused(done, folder, message):
    text = done.stdout + done.stderr
    assert done.returncode != 0
    assert message in text
    assert "Traceback" not in text
    assert not list(folder.rglob("pwned"))


@pytest.mark.parametrize("scale", ["$(touch pwned)", "a;touch pwned", "../scales/tiny", "a b"])
def test_scales_of_hostile_names(module_clone, scale):
    done = module_clone.snakemake("results/rq7", scale=scale)
    refused(done, module_clone.folder, "scale")


@pytest.mark.parametrize("stage", ["a'; touch pwned; '", '$(touch "pwned")', "../../pwned"])
def test_stages_of_hostile_names(clone, stage):
    path = clone.folder / "config" / "updates" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["updates"][0]["name"] = stage
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    refused(clone.snakemake("results/updates"), clone.folder, "update 1: name")


def test_models_of_hostile_names(clone):
    path = clone.folder / "config" / "scales" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["models"]["$(touch pwned)"] = content["models"]["1m"]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    refused(clone.snakemake("results/rq1"), clone.folder, "$(touch pwned)")


def test_a_token_in_the_environment_is_nowhere_in_the_results(clone, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_sesame")
    done = clone.snakemake("cost", "results/smoke/sample_swarm/topics.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hf_sesame" not in done.stdout + done.stderr
    written = [p for p in clone.folder.rglob("*") if p.is_file()]
    assert (clone.folder / "results" / "smoke" / "cost" / "questions.csv") in written
    assert not [p for p in written if b"hf_sesame" in p.read_bytes()]
