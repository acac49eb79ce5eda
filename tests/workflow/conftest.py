"""A clone to run Snakemake in: the repository's own files, with results of its own."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
# What an activated environment sets besides PATH, and what could stand in for a rule's own library.
ACTIVATION = ("PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX")
PARTS = ("Snakefile", "workflow", "config", "scripts", "profiles", "envs", "slurm")


@dataclass(frozen=True)
class Clone:
    """A copy of the repository's files."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """That of a user who has activated nothing: no Python found by name is the right one.

        Programs that a test puts into the folder `bin` are found first.
        """
        kept = {key: os.environ[key] for key in os.environ if key not in ACTIVATION}
        folders = [str(self.folder / "bin"), str(self.folder / "wrong"), "/usr/bin", "/bin"]
        path = os.pathsep.join(folders)
        return {**kept, "PATH": path, "OMP_NUM_THREADS": "1"}

    def snakemake(
        self, *arguments: str, scale: str = "smoke", config: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess:
        """Run Snakemake to its end; output and status are the test's to judge."""
        return subprocess.run(
            self.command(*arguments, "--config", f"scale={scale}", *config),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def planned(self, *arguments: str, scale: str = "smoke") -> dict[str, int]:
        """Jobs by rule that a dry run lists; empty if there is nothing to do."""
        done = self.snakemake("-n", *arguments, scale=scale)
        assert done.returncode == 0, done.stdout + done.stderr
        text = done.stdout + done.stderr
        if "Nothing to be done" in text:
            return {}
        lines = text[text.rindex("Job stats:") :].splitlines()[3:]
        jobs = {}
        for line in lines:
            name, _, count = line.strip().rpartition(" ")
            if not count.isdigit() or name.strip() == "total":
                break
            jobs[name.strip()] = int(count)
        return jobs

    def messages(self, *arguments: str, scale: str = "smoke") -> list[str]:
        """What every job of a dry run says it would do."""
        done = self.snakemake("-n", *arguments, scale=scale)
        assert done.returncode == 0, done.stdout + done.stderr
        found = re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE)
        return list(dict.fromkeys(found))


def copy_repository(folder: Path) -> Clone:
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    (folder / "wrong").mkdir()
    for name in ("python", "python3", "torchrun", "snakemake"):
        program = folder / "wrong" / name
        program.write_text(f"#!/bin/sh\necho {name} was called by name >&2\nexit 97\n")
        program.chmod(0o755)
    return Clone(folder)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return copy_repository(tmp_path)


@pytest.fixture(scope="module")
def module_clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return copy_repository(tmp_path_factory.mktemp("clone"))
