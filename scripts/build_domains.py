"""Make a scale's data ready: tokenised domains, tokenizer, task suite, exact token counts.

The embedded world is generated; other scales point to corpora tokenised by `python -m olmix
tokenize` and a suite prepared by `python -m olmix tasks`, which are checked and linked here.
"""

from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.job import job_log


def main(data: dict[str, Any], out: Path) -> None:
    """Write ``corpus/``, ``tokenizer.json``, ``suite/`` and ``domains.json`` in ``out``."""
    if "world" in data:
        build_embedded_world(data["world"], out)
    else:
        link_corpora(data["corpora"], out)


def build_embedded_world(world: dict[str, Any], out: Path) -> None:
    """Generate the world of a seed."""
    from olmix.world.build import SUITE, build_world
    from olmix.world.design import WorldDesign

    build_world(WorldDesign.load(world["design"]), world["seed"], out)
    (out / "suite").symlink_to(Path("suites") / SUITE)


def link_corpora(corpora: dict[str, str], out: Path) -> None:
    """Check that the tokenised corpora, the tokenizer and the suite are there, and link them."""
    places = {
        "corpus": Path(corpora["tokenised"]),
        "tokenizer.json": Path(corpora["tokenizer"]),
        "suite": Path(corpora["suite"]),
    }
    for name, place in places.items():
        if not place.exists():
            raise OlmixError(f"{place}: no such file or folder, expected the scale's {name}")
    counts = Corpus.open(places["corpus"]).token_counts
    out.mkdir(parents=True, exist_ok=True)
    DomainSet.from_token_counts(counts).save(out / "domains.json")
    for name, place in places.items():
        (out / name).symlink_to(place.resolve())


if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(snakemake.params.data, Path(snakemake.output[0]))
