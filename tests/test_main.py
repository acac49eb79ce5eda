import os
import subprocess
import sys

import pytest

from olmix import __version__
from olmix.__main__ import main
from olmix.paths import CONFIG, REPOSITORY, lead_python_here

COMMANDS = sorted(
    path.stem
    for path in (REPOSITORY / "scripts" / "olmix" / "commands").glob("[a-z]*.py")
    if "HELP =" in path.read_text()
)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_the_overview_names_every_command(capsys, arguments):
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert {"fit", "reuse", "plan", "simulate", "train", "evaluate"} <= set(COMMANDS)
    for name in COMMANDS:
        line = next(line for line in text.splitlines() if line.startswith(f"  {name} "))
        assert len(line.split(maxsplit=1)[1]) > 10, f"{name} does not say what it does"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"olmix {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(capsys, name):
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert f"python -m olmix {name}" in capsys.readouterr().out


def test_an_unknown_command_is_refused_in_one_line(capsys):
    assert main(["fti"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: no command 'fti': expected board, download, evaluate")
    assert err.count("\n") == 1


def test_an_unknown_option_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["simulate", "--out", "x", "--rnus", "3"])
    assert stopped.value.code == 2
    assert "--rnus" in capsys.readouterr().err
    with pytest.raises(SystemExit):  # not even a shortened one
        main(["simulate", "--out", "x", "--ru", "3"])


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "olmix", "nope"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: no command 'nope'")
    assert "Traceback" not in done.stderr


def test_the_library_finds_its_configuration():
    assert (REPOSITORY / "pyproject.toml").is_file()
    assert CONFIG == REPOSITORY / "config"
    assert (CONFIG / "tasks" / "mmlu_subjects.csv").is_file()
    assert (CONFIG / "domains" / "paper.yaml").is_file()


def test_python_is_led_to_this_library_first():
    library = str(REPOSITORY / "scripts")
    for before, after in (
        ({}, library),
        ({"PYTHONPATH": ""}, library),
        ({"PYTHONPATH": "/other"}, f"{library}{os.pathsep}/other"),
    ):
        lead_python_here(before)
        assert before == {"PYTHONPATH": after}
