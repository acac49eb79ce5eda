"""What every question's analysis reads and writes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.corpus.tokenizer import load_tokenizer
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.files import content_hash, read_json, replacing, write_json
from olmix.model.shapes import is_tiny, shape
from olmix.proposers.method import Method
from olmix.provenance.environment import environment
from olmix.study.scale import NOTICES
from olmix.tables import SwarmTable, read_swarm
from olmix.updates.sequence import UpdateSequence, load_updates

__all__ = ["Answer", "QuestionData"]

# What a reader should know of every interval where a law stands in for training.
_ONE_LAW = (
    "intervals are by one of the laws that the released runs allow; docs/measured.md has what all "
    "of them say"
)


@dataclass(frozen=True)
class QuestionData:
    """The inputs of one question: swarm tables by name, proposals by study and name, choices.

    ``method`` is OlmixBase after its swarm. Names of swarms and proposals are the plan's:
    ``planned`` says which is which to the question.
    """

    scale: str
    settings: Mapping[str, Any]
    data: Path
    tables: Mapping[str, tuple[Path, Path]]
    proposals: Mapping[str, Path]
    method: Method
    planned: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)
    choices: Mapping[str, Path] = field(default_factory=dict)  # by group and stage

    @classmethod
    def from_job(cls, job: Any) -> "QuestionData":
        """The inputs that a question's rule hands over, from its ``snakemake`` object."""
        return cls(
            scale=job.params.scale,
            settings=job.params.settings,
            data=Path(job.input.data),
            tables={
                name: (Path(ratios), Path(metrics))
                for name, ratios, metrics in zip(
                    job.params.tables, job.input.ratios, job.input.metrics, strict=True
                )
            },
            proposals={Path(path).name: Path(path) for path in job.input.get("proposals", [])},
            method=Method(**job.params.method),
            planned=job.params.planned,
            runs=_run_folders(job.input.get("runs", [])),
            choices={Path(path).stem: Path(path) for path in job.input.get("choices", [])},
        )

    def table(self, swarm: str) -> SwarmTable:
        """The table of a collected swarm, by its name."""
        if swarm not in self.tables:
            raise OlmixError(f"no swarm '{swarm}' among {', '.join(self.tables)}")
        return read_swarm(*self.tables[swarm])

    def averages(self, swarms: str | Sequence[str]) -> dict[str, float]:
        """Measured average BPB of each run, by run name: of a swarm, or the mean of repetitions."""
        return self._repetitions(swarms).mean(axis=1).to_dict()

    def errors(self, swarms: str | Sequence[str]) -> dict[str, float]:
        """The standard error of each of `averages`; not a number without repetitions."""
        return self._repetitions(swarms).sem(axis=1).to_dict()

    def _repetitions(self, swarms: str | Sequence[str]) -> pd.DataFrame:
        """Average BPB: a row per run, a column per repetition."""
        names = [swarms] if isinstance(swarms, str) else swarms
        tables = [self.table(name) for name in names]
        return pd.DataFrame({i: pd.Series(t.metrics.mean(1), t.runs) for i, t in enumerate(tables)})

    def proposal(self, study: str, name: str) -> dict[str, Any]:
        """The record of a proposed mix (``mix.json``)."""
        return read_json(self.proposals[study] / f"{name}.json")

    def tiny_parameters(self, shapes: Mapping[str, str]) -> dict[str, int]:
        """What models really have whose size is not that of their name.

        ``shapes`` are shapes by model. Tiny ones take their vocabulary from the data; the others
        are the paper's, by its names.
        """
        tiny = {model: name for model, name in shapes.items() if is_tiny(name)}
        if not tiny:
            return {}
        _, tokenizer = load_tokenizer(self.data / "tokenizer.json")
        return {model: shape(name, tokenizer.vocab_size).parameters for model, name in tiny.items()}

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The task families of the suite: {family: tasks}."""
        return read_json(self.data / "families.json")

    @cached_property
    def sequence(self) -> UpdateSequence:
        """The scale's stages on its counted domains."""
        return load_updates(self.settings["updates"], DomainSet.load(self.data / "domains.json"))


def _run_folders(jobs: Iterable[str]) -> dict[str, dict[str, Path]]:
    """swarm -> run -> its folder, from the training folders of a swarm's jobs."""
    found: dict[str, dict[str, Path]] = {}
    for job in map(Path, jobs):
        runs = {folder.name: folder for folder in sorted(job.iterdir()) if folder.is_dir()}
        found.setdefault(job.parent.name, {}).update(runs)
    return found


class Answer:
    """A results folder in the making: tidy tables, a summary, provenance.

    The folder is a declared output, which the workflow removes when the job fails, so a half
    written one is never taken for an answer.
    """

    def __init__(self, folder: str | Path, question: str, inputs: QuestionData) -> None:
        self.folder, self.question, self.inputs = Path(folder), question, inputs

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table of the answer as ``<name>.csv``."""
        with replacing(self.folder / f"{name}.csv") as temporary:
            frame.to_csv(temporary, index=False)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write ``summary.json`` (the finding in numbers) and ``provenance.json``."""
        settings = dict(self.inputs.settings)
        engine = settings.get("engine", "train")
        notice = {"notice": NOTICES[engine]} if engine in NOTICES else {}
        if engine == "simulate":
            summary = {**summary, "notes": [*summary.get("notes", ()), _ONE_LAW]}
        write_json(self.folder / "summary.json", {"question": self.question, **notice, **summary})
        write_json(
            self.folder / "provenance.json",
            {
                "question": self.question,
                "scale": self.inputs.scale,
                "engine": engine,
                **notice,
                "seeds": settings["seeds"],
                "target_repeats": settings["target_repeats"],
                "config_hash": content_hash(json.loads(json.dumps(settings))),
                "inputs": sorted(str(ratios.parent) for ratios, _ in self.inputs.tables.values()),
                **environment(),
            },
        )
