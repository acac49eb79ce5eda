"""Tables of text for a terminal."""

from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns: words to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    words = [i == 0 or not rows[0][i][:1].isdigit() for i in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(row, widths, words, strict=True)
        ).rstrip()
        for row in (header, *rows)
    ]
