"""The files that a project is run by: a scale that a person can read and edit, and its updates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import yaml

from olmix.corpus.store import Corpus
from olmix.cost.compute import training_flops
from olmix.domains import Domain
from olmix.errors import OlmixError
from olmix.files import write_text
from olmix.model.shapes import shape
from olmix.own_text.project import Project, StageRecord
from olmix.own_text.sizing import MOST_TARGETS, ModelSize, Sizing
from olmix.own_text.speed import BATCH_TOKENS, MOST_INSTANCES
from olmix.study.methods import OLMIX_ENSEMBLE
from olmix.training.presets import preset

__all__ = ["NextStage", "Wishes", "write_scale", "write_stage", "write_updates"]

# No domain that takes part in a mix has fewer: 10,000 bytes in words of ten at most.
FEWEST_TOKENS = 1_000
# Above it is the user's, below it is written again by every update.
BORDER = "# ---- Below, every `python -m olmix update` writes anew. ----"

SCALE = """\
# Written by `python -m olmix init`, for {minutes:g} minutes on {devices}. Edit what you like:
#
#     snakemake mix --config scale={name}
#
# follows, and trains only what an edit makes necessary.

# Where the runs come from: `train` trains them.
engine: train

# R, the tokens of the run that the mix is for. A domain of N tokens may get a weight of k·N/R at
# most, since it would be seen more than k times otherwise. {requested_from}
requested_tokens: {requested:.0f}

# k, how often a domain may be seen.
repetition: {repetition:g}

# λ, the weight of the term that keeps the mix near the natural one. 0: no such term.
kl: 0.05

# How often each mix is checked by a target run, with another order of its data each time: what the
# measured gain has its interval from.
target_repeats: {target_repeats}
seeds: 1

# How the mix is chosen. method: a file of config/methods/. multiplier: c, about c(m+1) proxies are
# trained for m weights. level: of all intervals. task_weights: what each task counts, 1 if it is
# not named.
mix:
  method: {method}
  multiplier: {multiplier}
  level: 0.9
  task_weights: {task_weights}

# The models, as measured here for some seconds:
{measured}
# A smaller number of tokens makes runs shorter, a larger shape (compact-128x2, ...) slower.
# runs_per_job: runs that share a process. max_repetition: no run may repeat a domain more often.
models:
{models}
proxy: proxy

# How mixes of the swarm are drawn, around the shares of config/updates/{name}.yaml: bounds of the
# Dirichlet's total concentration, and the smallest weight (smaller ones are 0).
swarm:
  updates: {{strengths: [0.5, 5.0], min_weight: 0.02}}

# Scoring: tokens at once, and how many instances of a task at most, evenly spaced (null: all).
evaluation: {{batch_tokens: {batch_tokens}, max_instances: {max_instances}}}

# What jobs run on; times of jobs and `snakemake cost` come from it, results do not. peak_tflops is
# what training did when it was measured. config/scales/tiny.yaml explains every key.
hardware:
  device: {device}
  peak_tflops: {tflops:.6g}
  utilisation: 1.0
  step_seconds: 0
  evaluation_minutes: {evaluation_minutes:.4g}
  safety: 3
  spare_minutes: 20
  longest_job: 1440
  process_mb: 2000
  device_gb: {device_gb:g}
  devices: {device_count}

"""


@dataclass(frozen=True)
class NextStage:
    """A stage to be run: its name, and what stays of the mix before it.

    ``frozen`` domains keep the ratios to each other that the ``previous`` stage's mix has.
    """

    name: str
    previous: str | None = None
    frozen: Sequence[str] = ()


@dataclass(frozen=True)
class Wishes:
    """What a person asked for."""

    minutes: float
    requested: float
    requested_from: str
    repetition: float = 4.0
    method: str = OLMIX_ENSEMBLE
    task_weights: Mapping[str, float] = field(default_factory=dict)


def write_scale(project: Project, sizing: Sizing, wishes: Wishes, stage: NextStage) -> None:
    """Write the scale of a project, as it was sized and wished for."""
    weights = {name: f"{value:g}" for name, value in wishes.task_weights.items()}
    text = SCALE.format(
        name=project.name,
        minutes=wishes.minutes,
        devices=sizing.devices,
        requested=wishes.requested,
        requested_from=wishes.requested_from,
        repetition=wishes.repetition,
        target_repeats=sizing.target_repeats,
        method=wishes.method,
        multiplier=sizing.multiplier,
        task_weights="{" + ", ".join(f"{n}: {w}" for n, w in weights.items()) + "}",
        measured=_measured(sizing),
        batch_tokens=BATCH_TOKENS,
        max_instances=MOST_INSTANCES,
        models=_models(sizing),
        device=sizing.devices.kind,
        tflops=_tflops(sizing.proxy),
        evaluation_minutes=sizing.target.speed.evaluation_seconds / 60,
        device_gb=16 if sizing.devices.on_gpu else 2,
        device_count=sizing.devices.count,
    )
    write_text(project.scale_file, text + _stage_block(project, stage))


def _measured(sizing: Sizing) -> str:
    lines = []
    for what, size, runs in (
        ("proxy", sizing.proxy, sizing.runs),
        ("target", sizing.target, sizing.target_runs),
    ):
        lines.append(
            f"#   {what}: {size.parameters:,} parameters, {size.speed.tokens_per_second:,.0f} "
            f"tokens/s; {runs} runs of {size.run_seconds:.0f} s"
        )
    lines.append(f"# together about {sizing.minutes:.0f} minutes.")
    return "\n".join(lines)


def _models(sizing: Sizing) -> str:
    """The entries of the scale for its two models, proxy and target."""
    blocks = []
    devices = sizing.devices.count
    # A repetition of the target runs is a swarm of its own, of a run per mix.
    shared = min(MOST_TARGETS, -(-sizing.target_runs // devices))
    for name, size, per_job, at_once in (
        ("proxy", sizing.proxy, -(-sizing.runs // devices), devices),
        ("target", sizing.target, shared, 1),
    ):
        recipe = preset(size.shape)
        entry = {
            "shape": size.shape,
            "vocabulary": size.vocabulary,
            "tokens": size.tokens,
            "batch_size": recipe.batch_size,
            "sequence_length": recipe.sequence_length,
            "learning_rate": round(recipe.learning_rate, 5),
            # A mix of the swarm may be the smallest domain alone, now or after an update.
            "max_repetition": max(40, -(-size.tokens // FEWEST_TOKENS)),
            "runs_per_job": per_job,
            "jobs_at_once": at_once,
            "threads": 1,
            "gpu": int(sizing.devices.on_gpu),
        }
        lines = "".join(f"    {key}: {value}\n" for key, value in entry.items())
        blocks.append(f"  {name}:\n{lines}")
    return "".join(blocks)


def _tflops(size: ModelSize) -> float:
    """TFLOP/s that training did, by the formula that times of jobs are worked out with."""
    per_token = training_flops(
        shape(size.shape, size.vocabulary), 1, preset(size.shape).sequence_length
    )
    return per_token * size.speed.tokens_per_second / 1e12


def write_stage(project: Project, stage: NextStage) -> None:
    """Write the last part of the scale for another stage; what a person edited above stays."""
    text = project.scale_file.read_text(encoding="utf-8")
    own, border, _ = text.partition(BORDER)
    if not border:
        raise OlmixError(
            f"{project.scale_file}: the line {BORDER!r} is gone; put it back above data, updates "
            "and stage, so that an update knows what to write again"
        )
    write_text(project.scale_file, own + _stage_block(project, stage))


def _stage_block(project: Project, stage: NextStage) -> str:
    content: dict[str, Any] = {
        "data": {
            "corpora": {
                "tokenised": project.relative(project.corpus),
                "tokenizer": project.relative(project.tokenizer),
                "suite": project.relative(project.suite(stage.name)),
                "made_from": Corpus.open(project.corpus).fingerprint,
            }
        },
        "updates": project.relative(project.updates_file),
        "stage": {
            "name": stage.name,
            "previous": project.relative(project.mix(stage.previous)) if stage.previous else None,
            "frozen": list(stage.frozen),
        },
    }
    about = (
        "# The tokenised text and its tasks; the domains and their updates; the stage at hand:\n"
        "# which domains keep their ratios to each other (frozen), those of which mix (previous).\n"
    )
    body = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None)
    return f"{BORDER}\n{about}{body}"


def write_updates(project: Project, stages: Sequence[StageRecord], text: str) -> None:
    """Write the domains and every update so far; ``text`` says where the text is from."""
    first = stages[0]
    content = {
        "description": f"own text: {text}",
        "domains": dict(first.tokens),
        "initial": list(first.tokens),
        "initial_prior": _shares(first),
        "updates": [_update(before, after) for before, after in pairwise(stages)],
    }
    about = (
        "# Written by `python -m olmix init` and `update`: the domains, their tokens without what\n"
        "# is held out, and what happened to them. The priors are what swarms are drawn around:\n"
        "# shares by the square root of a domain's size, since by size alone small domains would\n"
        "# hardly be tried. config/updates/paper.yaml explains every key.\n"
    )
    body = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None)
    write_text(project.updates_file, about + body)


def _update(before: StageRecord, after: StageRecord) -> dict[str, Any]:
    """An entry of the updates file; its operators apply in the order they are written."""
    changes, tokens = after.changes, after.tokens
    entry: dict[str, Any] = {"name": after.name}
    if changes.split:
        entry["partition"] = {
            whole: {part: tokens[part] for part in parts} for whole, parts in changes.split.items()
        }
    if changes.revised:
        entry["revise"] = {name: tokens[name] for name in changes.revised}
    if changes.added:
        entry["add"] = {
            name: {"tokens": tokens[name], "version": after.domains[name].version}
            for name in changes.added
        }
    if changes.removed:
        entry["remove"] = list(changes.removed)
    return entry | {"prior": _shares(after)}


def _shares(stage: StageRecord) -> dict[str, float]:
    """The share of each source in the swarms of a stage: by the square root of its tokens."""
    roots: dict[str, float] = {}
    for name, tokens in stage.tokens.items():
        source = stage.sources.get(name, Domain.named(name, tokens).source)
        roots[source] = roots.get(source, 0.0) + math.sqrt(tokens)
    total = sum(roots.values())
    return {source: round(root / total, 4) for source, root in roots.items()}
