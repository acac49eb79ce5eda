"""Answers small enough to know every number of their captions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from olmix.files import write_json


@pytest.fixture
def answer(tmp_path: Path) -> Callable[..., Path]:
    """``answer(solvers=..., ...)``: a results folder with this summary."""

    def make(*, target_repeats: int = 1, **summary: Any) -> Path:
        write_json(tmp_path / "summary.json", summary)
        write_json(tmp_path / "provenance.json", {"target_repeats": target_repeats})
        return tmp_path

    return make
