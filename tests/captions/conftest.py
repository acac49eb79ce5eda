"""Answers small enough to know every number of their captions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from olmix.files import write_json


@pytest.fixture
def answer(tmp_path: Path) -> Callable[..., Path]:
    """``answer(solvers=..., ...)``: a results folder with this summary."""

    def make(**summary: Any) -> Path:
        write_json(tmp_path / "summary.json", summary)
        return tmp_path

    return make
