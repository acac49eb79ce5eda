"""Resolve the direct requirements into requirements.lock and environment.yaml (``make lock``).

What only one method needs is resolved against them into a lock of its own (botorch.lock).
"""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
DIRECT = ("requirements.in", "requirements-dev.in")
EXTRA = "botorch"
PYTHON = "3.11"


def resolve(*options: str) -> list[str]:
    """Every package pip would install with these options, pinned."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = subprocess.run(
        [*command, "--report", "-", *options], check=True, stdout=subprocess.PIPE, text=True
    )
    packages = [item["metadata"] for item in json.loads(report.stdout)["install"]]
    # A local version label such as +cpu names one build of a release, not the release.
    return sorted(f"{p['name'].lower()}=={p['version'].split('+')[0]}" for p in packages)


def main() -> None:
    """Write all files."""
    pins = resolve(*(option for name in DIRECT for option in ("-r", str(FOLDER / name))))
    lock = "# Written by `make lock` from requirements.in and requirements-dev.in.\n"
    (FOLDER / "requirements.lock").write_text(lock + "\n".join(pins) + "\n")
    conda = [
        "# Written by `make lock`: the same pins as requirements.lock, for conda users.",
        "name: olmix",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={PYTHON}",
        "  - pip",
        "  - pip:",
        *(f"      - {pin}" for pin in pins),
    ]
    (FOLDER / "environment.yaml").write_text("\n".join(conda) + "\n")
    write_extra(pins)


def write_extra(pins: list[str]) -> None:
    """Write what the extra adds to the pins."""
    files = ("-r", str(FOLDER / f"{EXTRA}.in"), "-c", str(FOLDER / "requirements.lock"))
    added = [pin for pin in resolve(*files) if pin not in pins]
    lock = f"# Written by `make lock`: what {EXTRA}.in adds to requirements.lock.\n"
    (FOLDER / f"{EXTRA}.lock").write_text(lock + "\n".join(added) + "\n")


if __name__ == "__main__":
    main()
