"""The strategies by name. A new one is a class in this package and an entry in `COMPARED`."""

from olmix.errors import OlmixError
from olmix.updates.strategies.auto_partial_reuse import AutoPartialReuse
from olmix.updates.strategies.base import ChainAtStage, Strategy
from olmix.updates.strategies.constructed import IntermediateReuse, OptimalReuse, WeakReuse
from olmix.updates.strategies.full_recomputation import FullRecomputation
from olmix.updates.strategies.mixture_reuse import FullMixtureReuse, PartialMixtureReuse
from olmix.updates.strategies.swarm_reuse import SwarmReuse

__all__ = [
    "AUTO_PARTIAL_REUSE",
    "COMPARED",
    "CONSTRUCTED",
    "FULL_MIXTURE_REUSE",
    "FULL_RECOMPUTATION",
    "INTERMEDIATE_REUSE",
    "OPTIMAL_REUSE",
    "PAPER",
    "PARTIAL_MIXTURE_REUSE",
    "STRATEGIES",
    "SWARM_REUSE",
    "WEAK_REUSE",
    "ChainAtStage",
    "Strategy",
    "strategy_of",
]

FULL_RECOMPUTATION = FullRecomputation()
SWARM_REUSE = SwarmReuse()
FULL_MIXTURE_REUSE = FullMixtureReuse()
PARTIAL_MIXTURE_REUSE = PartialMixtureReuse()
AUTO_PARTIAL_REUSE = AutoPartialReuse()
WEAK_REUSE, INTERMEDIATE_REUSE, OPTIMAL_REUSE = WeakReuse(), IntermediateReuse(), OptimalReuse()

#: The paper's own, in the order of its cost tables.
PAPER = (FULL_RECOMPUTATION, SWARM_REUSE, FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE)
#: Those of the main figure, in the order of its legend.
COMPARED: tuple[Strategy, ...] = (*PAPER, AUTO_PARTIAL_REUSE)
#: Those of the theory's figures, from far to near the optimal ratios.
CONSTRUCTED = (WEAK_REUSE, INTERMEDIATE_REUSE, OPTIMAL_REUSE)

STRATEGIES: dict[str, Strategy] = {known.name: known for known in (*COMPARED, *CONSTRUCTED)}


def strategy_of(name: str) -> Strategy:
    """A strategy by name; one that does not exist is refused with those that do."""
    if name not in STRATEGIES:
        raise OlmixError(f"unknown strategy '{name}', expected one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
