import logging
import platform

import pytest

from olmix.errors import OlmixError
from olmix.provenance.environment import read_environment
from olmix.provenance.job import job_log


@pytest.fixture(autouse=True)
def logging_as_before():
    """A job's logging lasts as long as its process; here it must not outlive the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_what_is_logged_goes_to_the_file_and_to_stderr(tmp_path, capsys):
    with job_log(tmp_path / "logs" / "job.log"):
        logging.info("half way")
    assert "half way" in (tmp_path / "logs" / "job.log").read_text()
    assert "half way" in capsys.readouterr().err


def test_a_refusal_is_one_line_and_status_2(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped, job_log(tmp_path / "job.log"):
        raise OlmixError("no such domain 'x'")
    assert stopped.value.code == 2
    text = (tmp_path / "job.log").read_text()
    assert text.endswith("error: no such domain 'x'\n")
    assert text.count("\n") == 2  # what it was made with, and the refusal
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_keeps_its_traceback(tmp_path, capsys):
    with pytest.raises(ZeroDivisionError), job_log(tmp_path / "job.log"):
        1 / 0  # noqa: B018
    text = (tmp_path / "job.log").read_text()
    assert "unexpected error, see" in text
    assert "Traceback" in text
    assert "ZeroDivisionError: division by zero" in text


def test_a_log_is_of_one_job(tmp_path):
    for word in ("first", "second"):
        with job_log(tmp_path / "job.log"):
            logging.info(word)
    assert "first" not in (tmp_path / "job.log").read_text()


def test_a_log_begins_with_what_the_job_was_made_with(tmp_path):
    with job_log(tmp_path / "job.log"):
        logging.info("half way")
    made = read_environment(tmp_path / "job.log")
    assert made["python"] == platform.python_version()
    assert (tmp_path / "job.log").read_text().splitlines()[1].endswith("half way")


def test_what_the_job_starts_writes_between_its_own_lines(tmp_path):
    with job_log(tmp_path / "job.log"):
        logging.info("before")
        with (tmp_path / "job.log").open("a") as file:
            file.write("printed by a process\n")
        logging.info("after")
    *_, before, printed, after = (tmp_path / "job.log").read_text().splitlines()
    assert before.endswith("before")
    assert printed == "printed by a process"
    assert after.endswith("after")
