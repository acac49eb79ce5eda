"""How far a run of the workflow is: finished runs, time left, the best so far.

The workflow writes down what it will train (`write_plan`); everything else is read from the runs'
own files, so that a second terminal, or the head node of a cluster, sees the same.
"""

import csv
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from olmix.errors import OlmixError
from olmix.files import read_json, write_json

__all__ = [
    "PROXIES",
    "TARGETS",
    "Progress",
    "Training",
    "Watch",
    "closing_lines",
    "newest_plan",
    "write_plan",
]

PROXIES, TARGETS = "proxies", "targets"
# So many outputs are named at the end, the others counted.
_NAMED = 6
_NOT_JUDGED = (
    "Open: which claims of the paper hold here; `snakemake claims` judges them, and docs/claims.md "
    "has the verdicts so far."
)


@dataclass(frozen=True)
class Training:
    """A swarm that is to be trained: where its jobs list their runs, and how much there is."""

    swarm: str
    kind: str  # PROXIES or TARGETS
    lists: tuple[str, ...]  # one JSON file of runs per job
    runs: int
    work: float  # of one run, in any unit all swarms share
    listed: bool = False  # the lists are those of this plan, not of one before it


def write_plan(path: str | Path, trainings: Iterable[Training]) -> None:
    """Write down what the workflow is about to train."""
    swarms = [asdict(training) for training in trainings]
    write_json(path, {"started": time.time(), "ended": None, "swarms": swarms})


def newest_plan(results: str | Path) -> Path:
    """The plan of the run of the workflow that was started last."""
    found = sorted(Path(results).glob("*/progress.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise OlmixError(f"{results}: nothing is being trained, or was; expected */progress.json")
    return found[-1]


class Progress:
    """What is finished of a plan. Files once found finished are not looked at again."""

    def __init__(self, plan: str | Path) -> None:
        self.path = Path(plan)
        content = read_json(plan)
        try:
            self.started: float = content["started"]
            self.ended: float | None = content["ended"]
            self.swarms = [Training(**entry) for entry in content["swarms"]]
        except (KeyError, TypeError) as error:
            raise OlmixError(
                f"{plan}: {error} is missing or unknown; expected a plan of runs"
            ) from None
        self.total = dict.fromkeys((PROXIES, TARGETS), 0)
        for swarm in self.swarms:
            self.total[swarm.kind] += swarm.runs
        self.done = dict.fromkeys(self.total, 0)
        self.best: tuple[float, str, str] | None = None  # BPB, swarm, run
        self._unlisted = [(swarm, Path(name)) for swarm in self.swarms for name in swarm.lists]
        self._unfinished: list[tuple[Training, Path, list[str]]] = []
        self._unscored: list[tuple[Training, Path, list[str]]] = []
        self._times: list[tuple[float, float]] = []  # when a run was finished, its work

    @property
    def finished(self) -> bool:
        """Whether every run is done."""
        return self.done == self.total

    def look(self) -> None:
        """See which runs are finished by now."""
        unlisted = []
        for swarm, path in self._unlisted:
            if not self._is_listed(swarm, path):
                unlisted.append((swarm, path))
                continue
            for entry in read_json(path):
                folder = path.parent / entry["folder"]
                self._unfinished.append((swarm, folder, entry["names"]))
        self._unlisted = unlisted
        waiting = []
        for run in self._unfinished:
            swarm, folder, names = run
            try:
                finished_at = (folder / "run.json").stat().st_mtime
            except FileNotFoundError:
                waiting.append(run)
                continue
            self.done[swarm.kind] += len(names)
            self._times.append((finished_at, swarm.work))
            self._unscored.append(run)
        self._unfinished = waiting
        self._unscored = [run for run in self._unscored if not self._score(*run)]

    def _is_listed(self, swarm: Training, path: Path) -> bool:
        """Whether a job's runs are known: an old list is about to be written again."""
        try:
            written = path.stat().st_mtime
        except FileNotFoundError:
            return False
        return swarm.listed or written >= self.started

    def _score(self, swarm: Training, folder: Path, names: list[str]) -> bool:
        """Note the average BPB of a run, once it has one."""
        try:
            average = json.loads((folder / "eval.json").read_text(encoding="utf-8"))["average"]
        except (FileNotFoundError, json.JSONDecodeError, KeyError):
            return False
        if self.best is None or average < self.best[0]:
            self.best = (average, swarm.swarm, names[0])
        return True

    def seconds_left(self, now: float) -> float | None:
        """Seconds until all is trained, at the pace so far of this start; None if unknown."""
        times = sorted(entry for entry in self._times if entry[0] >= self.started)
        if len(times) < 3 or now - times[0][0] < 2 or self.finished or self.ended:
            return None
        rate = sum(work for _, work in times[1:]) / (now - times[0][0])
        total = sum(swarm.runs * swarm.work for swarm in self.swarms)
        return max(0.0, total - sum(work for _, work in self._times)) / rate

    def line(self, now: float | None = None) -> str:
        """How many runs are done, the time left and the best so far, in one line."""
        parts = [
            f"{kind} {self.done[kind]:,}/{count:,}" for kind, count in self.total.items() if count
        ]
        left = self.seconds_left(time.time() if now is None else now)
        if left is not None:
            parts.append(f"about {_duration(left)} left")
        if self.best is not None:
            average, swarm, run = self.best
            # Sampled mixes are numbered, proposed ones have names.
            numbered = re.fullmatch(r".+-(\d{4,})", run)
            label = f"run {int(numbered[1])}" if numbered else run
            parts.append(f"best so far {average:.3f} BPB ({swarm}, {label})")
        return " · ".join(parts)


def closing_lines(made: Sequence[str], seconds: float, board: str | Path | None) -> list[str]:
    """What the workflow says at its end: what was made, where to look, what is still open.

    ``made`` are the outputs a person asked for or reads, ``board`` is the table of the claims: None
    where the paper's claims are not what the workflow is about.
    """
    if not made:
        return []
    more = f" and {len(made) - _NAMED} more" if len(made) > _NAMED else ""
    looked = next((path for path in made if path.endswith((".pdf", ".html"))), made[0])
    lines = [
        f"Made in {_duration(seconds)}: {', '.join(made[:_NAMED])}{more}.",
        f"Next: look at {looked}; `python -m olmix provenance {looked}` says how it was made, and "
        "`make report` puts everything on one page.",
    ]
    if board is not None:
        lines.append(_open_claims(Path(board)) if str(board) in made else _NOT_JUDGED)
    return lines


def _open_claims(board: Path) -> str:
    """Which claims the board that was made leaves open."""
    with board.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    left = [row["id"] for row in rows if row["verdict"] == "not decidable"]
    if not left:
        return f"Open: none of {len(rows)} claims; {board.with_suffix('.md')} has the verdicts."
    return (
        f"Open: {len(left)} of {len(rows)} claims are not decided ({', '.join(left)});"
        f" {board.with_suffix('.md')} says why."
    )


def _duration(seconds: float) -> str:
    """A time in seconds as a person would say it, roughly."""
    if seconds < 60:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


class Watch:
    """Tells how far the plan is, from beside the workflow, until it is stopped.

    ``tell`` is given a line when more runs are done; at first every few seconds, more seldom as
    time goes on, so that a run of days does not fill the screen.
    """

    SHORTEST, LONGEST = 10.0, 600.0

    def __init__(self, plan: str | Path, tell: Callable[[str], None]) -> None:
        self.progress, self.tell = Progress(plan), tell
        self._done: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def start(self) -> None:
        """Begin to watch; what was done before is not told as news."""
        self.progress.look()
        self._done = dict(self.progress.done)
        self._thread.start()

    def stop(self) -> None:
        """End the watch, with a last line if there is news, and note the end in the plan."""
        self._stop.set()
        self._thread.join()
        self._tell_news()
        if self.progress.path.is_file():
            plan = read_json(self.progress.path)
            write_json(self.progress.path, plan | {"ended": time.time()})

    def _watch(self) -> None:
        pause = self.SHORTEST
        while not self._stop.wait(pause):
            before = time.monotonic()
            self._tell_news()
            spent = time.monotonic() - before
            elapsed = time.time() - self.progress.started
            # Looking must not load a shared file system either.
            pause = max(self.SHORTEST, min(self.LONGEST, elapsed / 50), 20 * spent)

    def _tell_news(self) -> None:
        try:
            self.progress.look()
        except (OlmixError, OSError):  # a list that is just being replaced: next time
            return
        if self.progress.done != self._done:
            self._done = dict(self.progress.done)
            self.tell(self.progress.line())
