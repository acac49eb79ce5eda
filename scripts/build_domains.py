"""Make a scale's data ready: tokenised domains, tokenizer, task suite, exact token counts.

The embedded world is generated. Public texts were tokenised by jobs before this one, and one's own
text by `python -m olmix init`: corpora, tokenizer and suite are checked and linked here. Where runs
are simulated there is a law in their place, and no text at all.
"""

from pathlib import Path
from typing import Any

from olmix.corpus.store import Corpus
from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.evaluation.suite import Suite
from olmix.files import write_json
from olmix.provenance.job import job_log


def main(data: dict[str, Any], out: Path) -> None:
    """Write what every analysis reads, ``domains.json`` and ``families.json``, in ``out``.

    Beside them ``corpus/``, ``tokenizer.json`` and ``suite/``, or ``law.json``.
    """
    if "law" in data:
        write_law(data["law"], out)
        return
    if "world" in data:
        build_embedded_world(data["world"], out)
    elif "public" in data:
        folder = data["public"]["folder"]
        places = {"tokenised": "corpus", "tokenizer": "tokenizer.json", "suite": "suite"}
        link_corpora({key: f"{folder}/{name}" for key, name in places.items()}, out)
        if data["public"]["sizes"]:
            declare_sizes(data["public"]["sizes"], out)
    else:
        link_corpora(data["corpora"], out)
    write_json(out / "families.json", Suite.open(out / "suite").families)


def write_law(law: dict[str, Any], out: Path) -> None:
    """Take one replica of the measured laws; `olmix.simulation.runs` asks it in place of models."""
    from olmix.measured.files import load_measured, paper_domains, stored_tokens, write_replica
    from olmix.tasks import families_of

    settings, domains = load_measured(law["settings"]), paper_domains()
    tasks = write_replica(Path(law["measured"]), law["replica"], out / "law.json")
    stores = stored_tokens(domains, settings)
    counts = {name: count for name, count in stores.items() if "@" not in name}
    DomainSet.from_token_counts(counts).save(out / "domains.json")
    write_json(out / "families.json", families_of(tasks))
    write_json(out / "stores.json", stores)


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


def declare_sizes(files: list[str], out: Path) -> None:
    """Take N from domain files in place of what was tokenised, which may be a sample of it."""
    declared = [domain for file in files for domain in DomainSet.load(file)]
    DomainSet(tuple(declared)).save(out / "domains.json")


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(snakemake.params.data, Path(snakemake.output[0]))
