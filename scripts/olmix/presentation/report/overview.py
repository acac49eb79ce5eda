"""Runtimes and provenance of everything in the report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.cost.timing import job_seconds
from olmix.presentation.report.pages import html_table, page

__all__ = ["overview_caption", "overview_page", "runtime_table"]


def runtime_table(benchmarks: Path) -> pd.DataFrame:
    """Jobs, seconds in all, and the longest job of every rule, the most costly rule first."""
    rows = [
        {
            "rule": rule,
            "jobs": len(seconds),
            "seconds": sum(seconds),
            "share_percent": 0.0,
            "longest": max(seconds),
        }
        for rule, seconds in job_seconds(benchmarks).items()
    ]
    frame = pd.DataFrame(rows).sort_values("seconds", ascending=False)
    share = 100 * frame["seconds"] / frame["seconds"].sum()
    return frame.assign(share_percent=share.round(1))


def overview_page(runtimes: pd.DataFrame, provenances: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with the tables of runtimes and of provenance."""
    keys = ("scale", "seeds", "commit", "config_hash", "time", "host", "python")
    made = pd.DataFrame(
        [
            {"result": name, **{key: str(record.get(key, "")) for key in keys}}
            for name, record in provenances.items()
        ]
    )
    versions = [record["versions"] for record in provenances.values() if "versions" in record]
    installed = ", ".join(f"{name} {version}" for name, version in (versions or [{}])[-1].items())
    return page(
        "Runtimes and provenance",
        [
            f"<p>{overview_caption(runtimes)}</p>",
            html_table(runtimes),
            "<h2>What made each result</h2>",
            html_table(made),
            f"<p>{installed}</p>",
        ],
    )


def overview_caption(runtimes: pd.DataFrame) -> str:
    """How many jobs and hours there were, and where most of the time went."""
    most = runtimes.iloc[0]
    return (
        f"{runtimes['jobs'].sum()} jobs took {runtimes['seconds'].sum() / 3600:.2f} hours of job "
        f"time; {most['rule']} took {most['share_percent']:.0f} % of it."
    )
