"""`python -m olmix train`: one run from the command line, and what it refuses in one line."""

import pytest

from olmix.__main__ import main
from olmix.corpus.store import StoreWriter, TokenizerInfo
from olmix.files import read_json, write_json
from olmix.model.weights import load_model

SHORT = ["--tokens", "1000", "--sequence-length", "16", "--batch-size", "4"]


def train(corpus, out, *more: str) -> int:
    return main(["train", "--corpus", str(corpus.root), "--out", str(out), *SHORT, *more])


def test_one_run(corpus, tmp_path, capsys):
    out = tmp_path / "run"
    assert train(corpus, out, "--shape", "tiny-1m", "--init-seed", "3") == 0
    record = read_json(out / "run.json")
    assert record["settings"]["tokens"] == 1024  # rounded up to 16 batches of 64
    assert record["settings"]["model"]["name"] == "tiny-1m"
    assert record["settings"]["model"]["vocab_size"] == 32  # the corpus's own
    assert record["settings"]["init"] == {"kind": "fast", "std": 0.02, "seed": 3}
    assert record["mix"]["requested"] == {d: pytest.approx(1 / 3) for d in corpus.domains}
    assert load_model(out / "weights.safetensors").shape.d_model == 8
    assert "16 steps, final loss" in capsys.readouterr().out


def test_mixes_of_every_kind(corpus, tmp_path):
    write_json(tmp_path / "plain.json", {"code": 0.25, "web:news": 0.75})
    listed = {"domains": ["code", "web:news"], "weights": [0.25, 0.75], "solver": "exact"}
    write_json(tmp_path / "listed.json", listed)
    hashes = set()
    given = ["code=0.25,web:news=0.75", str(tmp_path / "plain.json"), str(tmp_path / "listed.json")]
    for number, mix in enumerate(given):
        assert train(corpus, tmp_path / f"run{number}", "--mix", mix, "--shape", "tiny-1m") == 0
        hashes.add(read_json(tmp_path / f"run{number}" / "run.json")["hash"])
    assert len(hashes) == 1


def test_a_mix_that_changes(corpus, tmp_path):
    out = tmp_path / "run"
    changes = ["--change", "0.5=code=1", "--change", "0.75=natural"]
    assert train(corpus, out, "--mix", "math=1", "--shape", "tiny-1m", *changes) == 0
    record = read_json(out / "run.json")
    assert [entry["until_token"] for entry in record["schedule"]] == [512, 768, 1024]
    assert record["seen"]["tokens"] == {"code": 342, "math": 597, "web:news": 85}
    assert record["seen"]["epochs"]["math"] == pytest.approx(597 / 10_000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mix", "code=0.5,math=0.4"], "sum to 0.9, expected 1"),
        (["--mix", "code=0.5,maths=0.5"], "unknown domain 'maths'"),
        (["--mix", "code=half"], "'code=half' is not name=weight"),
        (["--mix", "missing.json"], "missing.json: no such file"),
        (["--change", "late=natural"], "'late=natural'; expected a fraction and a mix"),
        (["--change", "1.5=natural"], "the mix changes at 1.5"),
        (["--tokens", "0"], "a run of 0 tokens"),
        (["--tokens", "100000000"], "would be repeated"),
        (["--vocab-size", "31"], "vocabulary of 32 does not fit shape 'tiny-30m'"),
        (["--shape", "huge"], "unknown model shape 'huge'"),
        (["--sequence-length", "4096"], "sequence_length is 4096"),
        (["--device", "abacus"], "device 'abacus' cannot be used"),
        (["--learning-rate", "-1"], "learning_rate is -1"),
        (["--micro-batch", "3"], "cannot be split evenly"),
        (["--threads", "0"], "--threads is 0"),
        (["--suite", "somewhere"], "--suite needs the --tokenizer"),
        (["--evaluate-at", "0.5"], "--evaluate-at needs a --suite"),
        (["--runs", "runs.json"], "either --out for one run or --runs"),
    ],
)
def test_bad_input_is_one_line(corpus, tmp_path, capsys, options, message):
    assert train(corpus, tmp_path / "run", *options) == 2
    error = capsys.readouterr().err
    lines = [line for line in error.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert message in lines[0]
    assert not (tmp_path / "run").exists()


def test_an_empty_corpus_is_refused(tmp_path, capsys):
    (tmp_path / "corpus").mkdir()
    arguments = ["train", "--corpus", str(tmp_path / "corpus"), "--out", str(tmp_path / "run")]
    assert main(arguments) == 2
    assert "no tokenised domain here" in capsys.readouterr().err


def test_two_tokenizers_are_refused(tmp_path, capsys):
    for name, digest in (("one", "a" * 64), ("two", "b" * 64)):
        info = TokenizerInfo(digest, 32, 0)
        with StoreWriter(tmp_path / "corpus" / name, domain=name, tokenizer=info) as writer:
            writer.add([1, 2, 3], bytes=9)
    arguments = ["train", "--corpus", str(tmp_path / "corpus"), "--out", str(tmp_path / "run")]
    assert main(arguments) == 2
    assert "different tokenizers" in capsys.readouterr().err
