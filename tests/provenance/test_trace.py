"""How files were made, on made-up records of the kind Snakemake writes."""

import base64
import hashlib
import json
import os

import pytest

from olmix.errors import OlmixError
from olmix.files import sha256
from olmix.provenance.environment import environment_line
from olmix.provenance.trace import chain, fingerprint, trace

SETTINGS = "{'seeds': 3, 'kl': 0.05, 'study': [{'name': 'a', 'seed': 7}], 'factor': inf}"


def record(root, output, **values):
    name = base64.urlsafe_b64encode(output.encode()).decode()
    folder = root / ".snakemake" / "metadata"
    while len(name) > 254:  # as Snakemake cuts names
        folder, name = folder / f"@{name[:254]}", name[254:]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(values))


@pytest.fixture
def root(tmp_path):
    """data.csv -> results/tiny/fit -> figures/a.pdf"""
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "a.pdf").write_bytes(b"%PDF")
    fit = tmp_path / "results" / "tiny" / "fit"
    fit.mkdir(parents=True)
    (fit / "model.json").write_text("{}")
    (tmp_path / "data.csv").write_text("a,b\n")
    log = tmp_path / "results" / "tiny" / "logs" / "draw" / "a.log"
    log.parent.mkdir(parents=True)
    log.write_text(environment_line() + "\n")
    benchmark = tmp_path / "results" / "tiny" / "benchmarks" / "draw" / "a.tsv"
    benchmark.parent.mkdir(parents=True)
    benchmark.write_text("s\tmax_rss\n12.5\t3\n")
    for path in (fit, tmp_path / "data.csv"):
        os.utime(path, (1000, 1000))
    record(
        tmp_path, "figures/a.pdf", rule="draw", input=["results/tiny/fit"],
        log=["results/tiny/logs/draw/a.log"], params=["'tiny'", SETTINGS.replace("inf", "1")],
        starttime=2000.0, endtime=2020.0,
    )  # fmt: skip
    record(
        tmp_path, "results/tiny/fit", rule="fit", input=["data.csv"],
        log=["results/tiny/logs/fit.log"], params=[SETTINGS], starttime=1500.0, endtime=1504.5,
        shellcmd="fit data.csv",
        input_checksums={"data.csv": f"sha256:{sha256(tmp_path / 'data.csv')}"},
    )  # fmt: skip
    return tmp_path


def test_a_figure(root):
    origin = trace(root / "figures" / "a.pdf")
    assert (origin.rule, origin.seconds) == ("draw", 12.5)  # the benchmark's, not the record's
    assert origin.settings[0] == "tiny"
    assert origin.seeds == {"seeds": 3, "study.a.seed": 7}
    assert origin.made_with["versions"]["numpy"]
    assert origin.started == "1970-01-01T00:33:20+00:00"
    assert origin.remake == "snakemake figures/a.pdf --force --config scale=tiny"
    (entry,) = origin.inputs
    inside = f"model.json {hashlib.sha256(b'{}').hexdigest()}\n"
    assert entry["sha256"] == hashlib.sha256(inside.encode()).hexdigest()
    assert entry["state"] == "as read"


def test_a_file_in_a_folder_belongs_to_the_folders_rule(root):
    origin = trace(root / "results" / "tiny" / "fit" / "model.json")
    assert (origin.output, origin.rule, origin.seconds) == ("results/tiny/fit", "fit", 4.5)
    assert origin.remake == "snakemake results/tiny/fit --force --config scale=tiny"
    assert origin.command == "fit data.csv"
    assert origin.settings == [SETTINGS]  # infinity is no literal: the text is kept
    assert any("commit" in what for what in origin.unknown)  # its log is gone


def test_the_chain_ends_at_the_data(root):
    found = chain(root / "figures" / "a.pdf")
    assert [origin.output for origin in found] == ["figures/a.pdf", "results/tiny/fit", "data.csv"]
    assert found[-1].rule is None


def test_an_input_that_changed_is_said_to_have(root):
    (root / "data.csv").write_text("b,a\n")
    assert trace(root / "results" / "tiny" / "fit").inputs[0]["state"] == "changed since"
    (root / "data.csv").unlink()
    assert trace(root / "results" / "tiny" / "fit").inputs[0]["state"] == "gone"
    os.utime(root / "results" / "tiny" / "fit", (3000, 3000))
    assert trace(root / "figures" / "a.pdf").inputs[0]["state"] == "newer than the output"


def test_inputs_outside_the_clone_are_named(root, tmp_path_factory):
    given = tmp_path_factory.mktemp("elsewhere") / "ratios.csv"
    given.write_text("x\n")
    record(root, "data.csv", rule="fetch", input=[str(given)], log=[], params=[])
    last = chain(root / "data.csv")[-1]
    assert (last.output, last.sha256) == (str(given), sha256(given))


def test_without_records_what_lies_beside_is_read_and_the_rest_is_unknown(root):
    run = root / "results" / "tiny" / "runs" / "abc"
    run.mkdir(parents=True)
    content = {
        "hash": "abc", "steps": 5, "seconds": 2.0,
        "settings": {"data_seed": 9, "init": {"seed": 4}},
        "provenance": {"host": "node7", "slurm_job": "12", "commit": "f00", "versions": {}},
    }  # fmt: skip
    (run / "run.json").write_text(json.dumps(content))
    origin = trace(run)
    assert origin.seeds == {"run.data_seed": 9, "run.init.seed": 4}
    assert (origin.made_with["host"], origin.made_with["slurm_job"]) == ("node7", "12")
    assert origin.made_with["commit"] == "f00"
    assert origin.rule is None and "no record" in origin.unknown[0]


def test_long_names_are_found_where_snakemake_puts_them(root):
    name = "results/" + "long" * 60 + ".csv"
    (root / name).write_text("x")
    record(root, name, rule="long", input=[], log=[], params=[])
    assert trace(root / name).rule == "long"


def test_large_inputs_are_not_hashed(root):
    assert fingerprint(root / "data.csv", limit=3) is None
    assert fingerprint(root / "results" / "tiny" / "fit", limit=1) is None


def test_refusals(root, tmp_path_factory):
    with pytest.raises(OlmixError, match="no such file"):
        trace(root / "figures" / "b.pdf")
    alone = tmp_path_factory.mktemp("alone") / "x.csv"
    alone.write_text("x")
    with pytest.raises(OlmixError, match="inside a clone"):
        trace(alone)
