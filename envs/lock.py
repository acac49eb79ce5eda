"""Resolve the direct requirements into requirements.lock and environment.yaml (``make lock``)."""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
DIRECT = ("requirements.in", "requirements-dev.in")
PYTHON = "3.11"


def resolve() -> list[str]:
    """Every package pip would install for the direct requirements, pinned."""
    files = [option for name in DIRECT for option in ("-r", str(FOLDER / name))]
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = subprocess.run(
        [*command, "--report", "-", *files], check=True, stdout=subprocess.PIPE, text=True
    )
    packages = [item["metadata"] for item in json.loads(report.stdout)["install"]]
    # A local version label such as +cpu names one build of a release, not the release.
    return sorted(f"{p['name'].lower()}=={p['version'].split('+')[0]}" for p in packages)


def main() -> None:
    """Write both files."""
    pins = resolve()
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


if __name__ == "__main__":
    main()
