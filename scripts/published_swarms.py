"""Read every released swarm into one shape, and say what reading had to do about them."""

import logging
from pathlib import Path
from typing import Any

from olmix.domains import DomainSet
from olmix.files import read_json, write_json, write_text
from olmix.paths import CONFIG
from olmix.provenance.job import job_log
from olmix.published.catalogue import find_swarms, read_released


def main(manifest: Path, settings: dict[str, Any], out: Path) -> None:
    """Write ``<swarm>/``, ``catalogue.json`` (found, missing) and ``notes.txt``."""
    record = read_json(manifest)
    root = Path(record["root"])
    paper = DomainSet.load(CONFIG / "domains" / "paper.yaml")
    topics = [domain.topic for domain in paper.of_source("dclm") if domain.topic is not None]
    known, notes = settings["swarms"], [f"read from {record['origin']}: {root}"]
    found = find_swarms(root, known)
    for name, folder in found.items():
        swarm = read_released(folder, settings, known.get(name), topics)
        swarm.save(out / name)
        table = swarm.table
        size = f"{len(table)} runs, {len(table.domains)} domains, {len(table.tasks)} tasks"
        notes += [f"{name} ({folder.relative_to(root)}): {size}"]
        notes += [f"  {note}" for note in table.notes]
        notes += [] if name in known else ["  not a swarm the paper's values are known for"]
    missing = {name: entry["folder"] for name, entry in known.items() if name not in found}
    notes += [f"missing: {name} ({folder})" for name, folder in missing.items()]
    for line in notes:
        logging.info("%s", line)
    write_text(out / "notes.txt", "\n".join(notes) + "\n")
    write_json(out / "catalogue.json", {"found": list(found), "missing": missing})


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            manifest=Path(snakemake.input.manifest),
            settings=snakemake.params.settings,
            out=Path(snakemake.output.swarms),
        )
