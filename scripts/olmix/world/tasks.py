"""Task instances: a prompt of a few solved sentences and an open one, and its gold continuation."""

import numpy as np

from olmix.world.design import WorldDesign
from olmix.world.skills import PAD, Grammar
from olmix.world.words import seeded

__all__ = ["all_instances"]


def all_instances(
    design: WorldDesign, grammar: Grammar, seed: int
) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Prompt ids and gold ids of each task's instances."""
    return {task: _instances(design, grammar, task, seed) for task in design.tasks}


def _instances(
    design: WorldDesign, grammar: Grammar, task: str, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = seeded(seed, "task", task)
    found = []
    for skill, share in design.tasks[task].skills.items():
        count = round(share * design.instances)
        rows, golds = grammar.sentences(skill, count * (design.shots + 1), rng)
        rows = rows.reshape(count, design.shots + 1, -1)
        golds = golds.reshape(count, design.shots + 1)[:, -1]
        for row, gold in zip(rows, golds, strict=True):
            ids = row.reshape(-1)
            end = ids[ids != PAD]
            open_sentence = row[-1][row[-1] != PAD]
            cut = len(end) - len(open_sentence) + gold
            found.append((end[:cut], end[cut:]))
    return found
