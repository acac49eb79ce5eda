"""A made-up release: the authors' folders, files and domain names, with a known law inside."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.published.settings import load_settings
from olmix.simulation.law import Law, random_law
from olmix.updates.collapse import Collapse
from olmix.updates.sequence import INITIAL, UpdateSequence, load_updates

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "config"
TASKS = (
    "minerva_math_algebra::olmes",
    "codex_humaneval:3shot::none",
    "mbpp:3shot::none",
    "arc_easy:rc::olmes",
    "coqa:rc::gen2mc",
    "lambada",
)
# Two of the released columns outside the 52, one with values far from BPB.
EXTRA = ("qasper_yesno:rc::olmes", "wildchat_masked_ppl")
# What the authors call things in each folder.
PREFIXES = {"revise_pdfs": "s2pdfv1", "partition_pdfs": "s2pdfv1", "add_more_sources": "s2pdfv2"}


@dataclass(frozen=True)
class Release:
    """The folder, the law behind its metrics, and the mixes its stages froze."""

    folder: Path
    law: Law
    frozen: dict[str, Mix]


@pytest.fixture(scope="session")
def settings() -> dict:
    """The shipped settings, with little to compute."""
    content = load_settings(CONFIG / "published.yaml")
    regression = content["regression"] | {"sizes": [10, 118], "splits": 3}
    small = {"regression": regression, "granularity": content["granularity"] | {"splits": 2}}
    content |= small | {"bootstrap": {"replicates": 4, "level": 0.9, "seed": 0}}
    return content


@pytest.fixture(scope="session")
def sequence() -> UpdateSequence:
    return load_updates(CONFIG / "updates" / "paper.yaml")


@pytest.fixture(scope="session")
def topics() -> list[str]:
    paper = DomainSet.load(CONFIG / "domains" / "paper.yaml")
    return [domain.topic for domain in paper.of_source("dclm")]


@pytest.fixture(scope="session")
def make_release(settings, sequence) -> Callable[..., Release]:
    """``make_release(folder, runs=..., only=...)`` writes the known swarms, or some of them."""

    def make(
        folder: Path, *, runs: int = 80, only: tuple[str, ...] | None = None, tasks=TASKS
    ) -> Release:
        rng = np.random.default_rng(0)
        catalogue = DomainSet.load(CONFIG / "domains" / "paper.yaml")
        law = random_law(catalogue, tasks, seed=3)
        stages = {stage.name: stage.domains for stage in sequence.stages()}
        mix, frozen = stages[INITIAL].natural(), {}
        for stage, domains in stages.items():
            frozen[stage] = mix
            if stage == INITIAL:
                collapse, names = None, domains.names
            else:
                collapse = Collapse(domains, sequence.full_reuse(stage), mix)
                names = collapse.names
            prior = domains.natural() if collapse is None else collapse.collapse(domains.natural())
            mixes = rng.dirichlet(np.maximum(prior.weights * len(names), 0.2), size=runs)
            full = mixes if collapse is None else mixes @ collapse.expansion
            measured = law.bpb(_over_catalogue(full, domains, catalogue))
            measured += law.noise * rng.standard_normal(measured.shape)
            known = [n for n, e in settings["swarms"].items() if e.get("stage") == stage]
            for name in known:
                if only is None or name in only:
                    at = folder / settings["swarms"][name]["folder"]
                    called = _called(stage, names, settings["swarms"][name].get("virtual"))
                    write_swarm(at, called, mixes, tasks, measured, prior, domains, collapse)
            mix = domains.natural()
        if only is None or "full_recomputation" in only:
            domains = stages["partition_pdfs"]
            mixes = rng.dirichlet(np.maximum(domains.natural().weights * 64, 0.2), size=3 * runs)
            measured = law.bpb(_over_catalogue(mixes, domains, catalogue))
            measured += law.noise * rng.standard_normal(measured.shape)
            called = [name.replace("pdf:", "s2pdf:") for name in domains.names]
            at = folder / settings["swarms"]["full_recomputation"]["folder"]
            write_swarm(at, called, mixes, tasks, measured, domains.natural(), domains, None)
        return Release(folder, law, frozen)

    return make


def _over_catalogue(mixes: np.ndarray, domains: DomainSet, catalogue: DomainSet) -> np.ndarray:
    """Mixes of a stage over all single domains; PDFs as one domain are spread naturally."""
    spread = np.zeros((len(mixes), len(catalogue)))
    topics = [n for n in catalogue.names if n.startswith("pdf:")]
    shares = catalogue.subset(topics).natural().to_dict()
    for column, name in enumerate(domains.names):
        for part, share in shares.items() if name == "pdf" else [(name, 1.0)]:
            spread[:, catalogue.names.index(part)] += share * mixes[:, column]
    return spread


def _called(stage: str, names: tuple[str, ...], virtual: str | None) -> list[str]:
    """The names of a stage's domains in the released files."""
    called = []
    for name in names:
        if stage == INITIAL:
            name = name.removeprefix("dclm:")
        if name == "existing" and virtual:
            name = virtual
        source, colon, topic = name.partition(":")
        if source == "pdf":
            name = f"{PREFIXES[stage]}{colon}{topic}"
        called.append(name)
    return called


def write_swarm(folder, called, mixes, tasks, measured, prior, domains, collapse) -> None:
    """ratios.csv, metrics.csv and meta.json as the authors write them: an unnamed row index."""
    folder.mkdir(parents=True)
    runs = [f"{folder.name[:4]}{k:04d}" for k in range(len(mixes))]
    keys = {"run": runs, "name": [f"5xC-30m-{run}" for run in runs], "index": range(len(runs))}
    ratios = pd.DataFrame(keys | dict(zip(called, mixes.T, strict=True)))
    values = dict(zip(tasks, measured.T, strict=True))
    values |= {EXTRA[0]: measured[:, 0] * 0.5, EXTRA[1]: np.exp(2 * measured[:, 1])}
    ratios.to_csv(folder / "ratios.csv")
    pd.DataFrame(keys | values).to_csv(folder / "metrics.csv")
    tokens = domains.tokens if collapse is None else collapse.membership @ domains.tokens
    meta = {
        "relative_sizes": dict(zip(called, prior.weights.tolist(), strict=True)),
        "token_counts": dict(zip(called, map(int, tokens), strict=True)),
        "released_by": "nobody",
    }
    (folder / "meta.json").write_text(json.dumps(meta))
