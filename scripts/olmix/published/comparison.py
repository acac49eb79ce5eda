"""The table *paper value, our value, difference*, and what is missing to fill it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from olmix.errors import OlmixError

__all__ = ["Findings", "comparison_table"]


@dataclass
class Findings:
    """What was found, by the id of the paper's value; a reason where nothing could be."""

    values: dict[str, float | str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: float | str, note: str = "") -> None:
        """Note the value we found for one of the paper's."""
        self.values[name] = value
        self.notes[name] = note

    def lacks(self, names: Sequence[str], why: str) -> None:
        """Note values that cannot be found here, and what they would need."""
        self.missing |= dict.fromkeys(names, why)

    def to_dict(self) -> dict[str, Any]:
        """The findings as plain JSON values."""
        return {"values": self.values, "notes": self.notes, "missing": self.missing}

    @classmethod
    def joined(cls, parts: Sequence[Mapping[str, Any]]) -> "Findings":
        """Several `to_dict` as one; two that know the same value are a mistake."""
        whole = cls()
        for part in parts:
            known = set(whole.values) | set(whole.missing)
            twice = known & (set(part["values"]) | set(part["missing"]))
            if twice:
                raise OlmixError(f"paper value '{sorted(twice)[0]}' was found twice")
            whole.values |= part["values"]
            whole.notes |= part["notes"]
            whole.missing |= part["missing"]
        return whole


def comparison_table(paper: Sequence[Mapping[str, Any]], found: Findings) -> pd.DataFrame:
    """A row per value of the paper; every one is either found or said to be missing."""
    rows = []
    for entry in paper:
        name = entry["id"]
        if name not in found.values and name not in found.missing:
            raise OlmixError(f"paper value '{name}': no analysis finds or misses it")
        theirs, ours = entry["value"], found.values.get(name)
        difference = agrees = None
        if isinstance(theirs, int | float) and ours is not None and not isinstance(ours, str):
            difference = ours - theirs
            agrees = abs(difference) <= entry.get("tolerance", 0.0) + 1e-12
        elif ours is not None:
            agrees = ours == theirs
        note = found.notes.get(name, "") or ""
        if name in found.missing:
            note = f"not computed: {found.missing[name]}"
        rows.append(
            {
                "id": name,
                "where": entry["where"],
                "what": entry["what"],
                "paper": theirs,
                "ours": ours,
                "difference": difference,
                "agrees": {True: "yes", False: "no", None: ""}[agrees],
                "note": note,
            }
        )
    return pd.DataFrame(rows)
