"""A question: its title, its tables, the settings it reads, and what it asks of the plan.

Each is a folder of `olmix/questions/` whose `plan.py` holds one of these as ``QUESTION``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from olmix.study.plan import Plan
from olmix.study.spec import Reads

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """One question of the study.

    Parameters
    ----------
    title, doing
        How report and README call it; what its job says while it runs.
    place
        Where it stands among the others, from 0 on.
    plan
        Asks a plan for what it needs, and says what the answer reads.
    tables
        The tables that its answer writes, each `results/<question>/<table>.csv`.
    settings
        The sections of a scale that its answer reads, besides those that all share.
    paper
        Whether the paper asks it. One of ours is left out of `snakemake` where a scale says
        ``ours: false``, and made when it is asked for by name.
    own_text
        Whether it is asked of somebody's own text, and not of the paper's study.
    needs
        What it, or one of its tables and figures, needs that the engine `simulate` does not have.
    figures
        Its figures: the public functions of its `figures.py`, which `load_questions` looks up.
    """

    title: str
    doing: str
    place: int
    plan: Callable[[Plan], Reads]
    tables: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    paper: bool = True
    own_text: bool = False
    needs: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[str, ...] = ()
