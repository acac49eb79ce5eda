"""Fetch the tokenizer from the hub, or copy one that is here."""

import os
from pathlib import Path
from typing import Any

from olmix.corpus.hub import open_hub
from olmix.corpus.tokenizer import load_tokenizer
from olmix.files import replacing
from olmix.provenance.job import job_log


def main(hub: str, tokenizer: dict[str, str], out: Path) -> None:
    """Write the tokenizer's JSON file, once it has been read as one."""
    if "path" in tokenizer:
        content = Path(tokenizer["path"]).read_bytes()
    else:
        server = open_hub(hub, os.environ.get("HF_TOKEN"))
        named = (tokenizer["repository"], tokenizer["revision"], tokenizer["file"])
        content = server.model_file(*named)
    with replacing(out) as temporary:
        temporary.write_bytes(content)
        load_tokenizer(temporary, None)


snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        main(
            hub=snakemake.params.hub,
            tokenizer=snakemake.params.tokenizer,
            out=Path(snakemake.output.tokenizer),
        )
