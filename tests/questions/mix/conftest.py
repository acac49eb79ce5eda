"""A scale as `python -m olmix init` writes it, without its text."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from olmix.corpus.store import StoreWriter, TokenizerInfo
from olmix.files import write_json
from olmix.own_text.changes import Changes
from olmix.own_text.project import DomainRecord, Project, StageRecord
from olmix.own_text.scale_file import NextStage, Wishes, write_scale, write_stage, write_updates
from olmix.own_text.sizing import Sizing, choose_sizes
from olmix.own_text.speed import Devices, Speed
from olmix.paths import CONFIG

TOKENS = {"web": 60_000, "code": 30_000, "books": 10_000}


def sizing(minutes: float = 60.0, domains: int = 3) -> Sizing:
    speed = Speed(40_000.0, 1.0)
    return choose_sizes(domains, 512, minutes, Devices("cpu", 2), lambda name: speed, 1e5)


def record(tokens: int, version: str = "1") -> DomainRecord:
    content = {"documents": 1, "total": "1"}
    return DomainRecord("", version, 1, 1, 10 * tokens, tokens, "", content)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project over three domains, at its first stage."""
    made = Project("mine", tmp_path / "clone")
    shutil.copytree(CONFIG / "methods", made.root / "config" / "methods")
    info = TokenizerInfo("0" * 64, 512, 0)
    for name in TOKENS:
        with StoreWriter(made.corpus / name, domain=name, tokenizer=info) as writer:
            writer.add([1, 2, 3], bytes=9)
    stage = StageRecord("initial", {name: record(n) for name, n in TOKENS.items()}, [])
    write_updates(made, [stage], "a folder")
    wishes = Wishes(60.0, 1e5, "As you asked.", task_weights={"code": 2.0, "web": 0.0})
    write_scale(made, sizing(), wishes, NextStage("initial"))
    return made


@pytest.fixture
def updated(project: Project) -> Callable[..., Project]:
    """``updated(frozen, tokens, **changes)``: the same project at a second stage."""

    def update(frozen: tuple[str, ...], tokens: dict[str, int], **changes) -> Project:
        stages = [
            StageRecord("initial", {name: record(n) for name, n in TOKENS.items()}, []),
            StageRecord(
                "second",
                {n: record(count) for n, count in tokens.items()},
                [],
                Changes(**changes),
                sources={p: whole for whole, ps in changes.get("split", {}).items() for p in ps},
            ),
        ]
        write_updates(project, stages, "a folder")
        before = {"web": 0.2, "code": 0.5, "books": 0.3}
        write_json(project.mix("initial"), before)
        write_stage(project, NextStage("second", "initial", frozen))
        return project

    return update
