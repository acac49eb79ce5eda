import argparse
import csv

import pytest

from olmix.commands import tasks
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite


def run(*arguments):
    parser = argparse.ArgumentParser()
    tasks.add_arguments(parser)
    tasks.run(parser.parse_args([str(argument) for argument in arguments]))


def test_the_papers_tasks_are_listed(capsys):
    run()
    output = capsys.readouterr().out
    assert "52 tasks (math 7, code 19, qa 26), 77,478 instances" in output
    line = next(line for line in output.splitlines() if line.startswith("drop "))
    assert line.split() == ["drop", "qa", "5", "1000", "different_request_set"]
    assert "different_request_set (5): generation-style requests" in output
    assert "mt_mbpp_bash and 15 more: Version 1 prompt" in output


def test_the_papers_tasks_as_csv(capsys):
    run("--suite", "paper", "--csv")
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert list(rows[0]) == ["name", "family", "shots", "instances", "match"]
    assert len(rows) == 52
    assert rows[0] == {
        "name": "minerva_math_algebra",
        "family": "math",
        "shots": "4",
        "instances": "1187",
        "match": "same_prompt_expected",
    }


def test_a_suite_is_prepared_once_and_listed(tmp_path, wheel, recipe_path, capsys):
    folder = tmp_path / "prepared"
    arguments = ("--suite", recipe_path, "--prepare", folder, "--wheel", wheel)
    run(*arguments)
    assert f"{folder}: 6 tasks, 8 instances, hash" in capsys.readouterr().out
    assert Suite.open(folder).tasks[0].name == "choices"
    wheel.write_bytes(b"")  # not read again
    run(*arguments)
    assert "already there" in capsys.readouterr().out
    run("--suite", folder)
    assert "6 tasks (qa 6), 8 instances" in capsys.readouterr().out


def test_a_damaged_suite_is_prepared_again(tmp_path, wheel, recipe_path):
    folder = tmp_path / "prepared"
    arguments = ("--suite", recipe_path, "--prepare", folder, "--wheel", wheel)
    run(*arguments)
    whole = (folder / "choices.jsonl.gz").read_bytes()
    (folder / "choices.jsonl.gz").write_bytes(whole[:-8])
    run(*arguments)
    assert (folder / "choices.jsonl.gz").read_bytes() == whole


def test_bad_arguments_are_refused(tmp_path):
    with pytest.raises(OlmixError, match="not a task suite"):
        run("--suite", tmp_path / "nowhere")
    with pytest.raises(OlmixError, match="--prepare needs a recipe"):
        run("--suite", tmp_path, "--prepare", tmp_path / "out")
    with pytest.raises(OlmixError, match="--wheel is only used with --prepare"):
        run("--wheel", tmp_path / "some.whl")
    with pytest.raises(OlmixError, match=r"some.whl: no such file"):
        run("--prepare", tmp_path / "out", "--wheel", tmp_path / "some.whl")
