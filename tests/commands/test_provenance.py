import base64
import json

import pytest

from olmix.__main__ import main
from olmix.provenance.environment import environment_line


@pytest.fixture
def mix(tmp_path):
    """A mix that a rule has proposed from data.csv."""
    folder = tmp_path / "results" / "tiny" / "propose_mixes"
    (tmp_path / "results" / "tiny" / "logs").mkdir(parents=True)
    folder.mkdir()
    (folder / "a.csv").write_text("x\n")
    (tmp_path / "data.csv").write_text("y\n")
    (tmp_path / "results" / "tiny" / "logs" / "a.log").write_text(environment_line() + "\n")
    name = base64.urlsafe_b64encode(b"results/tiny/propose_mixes/a.csv").decode()
    records = tmp_path / ".snakemake" / "metadata"
    records.mkdir(parents=True)
    content = {
        "rule": "propose_mixes", "input": ["data.csv"], "log": ["results/tiny/logs/a.log"],
        "params": ["{'seed': 5}"], "starttime": 1.0, "endtime": 601.0,
    }  # fmt: skip
    (records / name).write_text(json.dumps(content))
    return folder / "a.csv"


def test_facts_one_to_a_line(mix, capsys):
    assert main(["provenance", str(mix)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["rule"] == "propose_mixes"
    assert lines["input"].split()[1] == "data.csv"
    assert lines["seed"] == "seed = 5"
    assert lines["duration"] == "10 min"
    assert "numpy" in lines["versions"]
    assert lines["to"] == "remake  snakemake results/tiny/propose_mixes/a.csv --force --config scale=tiny"  # fmt: skip # noqa: E501


def test_json_and_chain(mix, capsys):
    assert main(["provenance", str(mix), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == [{"seed": 5}]
    assert main(["provenance", str(mix), "--deep"]) == 0
    assert "data.csv  (made by no rule)" in capsys.readouterr().out


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["provenance", str(tmp_path / "x.pdf")]) == 2
    assert "x.pdf: no such file" in capsys.readouterr().err
