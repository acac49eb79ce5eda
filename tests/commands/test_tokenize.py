"""`python -m olmix tokenize`: the table, and one clear line for each bad input."""

import json

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from olmix.__main__ import main
from olmix.corpus.store import Corpus


@pytest.fixture
def folder(tmp_path):
    vocabulary = {"<unk>": 0, "<eos>": 1, "a": 2, "b": 3}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tok.json"))
    (tmp_path / "x.jsonl").write_text('{"body": "a b a"}\n{"body": "b"}\n')
    (tmp_path / "y.txt").write_text("a " * 1000)
    return tmp_path


def run(folder, *arguments):
    base = ["tokenize", "--tokenizer", f"{folder}/tok.json", "--out", f"{folder}/out"]
    return main([*base, "--processes", "1", *map(str, arguments)])


def test_table(folder, capsys):
    status = run(
        folder,
        *("--domain", f"web:x={folder}/x.jsonl", "--domain", f"y={folder}/*.txt"),
        *("--text-field", "body"),
    )
    output = capsys.readouterr()
    assert status == 0
    assert output.out.splitlines() == [
        "domain  documents  tokens  bytes  broken lines",
        "web:x           2       6      6             0",
        "y               1   1,001  2,000             0",
    ]
    assert "2 of 2 files" in output.err
    assert Corpus.open(folder / "out").token_counts == {"web:x": 6, "y": 1001}


def test_corpora_file(folder, capsys):
    sources = {
        "one": {"paths": [f"{folder}/x.jsonl"], "text_field": "body"},
        "two": {"paths": [f"{folder}/none.txt"]},
    }
    (folder / "c.json").write_text(json.dumps({"sources": sources}))
    assert run(folder, "--corpora", folder / "c.json", "--source", "one") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("one ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--domain", "x"], "--domain x: expected NAME=GLOB"),
        (["--domain", "x=none.txt"], "none.txt: no such file"),
        (["--domain", "x=none*.txt"], "no file matches none*.txt"),
        (["--domain", "x=a.csv", "--source", "s"], "--source and --downloads go with --corpora"),
        (["--corpora", "none.yaml"], "none.yaml: no such file"),
        (["--corpora", "c.yaml", "--text-field", "t"], "--text-field goes with --domain"),
        (["--domain", "x={folder}/x.jsonl"], "2 of 2 lines are broken"),
        (["--domain", "x={folder}/y.txt", "--end-of-text", "<s>"], "no end-of-text token '<s>'"),
        (["--domain", "x={folder}/y.txt", "--tokenizer", "no.json"], "no such tokenizer file"),
    ],
)
def test_bad_inputs(folder, capsys, arguments, message):
    status = run(folder, *(argument.format(folder=folder) for argument in arguments))
    lines = capsys.readouterr().err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert status == 2
    assert len(errors) == 1
    assert lines[-1] == errors[0]
    assert message in errors[0]
