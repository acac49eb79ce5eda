"""Label the documents of one shard of a source by a topic classifier; labelled files are kept."""

from pathlib import Path
from typing import Any

from olmix.corpus.shards import label_shard
from olmix.corpus.sources import TextSource
from olmix.corpus.topics import TopicClassifier
from olmix.provenance.job import job_log


def classifier_of(settings: dict[str, Any], hub: str) -> TopicClassifier:
    """The classifier in a mirror of the hub or in a folder, or by its name from the hub."""
    name = settings["repository"]
    mirrored = Path(hub) / name
    place = str(mirrored) if mirrored.is_dir() else name
    code = settings.get("remote_code", False)
    return TopicClassifier(place, settings.get("revision"), remote_code=code)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        source = TextSource(**snakemake.params.source)
        label_shard(
            source,
            int(snakemake.wildcards.shard),
            snakemake.params.shards,
            downloaded=Path(snakemake.input.files[0]) if snakemake.input.files else None,
            classifier=classifier_of(dict(source.classifier or {}), snakemake.params.hub),
            out=Path(snakemake.output.labels),
        )
