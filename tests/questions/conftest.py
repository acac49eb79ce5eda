"""Inputs of a question made by hand: swarm tables, proposals and task families on disk."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from olmix.files import write_json
from olmix.questions.answer import QuestionData
from olmix.tables import SwarmTable, write_table


@pytest.fixture
def question(tmp_path: Path) -> Callable[..., QuestionData]:
    """``question(settings, tables={swarm: table}, proposals={study: {name: record}}, ...)``."""

    def make(
        settings: Mapping[str, Any],
        tables: Mapping[str, SwarmTable],
        proposals: Mapping[str, Mapping[str, Any]] | None = None,
        families: Mapping[str, Sequence[str]] | None = None,
    ) -> QuestionData:
        for name, table in tables.items():
            folder = tmp_path / "tables" / name
            write_table(folder / "ratios.csv", table.runs, table.domains, table.mixes)
            write_table(folder / "metrics.csv", table.runs, table.tasks, table.metrics)
        for study, records in (proposals or {}).items():
            for name, record in records.items():
                write_json(tmp_path / "proposals" / study / f"{name}.json", record)
        grouped = families or {"all": next(iter(tables.values())).tasks}
        write_json(
            tmp_path / "data" / "families.json", {name: list(t) for name, t in grouped.items()}
        )
        return QuestionData(
            scale="made-up",
            settings={"seeds": 1, **settings},
            data=tmp_path / "data",
            tables={name: tmp_path / "tables" / name for name in tables},
            proposals={study: tmp_path / "proposals" / study for study in proposals or {}},
        )

    return make
