"""What every script of the workflow does around its work: log, and fail in one clear line."""

import contextlib
import logging
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

from olmix.errors import OlmixError
from olmix.paths import lead_python_here
from olmix.provenance.environment import environment_line

__all__ = ["job_log", "run_command"]


@contextlib.contextmanager
def job_log(path: str | Path) -> Iterator[None]:
    """Send logging to ``path`` and to stderr; an error ends up in both, and ends the job.

    The log begins with the commit, versions and machine, for `olmix.provenance.trace`.
    A refusal of ours is one line; anything else is a bug and keeps its traceback in the log.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(environment_line() + "\n", encoding="utf-8")
    # At its end, wherever that is: processes that the job starts write to the log as well.
    with path.open("a", encoding="utf-8") as file:
        logging.basicConfig(
            level=logging.INFO,
            format="%(asctime)s %(message)s",
            handlers=[logging.StreamHandler(file), logging.StreamHandler(sys.stderr)],
            force=True,
        )
        # Embedding a font in a PDF is told in hundreds of lines otherwise.
        logging.getLogger("fontTools").setLevel(logging.WARNING)
        try:
            yield
        except OlmixError as error:
            logging.error("error: %s", error)
            sys.exit(2)
        except Exception:
            logging.error("unexpected error, see %s", path)
            file.write(traceback.format_exc())
            raise
        finally:
            logging.shutdown()


def run_command(name: str, options: Mapping[str, str | int | Path], log: Path) -> int:
    """Run `python -m olmix NAME` to its end, in this Python and with this library.

    The command and what it prints go to the end of the job's log; its status is returned.
    """
    given = [str(part) for option in options.items() for part in option]
    command = [sys.executable, "-m", "olmix", name, *given]
    lead_python_here()
    with log.open("a", encoding="utf-8") as file:
        file.write(shlex.join(command) + "\n")
        file.flush()
        return subprocess.run(
            command, stdout=file, stderr=subprocess.STDOUT, check=False
        ).returncode
