import json

from olmix.__main__ import main
from olmix.provenance.progress import PROXIES, Training, write_plan


def test_the_line_from_another_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "smoke"
    write_plan(folder / "progress.json", [Training("t", PROXIES, ("list.json",), 1, 1.0)])
    assert main(["progress"]) == 0
    assert capsys.readouterr().out == "proxies 0/1\n"
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / "eval.json").write_text(json.dumps({"average": 2.0}))
    (tmp_path / "list.json").write_text(json.dumps([{"folder": "run", "names": ["natural"]}]))
    assert main(["progress", "--scale", "smoke", "--watch"]) == 0  # ends: all is done
    assert capsys.readouterr().out == "proxies 1/1 · best so far 2.000 BPB (t, natural)\n"


def test_nothing_has_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["progress"]) == 2
    assert "nothing is being trained" in capsys.readouterr().err
    assert main(["progress", "--scale", "huge"]) == 2
    assert "huge" in capsys.readouterr().err
