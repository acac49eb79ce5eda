"""How numbers and names are written in sentences."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from olmix.files import read_json

__all__ = ["difference", "interval", "listed", "named", "percent", "repeated", "spoken"]

_NAMES = {
    "log_linear": "log-linear",
    "bimix": "BiMix",
    "autoscale": "AutoScale",
    "lightgbm": "LightGBM",
    "gaussian_process": "Gaussian process",
    "regmix": "RegMix",
    "olmix_base": "OlmixBase",
    "data_mixing_laws": "Data Mixing Laws",
    "kl-0.01": "KL 0.01",
    "kl-0.05": "KL 0.05",
    "1m": "1M",
    "15m": "15M",
    "30m": "30M",
    "60m": "60M",
}


def spoken(name: str) -> str:
    """A name of the code as it is said."""
    return _NAMES.get(name, name.replace("_", " ").replace("-", " "))


def listed(words: Iterable[str]) -> str:
    """a, b and c; nothing is none."""
    words = list(words) or ["none"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def named(values: Mapping[str, float], digits: int = 3) -> str:
    """Each name with its value: ``exact: 0.330, search: 0.331``."""
    return ", ".join(f"{spoken(name)}: {value:.{digits}f}" for name, value in values.items())


def repeated(answer: Path) -> str:
    """What the error bars of target BPB are; nothing where there are none."""
    repeats = read_json(answer / "provenance.json")["target_repeats"]
    if repeats == 1:
        return ""
    return f" Target BPB is the mean of {repeats} data orders, with its standard error."


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
