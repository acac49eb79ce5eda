"""Tables as pages of their own: caption, table, the CSV to take along, and what made it."""

import html
from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from olmix.errors import OlmixError

__all__ = ["page", "provenance_lines", "read_table", "table_page", "tables_of"]

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em; color: #1e293b; }
p { max-width: 60em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #e2e8f0; }
th { position: sticky; top: 0; background: #f1f5f9; }
.text { text-align: left; }
.wide { overflow-x: auto; }
.figures { display: flex; flex-wrap: wrap; gap: 1em 2em; align-items: flex-start; }
.figures img { max-width: min(34em, 100%); }
@media (max-width: 40em) { body { margin: 1em; } th, td { padding: .25em .5em; } }
footer { margin-top: 2em; color: #64748b; font-size: 12px; }
"""
_DIGITS = 5


def tables_of(answer: Path) -> list[Path]:
    """The tables of a results folder; a single table stands for itself."""
    found = [answer] if answer.suffix == ".csv" else sorted(answer.glob("*.csv"))
    if not found:
        raise OlmixError(f"{answer}: no tables (*.csv) to show in the report")
    return found


def read_table(path: Path) -> pd.DataFrame:
    """A table as it was written: empty cells stay empty."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def page(title: str, blocks: Iterable[str]) -> str:
    """A whole page of HTML blocks, with nothing outside itself."""
    screen = "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    head = (
        f"<meta charset='utf-8'>{screen}<title>{html.escape(title)}</title><style>{_STYLE}</style>"
    )
    body = "\n".join([f"<h2>{html.escape(title)}</h2>", *blocks])
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>{body}</body></html>\n"


def table_page(path: Path, caption: str, provenance: Mapping[str, Any]) -> str:
    """The page of one table."""
    frame = read_table(path)
    data = b64encode(path.read_bytes()).decode()
    rows = f"{len(frame)} rows; <a download='{path.name}' href='data:text/csv;base64,{data}'>"
    return page(
        path.stem,
        [
            f"<p>{html.escape(caption)}</p>",
            html_table(frame),
            f"<footer>{rows}{path.name}</a>{_footer(provenance)}</footer>",
        ],
    )


def html_table(frame: pd.DataFrame) -> str:
    """A table as HTML; numbers to five significant digits, aligned right."""
    kinds = [
        "" if pd.api.types.is_numeric_dtype(kind) else " class='text'" for kind in frame.dtypes
    ]
    head = _row("th", zip(map(str, frame.columns), kinds, strict=True))
    body = [
        _row("td", zip(map(_shown, row), kinds, strict=True))
        for row in frame.itertuples(index=False)
    ]
    return f"<table><thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"


def provenance_lines(provenance: Mapping[str, Any]) -> list[str]:
    """What made a result, as ``name: value`` lines."""
    keys = ("notice", "scale", "seeds", "commit", "config_hash", "time", "host", "python")
    lines = [f"{key}: {provenance[key]}" for key in keys if provenance.get(key) is not None]
    if "versions" in provenance:
        lines.append(", ".join(f"{name} {v}" for name, v in provenance["versions"].items()))
    return lines


def _footer(provenance: Mapping[str, Any]) -> str:
    lines = provenance_lines(provenance)
    return "<br>" + " · ".join(map(html.escape, lines)) if lines else ""


def _row(tag: str, cells: Iterable[tuple[str, str]]) -> str:
    inside = "".join(f"<{tag}{kind}>{html.escape(text)}</{tag}>" for text, kind in cells)
    return f"<tr>{inside}</tr>"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.{_DIGITS}g}"
    return str(value)
