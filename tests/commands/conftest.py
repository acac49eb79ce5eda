"""Commands called as a person calls them, and a small swarm whose law is known."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from olmix.__main__ import main
from olmix.domains import DomainSet
from olmix.simulation.law import Law

TOKENS = {
    "web:news": 4_000_000_000,
    "web:sport": 3_000_000_000,
    "web:code": 1_000_000_000,
    "books": 1_500_000_000,
    "wiki": 500_000_000,
}


@dataclass(frozen=True)
class Simulated:
    """What `simulate` wrote, and the law behind it."""

    folder: Path

    @property
    def ratios(self) -> Path:
        return self.folder / "ratios.csv"

    @property
    def metrics(self) -> Path:
        return self.folder / "metrics.csv"

    @property
    def counts(self) -> Path:
        return self.folder / "domains.json"

    @property
    def domains(self) -> DomainSet:
        return DomainSet.load(self.counts)

    @property
    def law(self) -> Law:
        record = json.loads((self.folder / "law.json").read_text())
        numbers = {name: np.array(record[name]) for name in ("coefficients", "constants", "noise")}
        return Law(tuple(record["domains"]), tuple(record["tasks"]), **numbers)

    @property
    def swarm_options(self) -> list:
        return ["--ratios", self.ratios, "--metrics", self.metrics]


def call(*arguments) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def olmix() -> Callable[..., int]:
    """``olmix("fit", "--ratios", path, ...)``: one command in this process."""
    return call


@pytest.fixture
def refused(capsys) -> Callable[..., str]:
    """Call a command that must end with status 2 and one line on stderr; returns the line."""

    def refuse(*arguments) -> str:
        capsys.readouterr()
        assert call(*arguments) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1, err
        return err

    return refuse


@pytest.fixture(scope="session")
def simulated(tmp_path_factory) -> Simulated:
    """Forty runs over five domains and four tasks, with little noise."""
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "given.json").write_text(json.dumps({"token_counts": TOKENS}))
    options = ("--runs", 40, "--tasks", 4, "--noise", 0.005, "--seed", 3)
    assert call("simulate", "--domains", folder / "given.json", *options, "--out", folder) == 0
    return Simulated(folder)


@pytest.fixture
def no_figures(monkeypatch) -> None:
    """Leave the drawing out: it is most of a command's time, and tested once."""
    for module, names in {
        "fit": ("plot_fit", "plot_mix", "plot_coefficients", "plot_kl_sweep"),
        "reuse": ("plot_mix",),
    }.items():
        for name in names:
            monkeypatch.setattr(f"olmix.commands.{module}.{name}", lambda *_: None)
