"""``python -m olmix provenance``: how a file was made, and the line that makes it again."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from olmix.provenance.trace import HASHED, FileOrigin, chain, trace

HELP = "tell how a file of the workflow was made: rule, inputs, settings, commit, machine"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix provenance`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a figure, table, mix, run, folder")
    parser.add_argument(
        "--deep", action="store_true", help="go on through the inputs, back to the data"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--hash-limit",
        type=float,
        default=HASHED,
        metavar="BYTES",
        help=f"inputs larger than this are named without a hash (default: {HASHED:.0e})",
    )


def run(args: argparse.Namespace) -> None:
    """Print what the records tell about how a file was made."""
    limit = int(args.hash_limit)
    origins = chain(args.file, limit) if args.deep else [trace(args.file, limit)]
    if args.json:
        values = [asdict(origin) for origin in origins]
        print(json.dumps(values if args.deep else values[0], indent=1))
        return
    print("\n".join(_lines(origins[0])))
    if args.deep:
        print("\nmade from, back to the data")
        for origin in origins[1:]:
            took = f", {_duration(origin.seconds)}" if origin.seconds is not None else ""
            by = f"{origin.rule}{took}" if origin.rule else "made by no rule"
            print(f"  {_hash(origin.sha256)}  {origin.output}  ({by})")


def _lines(origin: FileOrigin) -> list[str]:
    """What is known of a file, one fact to a line, its name first."""
    made = origin.made_with
    facts: list[tuple[str, Any]] = [("file", origin.file), ("sha256", origin.sha256)]
    if origin.output != origin.file:
        facts.append(("part of", origin.output))
    facts += [("rule", origin.rule), ("command", origin.command)]
    facts += [("input", _input(entry)) for entry in origin.inputs]
    facts += [("setting", _setting(value)) for value in origin.settings]
    facts += [("seed", f"{name} = {value}") for name, value in _few(origin.seeds)]
    if made.get("commit"):
        clean = made["commit"].removesuffix("-dirty")
        note = "" if clean == made["commit"] else ", with uncommitted changes"
        facts.append(("commit", clean + note))
    facts.append(("versions", _versions(made)))
    facts.append(("machine", ", ".join(filter(None, (made.get("host"), made.get("system"))))))
    facts.append(("SLURM job", made.get("slurm_job")))
    facts.append(("made at", made.get("time") or origin.started))
    if origin.seconds is not None:
        facts.append(("duration", _duration(origin.seconds)))
    if origin.run is not None:
        own = {key: value for key, value in origin.run["provenance"].items() if value is not None}
        facts.append(("run", f"{origin.run['hash']}, {origin.run['steps']} steps: {_setting(own)}"))
    facts += [("log", origin.log), ("benchmark", origin.benchmark)]
    facts += [("unknown", what) for what in origin.unknown]
    facts.append(("to remake", origin.remake))
    return [f"{name:<10} {value}" for name, value in facts if value]


def _few(seeds: dict[str, Any], most: int = 12) -> list[tuple[str, Any]]:
    """The seeds, shortened where a study has hundreds (``--json`` has them all)."""
    items = list(seeds.items())
    more = [("and others", len(items) - most)] if len(items) > most else []
    return items[:most] + more


def _versions(made: dict[str, Any]) -> str:
    versions = {"python": made.get("python")} | (made.get("versions") or {})
    return ", ".join(f"{name} {number}" for name, number in versions.items() if number)


def _input(entry: dict[str, Any]) -> str:
    state = "" if entry["state"] == "as read" else f"  ({entry['state']})"
    return f"{_hash(entry['sha256'])}  {entry['file']}{state}"


def _hash(value: str | None) -> str:
    return value[:16] if value else "not hashed      "


def _setting(value: Any, most: int = 300) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else f"{text[:most]}... (--json has it all)"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
