import math

import pytest

from olmix.cost.time_limits import check_attempts, check_time, minutes_of, partition_limits
from olmix.errors import OlmixError


@pytest.mark.parametrize(
    ("limit", "minutes"),
    [
        ("30:00", 30),
        ("12:00:00", 720),
        ("2-00:00:00", 2880),
        ("1-06:30:30", 1830.5),
        ("infinite", math.inf),
    ],
)
def test_limits_are_read_as_slurm_writes_them(limit, minutes):
    assert minutes_of(limit) == minutes


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(OlmixError, match="time limit 'n/a'"):
        minutes_of("n/a")


def test_limits_of_partitions_are_asked_of_sinfo(tmp_path, monkeypatch):
    program = tmp_path / "sinfo"
    program.write_text("#!/bin/sh\necho 'gpu* 1-00:00:00'\necho 'long infinite'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert partition_limits() == {"gpu": 1440, "": 1440, "long": math.inf}


def test_without_sinfo_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert partition_limits() == {}


def test_a_job_that_no_partition_would_start_is_refused():
    limits = {"": 60, "long": math.inf}
    check_time("train", 60, "", limits)
    check_time("train", 9999, "long", limits)
    check_time("train", 9999, "unheard-of", limits)
    with pytest.raises(
        OlmixError, match="rule train asks for 61 minutes, partition 'default' gran"
    ):
        check_time("train", 61, "", limits)


def test_a_job_that_needs_more_attempts_than_it_has_is_refused():
    check_attempts("train", 180, 30, 6)
    with pytest.raises(OlmixError, match=r"181 minutes, and has 6 attempts of 30.* to 6 or more"):
        check_attempts("train", 181, 30, 6)


def test_a_job_that_asks_for_no_time_is_left_to_its_partition():
    check_attempts("train", 181, 0, 1)
