"""The paper's descriptive tables, derived from config: domains, tasks, models, methods, costs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.config_files import read_config
from olmix.domains import DomainSet
from olmix.model.shapes import shape
from olmix.training.presets import preset
from olmix.updates.sequence import UpdateSequence, load_updates
from olmix.updates.strategies import (
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    SWARM_REUSE,
    Strategy,
)

__all__ = [
    "COSTS",
    "cost_table",
    "design_choices",
    "domain_sizes",
    "domain_updates",
    "eval_suite",
    "model_architectures",
]

MULTIPLIERS = (1, 2, 3)
#: The paper's cost tables, and the strategy each is about.
COSTS = {
    "cost_full_recomputation": FULL_RECOMPUTATION,
    "cost_swarm_reuse": SWARM_REUSE,
    "cost_full_reuse": FULL_MIXTURE_REUSE,
    "cost_partial_reuse": PARTIAL_MIXTURE_REUSE,
}


def domain_updates(sequences: Mapping[str, UpdateSequence]) -> pd.DataFrame:
    """Stages of each scale's sequence, the change of the number of domains, and what changed."""
    rows = []
    for scale, sequence in sequences.items():
        previous = 0
        for stage in sequence.stages():
            count = len(stage.domains)
            operators = stage.update.operators if stage.update else ()
            kinds = "+".join(type(operator).__name__.lower() for operator in operators)
            rows.append(
                {
                    "scale": scale,
                    "stage": stage.name,
                    "operation": kinds or "initial",
                    "change": count - previous,
                    "domains": count,
                }
            )
            previous = count
    return pd.DataFrame(rows)


def domain_sizes(catalogues: Mapping[str, DomainSet]) -> pd.DataFrame:
    """Source, topic and token count of every domain of each scale."""
    return pd.DataFrame(
        [
            {
                "scale": scale,
                "domain": domain.name,
                "source": domain.source,
                "topic": domain.topic or "",
                "tokens": domain.tokens,
            }
            for scale, catalogue in catalogues.items()
            for domain in catalogue
        ]
    )


def eval_suite(tasks: str | Path) -> pd.DataFrame:
    """The 52 tasks of the paper's suite: family, shots, instances, how close to the authors'."""
    entries = read_config(tasks)["tasks"]
    columns = ("name", "family", "shots", "instances", "match")
    return pd.DataFrame([{key: entry.get(key, "") for key in columns} for entry in entries])


def model_architectures(models: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """Shape and training of every model of each scale (paper's table, with what it leaves out)."""
    rows = []
    for scale, named in models.items():
        for name, settings in named.items():
            form, recipe = shape(settings["shape"]), preset(settings["shape"])
            rows.append(
                {
                    "scale": scale,
                    "model": name,
                    "vocab_size": form.vocab_size,
                    "n_layers": form.n_layers,
                    "n_heads": form.n_heads,
                    "d_model": form.d_model,
                    "head_dim": form.head_dim,
                    "mlp_hidden": form.mlp_hidden,
                    "parameters": form.parameters,
                    "tokens": settings.get("tokens", recipe.tokens),
                    "batch_size": settings.get("batch_size", recipe.batch_size),
                    "sequence_length": settings.get("sequence_length", recipe.sequence_length),
                    "learning_rate": settings.get("learning_rate", recipe.learning_rate),
                }
            )
    return pd.DataFrame(rows)


def design_choices(path: str | Path) -> pd.DataFrame:
    """Seven design choices across seven mixing methods, one row per choice."""
    content = read_config(path)["methods"]
    choices = list(next(iter(content.values())))
    return pd.DataFrame(
        [
            {"choice": choice, **{method: row[choice] for method, row in content.items()}}
            for choice in choices
        ]
    )


def cost_table(sequences: Mapping[str, UpdateSequence], strategy: Strategy) -> pd.DataFrame:
    """Domains recomputed and proxy runs per stage for c = 1, 2, 3, with totals."""
    rows = []
    for scale, sequence in sequences.items():
        plans = {c: strategy.plan(sequence, c) for c in MULTIPLIERS}
        for number, stage in enumerate(plans[1]):
            runs = {f"c={c}": plans[c][number].runs for c in MULTIPLIERS}
            recomputed = stage.domains_recomputed
            rows.append(
                {"scale": scale, "stage": stage.stage, "domains_recomputed": recomputed, **runs}
            )
        totals = {f"c={c}": sum(stage.runs for stage in plans[c]) for c in MULTIPLIERS}
        rows.append({"scale": scale, "stage": "total", "domains_recomputed": "", **totals})
    return pd.DataFrame(rows)


def load_sequences(updates: Mapping[str, str | Path]) -> dict[str, UpdateSequence]:
    """The update sequence of each scale."""
    return {scale: load_updates(path) for scale, path in updates.items()}
