"""Which methods of ``config/methods/`` answer a sequence of updates, and why the others do not."""

from collections.abc import Mapping

from olmix.errors import OlmixError
from olmix.study.methods import MixingMethod
from olmix.study.scale import Scale
from olmix.study.systems import System
from olmix.systems.kinds.fixed import Fixed
from olmix.systems.kinds.from_model import FromModel
from olmix.systems.kinds.rounds import Rounds
from olmix.systems.kinds.steering import MovingMix, MovingWeights
from olmix.updates.sequence import UpdateSequence

__all__ = ["system_in_updates"]

_OFFERED = (Fixed, Rounds)
# A virtual domain of frozen ratios is a mixing problem's domain, but not a run's.
_REFUSED = {
    MovingMix: "it steers the target run over whole domains",
    MovingWeights: "it steers a run over whole domains",
    FromModel: "it looks into a run over whole domains",
}


def system_in_updates(
    file: str,
    sequence: UpdateSequence,
    scale: Scale,
    methods: Mapping[str, MixingMethod],
    systems: Mapping[str, System],
) -> System | None:
    """The system that a sequence's ``method`` names, None for a method of seven choices.

    One that cannot answer a collapsed problem, or not at this scale, is refused.
    """
    name, where = sequence.method, f"{file}: method is '{sequence.method}'"
    if name in methods:
        return None
    offered = [known.name for known in systems.values() if known.kind in _OFFERED]
    expected = f"expected one of {', '.join(sorted([*methods, *offered]))}"
    if name not in systems:
        raise OlmixError(f"{where}, {expected}")
    system = systems[name]
    if system.kind in _REFUSED:
        why = _REFUSED[system.kind]
        raise OlmixError(f"{where}, which is not offered in updates: {why}; {expected}")
    if system.lacks:
        raise OlmixError(f"{where}, which needs {system.lacks}")
    if scale["engine"] == "simulate" and system.cheaper_sizes:
        raise OlmixError(f"{where}, which needs models of other sizes; a law is of one")
    for model in (*system.cheaper_sizes, *([system.proxy_size] if system.proxy_size else [])):
        scale.model(model)
    return system
