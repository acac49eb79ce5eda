"""Task instances: a prompt of a few solved sentences and an open one, and its gold continuation."""

import numpy as np

from olmix.world.design import WorldDesign
from olmix.world.skills import PAD, Grammar
from olmix.world.words import seeded

__all__ = ["all_instances"]

# Candidates drawn per instance wanted: enough to find all prompts where there are few.
TRIES = 8

Instance = tuple[np.ndarray, np.ndarray]


def all_instances(design: WorldDesign, grammar: Grammar, seed: int) -> dict[str, list[Instance]]:
    """Prompt ids and gold ids of each task's instances, no prompt twice."""
    return {
        name: [
            instance
            for skill, share in task.skills.items()
            for instance in _instances(
                grammar,
                skill,
                round(share * design.instances),
                design.shots,
                seeded(seed, "task", name, skill),
            )
        ]
        for name, task in design.tasks.items()
    }


def _instances(
    grammar: Grammar, skill: str, count: int, shots: int, rng: np.random.Generator
) -> list[Instance]:
    """Up to ``count`` instances of one skill; none has its answer among its shots."""
    drawn = TRIES * count
    rows, gold_starts = grammar.sentences(skill, drawn * (shots + 1), rng)
    found: dict[tuple[int, ...], Instance] = {}
    for index in range(drawn):
        if len(found) == count:
            break
        *solved, asked = range(index * (shots + 1), (index + 1) * (shots + 1))
        if (rows[solved] == rows[asked]).all(axis=1).any():
            continue
        sentence = rows[asked][rows[asked] != PAD]
        before = rows[solved][rows[solved] != PAD]
        prompt = np.concatenate([before, sentence[: gold_starts[asked]]])
        found.setdefault(tuple(prompt), (prompt, sentence[gold_starts[asked] :]))
    return list(found.values())
