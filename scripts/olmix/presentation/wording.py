"""How numbers and names are written in sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from olmix.files import read_json
from olmix.regressors import FAMILIES
from olmix.updates.strategies import STRATEGIES

__all__ = [
    "captions_by_level",
    "difference",
    "domain_label",
    "interval",
    "listed",
    "lowest",
    "named",
    "percent",
    "repeated",
    "size_label",
    "spoken",
]


def spoken(name: str) -> str:
    """A name of the code as it is said: families and strategies have a label of their own."""
    if name in FAMILIES:
        return FAMILIES[name].label
    if name in STRATEGIES:
        return STRATEGIES[name].label
    return name.replace("_", " ").replace("-", " ")


def domain_label(name: str) -> str:
    """A domain as every figure and caption spells it: ``web:social_life`` is web: social life."""
    return name.replace("_", " ").replace(":", ": ")


def size_label(model: str, parameters: Mapping[str, int]) -> str:
    """A model by the parameters it really has, where these are known, or else by its name."""
    if model not in parameters:
        return model.upper()
    thousands = parameters[model] / 1000
    return f"{thousands:.0f}k" if thousands >= 10 else f"{thousands:.1f}k"


def listed(words: Iterable[str]) -> str:
    """a, b and c; nothing is none."""
    words = list(words) or ["none"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def named(values: Mapping[str, float], digits: int = 3, say: Callable[[str], str] = spoken) -> str:
    """Each name with its value: ``exact: 0.330, search: 0.331``."""
    return ", ".join(f"{say(name)}: {value:.{digits}f}" for name, value in values.items())


def lowest(
    values: Mapping[str, float], half: float | None, say: Callable[[str], str] = spoken
) -> str:
    """Which value is the lowest; where intervals of ``half`` a width overlap, those that may be."""
    order = sorted(values, key=lambda name: values[name])
    first = order[0]
    if half is None:
        return f"{say(first)} is the lowest, by single runs without intervals"
    near = [name for name in order if values[name] - values[first] <= 2 * half]
    if len(near) == 1:
        return f"{say(first)} is clearly the lowest"
    which = (
        "all intervals"
        if len(near) == len(order)
        else "the intervals of " + listed(say(name) for name in near)
    )
    return f"none is clearly the lowest, as {which} overlap"


def repeated(answer: Path) -> str:
    """What the intervals of BPB are; nothing where there are none."""
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    if repeats == 1:
        return ""
    return (
        f" BPB is the mean of {repeats} data orders, with a 95 % interval from the scatter of all "
        "mixes' runs."
    )


def captions_by_level(
    shown: str, found: Callable[[Path, str], str]
) -> tuple[Callable[[Path], str], Callable[[Path], str]]:
    """The captions of a figure that is drawn twice, over topics and over sources.

    ``shown`` is what both show; ``found(answer, level)`` says what was found at a level.
    """

    def caption(answer: Path, level: str) -> str:
        return f"{shown}{repeated(answer)} {found(answer, level)}"

    return partial(caption, level="topics"), partial(caption, level="sources")


def difference(value: float, digits: int = 3) -> str:
    """A number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def percent(value: float, digits: int = 0) -> str:
    """A share as a percentage."""
    return f"{100 * value:.{digits}f} %"


def interval(ends: Sequence[float], digits: int = 3) -> str:
    """A 95 % interval, and whether it leaves the sign open."""
    low, high = ends
    text = f"95 % interval {difference(low, digits)} to {difference(high, digits)}"
    return text + (", so not decided" if low <= 0 <= high else "")
