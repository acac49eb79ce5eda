"""Text tables as people save them: separated by commas, tabs or semicolons, and checked for damage.

What a lenient reader would repair in silence is refused here with its line: rows longer or shorter
than the header, equal column names, files that are no table at all.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from olmix.errors import OlmixError

__all__ = ["TextTable", "read_delimited"]

_SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons"}
_LFS_POINTER = "version https://git-lfs"


@dataclass(frozen=True)
class TextTable:
    """A header and rows of text, with the line each row stands on."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    notes: tuple[str, ...]

    def column(self, name: str) -> list[str]:
        """The cells of one column, without spaces around them."""
        place = self.header.index(name)
        return [row[place].strip() for row in self.rows]


def read_delimited(path: str | Path) -> TextTable:
    """Read a table whatever separates its columns; damage is refused with its line."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise OlmixError(f"{path}: not a CSV table (it is a folder)") from None
    except UnicodeDecodeError as error:
        raise OlmixError(f"{path}: not a CSV table ({error.reason}, byte {error.start})") from None
    if text.startswith(_LFS_POINTER):
        raise OlmixError(f"{path}: a Git LFS pointer and not the table it stands for; fetch it")
    if not text.strip():
        raise OlmixError(f"{path}: not a CSV table (it is empty)")
    separator, parsed = _parse(text, path)
    (_, header), *rows = parsed
    notes = []
    if separator != ",":
        notes.append(f"{path.name}: columns are separated by {_SEPARATORS[separator]}")
    if not text.endswith(("\n", "\r")):
        notes.append(f"{path.name}: its last line is not ended, the file may be truncated")
    _check(path, header, rows)
    return TextTable(
        path,
        tuple(column.strip() for column in header),
        tuple(tuple(row) for _, row in rows),
        tuple(line for line, _ in rows),
        tuple(notes),
    )


def _parse(text: str, path: Path) -> tuple[str, list[tuple[int, list[str]]]]:
    """The separator and the rows with their lines: the separator that makes all rows alike."""
    parsed = {}
    for separator in _SEPARATORS:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            parsed[separator] = [(reader.line_num, row) for row in reader if row]
        except csv.Error as error:
            raise OlmixError(f"{path}: not a CSV table ({error})") from None
    several = {s: rows for s, rows in parsed.items() if len(rows[0][1]) > 1}
    if not several:
        raise OlmixError(
            f"{path}: not a CSV table (its first line has one column: '{text.split()[0][:60]}')"
        )
    alike = [s for s, rows in several.items() if len({len(row) for _, row in rows}) == 1]
    if len(alike) > 1:
        names = " or ".join(_SEPARATORS[separator] for separator in alike)
        raise OlmixError(f"{path}: separated by {names}? both give whole rows; quote the names")
    # With no separator that fits, the richest header is the one whose damage is reported.
    chosen = alike[0] if alike else max(several, key=lambda s: len(several[s][0][1]))
    return chosen, several[chosen]


def _check(path: Path, header: list[str], rows: list[tuple[int, list[str]]]) -> None:
    names = [column.strip() for column in header]
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise OlmixError(f"{path}: column '{twice[0]}' appears more than once")
    for line, row in rows:
        if len(row) != len(header):
            raise OlmixError(
                f"{path}: line {line} has {len(row)} values, expected the header's {len(header)}"
            )
