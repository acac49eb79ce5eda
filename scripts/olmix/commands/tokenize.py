"""Tokenise text files into a corpus of token stores."""

import argparse
import os
import sys

from olmix.commands.outputs import output_folder
from olmix.corpus.sources import read_sources, source_from_patterns
from olmix.corpus.tokenize import DomainSummary, TokenizingProgress, tokenize
from olmix.errors import OlmixError

HELP = "tokenise text files into a corpus: one folder of flat integer files per domain"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix tokenize`."""
    parser.add_argument(
        "--tokenizer", required=True, help="a Hugging Face tokenizers JSON file (no default)"
    )
    parser.add_argument(
        "--out", type=output_folder, required=True, help="the corpus folder to write (no default)"
    )
    texts = parser.add_mutually_exclusive_group(required=True)
    texts.add_argument(
        "--domain",
        action="append",
        metavar="NAME=GLOB",
        help="a domain and its files (.txt, .jsonl[.gz|.zst], .parquet); repeat for more",
    )
    texts.add_argument("--corpora", help="a YAML file of sources, such as config/corpora.yaml")
    parser.add_argument(
        "--source",
        action="append",
        metavar="NAME",
        help="with --corpora: only this source; repeat for more (default: all of them)",
    )
    parser.add_argument(
        "--downloads", help="with --corpora: the folder that `download --to` filled (no default)"
    )
    parser.add_argument(
        "--text-field",
        help="with --domain: the JSON field or parquet column with the text (default: text)",
    )
    parser.add_argument(
        "--end-of-text",
        help="the token that ends a document (default: the first of <|endoftext|>, <eos>, </s> "
        "in the vocabulary)",
    )
    parser.add_argument(
        "--max-broken",
        type=float,
        default=0.001,
        help="the largest share of broken lines in a source (default: %(default)s)",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="files tokenised at once (default: the %(default)s cores of this machine)",
    )


def run(args: argparse.Namespace) -> None:
    """Tokenise, then print what each domain holds."""
    if args.domain:
        if args.source or args.downloads:
            raise OlmixError("--source and --downloads go with --corpora, not with --domain")
        sources = [source_from_patterns(_domains(args.domain), args.text_field or "text")]
    else:
        if args.text_field:
            raise OlmixError("--text-field goes with --domain; a corpora file has text_field keys")
        sources = read_sources(args.corpora, args.source)
    summaries = tokenize(
        sources,
        args.out,
        args.tokenizer,
        end_of_text=args.end_of_text,
        downloads=args.downloads,
        processes=args.processes,
        max_broken=args.max_broken,
        on_progress=_show_progress,
    )
    sys.stdout.write(_table(summaries))


def _domains(options: list[str]) -> dict[str, list[str]]:
    domains: dict[str, list[str]] = {}
    for option in options:
        name, equals, pattern = option.partition("=")
        if not (name and equals and pattern):
            raise OlmixError(f"--domain {option}: expected NAME=GLOB")
        domains.setdefault(name, []).append(pattern)
    return domains


def _show_progress(progress: TokenizingProgress) -> None:
    sys.stderr.write(
        f"tokenize: {progress.files} of {progress.all_files} files, "
        f"{progress.bytes / 1e6:,.0f} of {progress.all_bytes / 1e6:,.0f} MB read, "
        f"{progress.tokens:,} tokens\n"
    )


def _table(summaries: list[DomainSummary]) -> str:
    rows: list[tuple[str, ...]] = [("domain", "documents", "tokens", "bytes", "broken lines")]
    for summary in summaries:
        numbers = (summary.documents, summary.tokens, summary.bytes, summary.broken)
        rows.append((summary.domain, *(f"{number:,}" for number in numbers)))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "".join(
        "  ".join([row[0].ljust(widths[0])] + [row[n].rjust(widths[n]) for n in range(1, 5)]) + "\n"
        for row in rows
    )
