"""Compare what the hub says that texts take, with their tokens, with what is free."""

from pathlib import Path
from typing import Any

from olmix.corpus.sources import TextSource
from olmix.errors import OlmixError
from olmix.files import write_json
from olmix.provenance.job import job_log
from olmix.study.disk import data_needs, lacking_room
from olmix.study.public_data import PublicData


def main(data: PublicData, out: Path) -> None:
    """Refuse before the first download what does not fit; write what it will take."""
    shards = {
        name: [(name, number) for number in range(data.shards(name))] for name in data.sources
    }
    fetched = [shard for name in data.fetched for shard in shards[name]]
    needs = data_needs(data, fetched, [shard for dealt in shards.values() for shard in dealt])
    lacking = lacking_room(needs)
    if lacking:
        raise OlmixError("; ".join(lacking))
    write_json(out, {need.what: round(need.bytes) for need in needs})


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        params = snakemake.params
        sources = {name: TextSource(**source) for name, source in params.sources.items()}
        main(
            PublicData(params.settings, params.results, sources, params.made_here),
            Path(snakemake.output.checked),
        )
