"""Swarm tables: ``ratios.csv`` and ``metrics.csv``, in the layout the Olmix authors publish.

Both have the columns run, name, index and then one column per domain or per task. What such files
really contain is handled here and reported: an unnamed row index, ratios rounded so that a mix
sums to 0.999, runs present in one file only. What cannot be repaired is refused with its place.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.files import replacing

__all__ = ["SwarmTable", "average_columns", "read_mixes", "read_swarm", "write_table"]

KEY_COLUMNS = ("run", "name", "index")
# A mix whose weights are rounded to three decimals may miss 1 by this much.
SUM_TOLERANCE = 5e-3


@dataclass(frozen=True)
class SwarmTable:
    """A swarm: K mixes over named domains and the BPB of every task for each.

    ``notes`` lists, in words, whatever reading the files had to repair or leave out.
    """

    runs: tuple[str, ...]
    domains: tuple[str, ...]
    mixes: np.ndarray  # (runs, domains), rows sum to one
    tasks: tuple[str, ...]
    metrics: np.ndarray  # (runs, tasks)
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        """The number of runs, K."""
        return len(self.runs)

    def rows(self, index: Sequence[int] | np.ndarray) -> "SwarmTable":
        """The swarm of some of the runs, in the order given."""
        index = np.asarray(index, dtype=int)
        return replace(
            self,
            runs=tuple(self.runs[i] for i in index),
            mixes=self.mixes[index],
            metrics=self.metrics[index],
        )

    def select_tasks(self, tasks: Sequence[str]) -> "SwarmTable":
        """The swarm with only these tasks, in the order given."""
        missing = [task for task in tasks if task not in self.tasks]
        if missing:
            raise OlmixError(f"metrics have no task '{missing[0]}': they have {_some(self.tasks)}")
        columns = [self.tasks.index(task) for task in tasks]
        return replace(self, tasks=tuple(tasks), metrics=self.metrics[:, columns])

    def drop_tasks(self, tasks: Sequence[str]) -> "SwarmTable":
        """The swarm without these tasks; naming one that is not there is an error."""
        self.select_tasks(tasks)
        return self.select_tasks([task for task in self.tasks if task not in set(tasks)])

    def split(self, held_out: int, seed: int) -> tuple["SwarmTable", "SwarmTable"]:
        """A random (train, test) split with ``held_out`` test runs."""
        if not 0 < held_out < len(self):
            raise OlmixError(f"held-out runs: {held_out}, expected 1 to {len(self) - 1}")
        order = np.random.default_rng(seed).permutation(len(self))
        return self.rows(np.sort(order[held_out:])), self.rows(np.sort(order[:held_out]))


def average_columns(table: SwarmTable, name: str, weights: Mapping[str, float]) -> SwarmTable:
    """Replace some tasks by one, their weighted average, placed after the other tasks."""
    members = list(weights)
    part = table.select_tasks(members).metrics
    shares = np.array([weights[member] for member in members], dtype=float)
    if name in table.tasks and name not in members:
        raise OlmixError(f"tasks: '{name}' exists already, it cannot be an average of {members[0]}")
    rest = table.select_tasks([task for task in table.tasks if task not in weights])
    averaged = part @ (shares / shares.sum())
    return replace(
        rest, tasks=(*rest.tasks, name), metrics=np.column_stack([rest.metrics, averaged])
    )


def read_swarm(ratios: str | Path, metrics: str | Path) -> SwarmTable:
    """Read and join the two tables of a swarm on their ``run`` column."""
    notes: list[str] = []
    left, domains = _read_table(ratios, notes)
    right, tasks = _read_table(metrics, notes)
    shared = [run for run in left.index if run in right.index]
    if not shared:
        raise OlmixError(f"{ratios} and {metrics} have no run in common")
    for path, table in ((ratios, left), (metrics, right)):
        alone = [run for run in table.index if run not in set(shared)]
        if alone:
            notes.append(
                f"{Path(path).name}: {len(alone)} runs left out, only there: {_some(alone)}"
            )
    mixes = _as_mixes(left.loc[shared, domains], ratios, notes)
    return SwarmTable(
        runs=tuple(shared),
        domains=tuple(domains),
        mixes=mixes,
        tasks=tuple(tasks),
        metrics=right.loc[shared, tasks].to_numpy(float),
        notes=tuple(notes),
    )


def read_mixes(path: str | Path) -> tuple[list[str], tuple[str, ...], np.ndarray]:
    """A table of mixes alone: runs, domains, and a mix per row."""
    frame, domains = _read_table(path, [])
    return list(frame.index), tuple(domains), _as_mixes(frame[domains], path, [])


def _read_table(path: str | Path, notes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """One table indexed by run, and its value columns, all finite numbers."""
    path = Path(path)
    try:
        _check_layout(path)
        # A run called 007 or NA keeps its name.
        frame = pd.read_csv(path, dtype={"run": str}, keep_default_na=False)
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None
    except (csv.Error, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise OlmixError(f"{path}: not a CSV table ({str(error).splitlines()[0]})") from None
    # pandas names a column without a header "Unnamed: 0": it is a row index that was saved along.
    unnamed = [column for column in frame.columns if str(column).startswith("Unnamed:")]
    if "run" not in frame.columns:
        raise OlmixError(f"{path}: no column 'run', found {_some(frame.columns)}")
    values = [c for c in frame.columns if c not in KEY_COLUMNS and c not in unnamed]
    if not values:
        raise OlmixError(f"{path}: no columns besides {', '.join(KEY_COLUMNS)}")
    if unnamed:
        notes.append(f"{path.name}: unnamed index column ignored")
    if frame.empty:
        raise OlmixError(f"{path}: no runs")
    blank = np.flatnonzero(frame["run"].str.strip() == "")
    if blank.size:
        raise OlmixError(f"{path}: line {blank[0] + 2} has no run")
    repeated = frame["run"][frame["run"].duplicated()]
    if len(repeated):
        line = repeated.index[0] + 2
        raise OlmixError(f"{path}: run '{repeated.iloc[0]}' appears again on line {line}")
    for column in values:
        numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(float)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise OlmixError(
                f"{path}: line {row + 2}, column '{column}': '{frame[column].iloc[row]}' is not a "
                f"finite number (run '{frame['run'].iloc[row]}')"
            )
        frame[column] = numbers
    return frame.set_index("run"), values


def _check_layout(path: Path) -> None:
    """Refuse what pandas would repair in silence: equal columns, rows longer or shorter."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        twice = [column for column in header if column and header.count(column) > 1]
        if twice:
            raise OlmixError(f"{path}: column '{twice[0]}' appears more than once")
        for row in rows:
            if row and len(row) != len(header):
                raise OlmixError(
                    f"{path}: line {rows.line_num} has {len(row)} values, "
                    f"expected the header's {len(header)}"
                )


def _as_mixes(frame: pd.DataFrame, path: str | Path, notes: list[str]) -> np.ndarray:
    """The rows as mixes: non-negative, renormalised when only rounding keeps them from one."""
    mixes = frame.to_numpy(float)
    if (mixes < 0).any():
        row, column = np.argwhere(mixes < 0)[0]
        raise OlmixError(
            f"{path}: run '{frame.index[row]}' has weight {mixes[row, column]} on "
            f"'{frame.columns[column]}', expected 0 or more"
        )
    sums = mixes.sum(1)
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if wrong.size:
        raise OlmixError(
            f"{path}: the weights of run '{frame.index[wrong[0]]}' sum to {sums[wrong[0]]:.6g}, "
            f"expected 1 within {SUM_TOLERANCE:g}"
        )
    rounded = int((np.abs(sums - 1) > 1e-6).sum())
    if rounded:
        notes.append(f"{Path(path).name}: {rounded} mixes renormalised (rounded weights)")
    return mixes / sums[:, None]


def write_table(path: str | Path, runs: Sequence[str], columns: Sequence[str], values) -> None:
    """Write one of the two tables: run, name, index, then ``columns``."""
    frame = pd.DataFrame(np.asarray(values, dtype=float), columns=list(columns))
    frame.insert(0, "run", list(runs))
    frame.insert(1, "name", list(runs))
    frame.insert(2, "index", range(len(frame)))
    with replacing(path) as temporary:
        frame.to_csv(temporary, index=False)


def _some(names, most: int = 5) -> str:
    """A few of the names, for a message."""
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
