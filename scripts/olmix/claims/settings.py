"""Read config/claims.yaml: the claims, their parts and bounds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from olmix.claims.rules import KINDS, Bound
from olmix.config_files import check_keys, read_config
from olmix.errors import OlmixError
from olmix.files import content_hash

__all__ = ["Claim", "ClaimSettings", "Part", "load_claims"]


@dataclass(frozen=True)
class Part:
    """A part of a claim: what is measured, the bound it is judged by, and why that bound."""

    what: str
    bound: Bound
    why: str


@dataclass(frozen=True)
class Claim:
    """A claim of the paper: its value there, the results and the figure it is about, its parts."""

    name: str
    claim: str
    paper: str
    results: tuple[str, ...]
    figure: str
    parts: Mapping[str, Part]


@dataclass(frozen=True)
class ClaimSettings:
    """All claims, the coverage of intervals, and which scales repeat which.

    ``asked_again`` are the scales that judge a scale's open claims with more runs, ``replicas`` the
    scales that a ground's verdicts are over, ``why`` what we think of a verdict, by claim.
    """

    confidence: float
    repetitions: Mapping[str, tuple[str, ...]]
    asked_again: Mapping[str, str]
    replicas: Mapping[str, tuple[str, ...]]
    why: Mapping[str, str]
    claims: tuple[Claim, ...]

    @property
    def fingerprint(self) -> str:
        """A hash of what decides verdicts: settings with the same one judge alike."""
        bounds = {
            f"{claim.name}/{name}": [part.bound.kind, part.bound.value, part.bound.within]
            for claim in self.claims
            for name, part in claim.parts.items()
        }
        return content_hash({"confidence": self.confidence, "bounds": bounds})

    def only(self, names: str | None) -> "ClaimSettings":
        """Some of the claims, by their names in one text (``C12 C13``); all for None."""
        if names is None:
            return self
        known = [claim.name for claim in self.claims]
        for name in names.split():
            if name not in known:
                raise OlmixError(f"no claim '{name}', expected some of {' '.join(known)}")
        chosen = tuple(claim for claim in self.claims if claim.name in names.split())
        return replace(self, claims=chosen)


def load_claims(path: str | Path) -> ClaimSettings:
    """Read and check a claims file."""
    content = read_config(path)
    keys = ("confidence", "repetitions", "asked_again", "replicas", "why", "claims")
    check_keys(content, keys, keys, where=str(path))
    confidence = content["confidence"]
    if type(confidence) is not float or not 0 < confidence < 1:
        raise OlmixError(f"{path}: confidence is {confidence!r}, expected a share such as 0.90")
    repetitions, replicas = (
        {name: tuple(scales) for name, scales in (content[key] or {}).items()}
        for key in ("repetitions", "replicas")
    )
    claims = [_claim(name, entry, f"{path}: {name}") for name, entry in content["claims"].items()]
    why = content["why"] or {}
    check_keys(why, tuple(content["claims"]), where=f"{path}: why")
    asked_again = content["asked_again"] or {}
    return ClaimSettings(confidence, repetitions, asked_again, replicas, why, tuple(claims))


def _claim(name: str, entry: Mapping[str, Any], where: str) -> Claim:
    keys = ("claim", "paper", "results", "figure", "parts")
    check_keys(entry, keys, keys, where=where)
    parts = {part: _part(value, f"{where}.{part}") for part, value in entry["parts"].items()}
    if not parts:
        raise OlmixError(f"{where}: no parts, expected one or more")
    return Claim(
        name, entry["claim"], entry["paper"], tuple(entry["results"]), entry["figure"], parts
    )


def _part(entry: Mapping[str, Any], where: str) -> Part:
    check_keys(entry, ("what", "why", "within", *KINDS), ("what", "why"), where=where)
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1 or ("within" in entry) != (kinds == ["close_to"]):
        found = ", ".join(key for key in entry if key not in ("what", "why")) or "none"
        raise OlmixError(
            f"{where}: bounds {found}, expected one of {', '.join(KINDS)} (close_to with within)"
        )
    values = [entry[kinds[0]], entry.get("within", 0.0)]
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise OlmixError(f"{where}: bound {value!r}, expected a number")
    return Part(entry["what"], Bound(kinds[0], *map(float, values)), entry["why"])
