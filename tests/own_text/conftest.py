import random
from pathlib import Path

import pytest

LINES = {
    "english": "the of and to in is that for it as was with be by on not this are or from",
    "code": "def return if else for in while import class self None True print len range",
    "numbers": " ".join(str(number) for number in range(100, 140)),
}
WORDS = {kind: line.split() for kind, line in LINES.items()}


def paragraphs(kind: str, count: int, seed: int) -> list[str]:
    """Different documents of a few hundred characters of one kind of words."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS[kind], k=160)) for _ in range(count)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three domains of plain files, 60 documents each."""
    for number, kind in enumerate(WORDS):
        place = tmp_path / "text" / kind
        place.mkdir(parents=True)
        for index, text in enumerate(paragraphs(kind, 60, seed=number)):
            (place / f"{index:03d}.txt").write_text(text)
    return tmp_path / "text"
