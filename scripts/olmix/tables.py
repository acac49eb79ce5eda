"""Swarm tables: ``ratios.csv`` and ``metrics.csv``, in the layout the Olmix authors publish.

Both have the columns run, name, index and then one column per domain or per task. What such files
really contain is handled here and reported: an unnamed row index, no ``run`` but an ``index``,
columns of text, weights in percent or rounded so that a mix sums to 0.999, rows in another order,
runs present in one file only. What cannot be repaired is refused with its place.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from olmix.delimited import TextTable, read_delimited
from olmix.errors import OlmixError
from olmix.files import write_csv
from olmix.mix import same_mix

__all__ = [
    "MISSING",
    "SwarmTable",
    "average_columns",
    "metric_columns",
    "read_mixes",
    "read_swarm",
    "read_swarms",
    "scale_metrics",
    "write_table",
]

# Columns that say which run a row is, and never a domain or a task; "" is an unnamed row index.
# Tables are joined on the first of them that both have.
RUN_COLUMNS = ("run", "run_id", "run_name", "name", "id", "index", "")
MISSING = ("refuse", "drop-runs", "drop-tasks")
_WHOLE_NUMBER = re.compile(r"\d+(\.0*)?")
# A mix whose weights are rounded to three decimals may miss 1 by this much.
SUM_TOLERANCE = 5e-3


@dataclass(frozen=True)
class SwarmTable:
    """A swarm: K mixes over named domains and the BPB of every task for each.

    ``notes`` lists, in words, whatever reading the files had to repair or leave out. ``weights``
    is what each task counts in the average, where not all count alike (`weighted`).
    """

    runs: tuple[str, ...]
    domains: tuple[str, ...]
    mixes: np.ndarray  # (runs, domains), rows sum to one
    tasks: tuple[str, ...]
    metrics: np.ndarray  # (runs, tasks)
    notes: tuple[str, ...] = field(default=())
    weights: np.ndarray | None = None  # (tasks,)

    def __len__(self) -> int:
        """The number of runs, K."""
        return len(self.runs)

    @property
    def shares(self) -> np.ndarray:
        """The share of each task in the average."""
        weights = np.ones(len(self.tasks)) if self.weights is None else self.weights
        return weights / weights.sum()

    @property
    def average(self) -> np.ndarray:
        """The average BPB of each run over the tasks."""
        return self.metrics @ self.shares

    def weighted(self, weights: Mapping[str, float]) -> "SwarmTable":
        """The swarm with weighted tasks, by 1 where nothing is said; those of weight 0 are gone."""
        counted = {task: float(weights.get(task, 1.0)) for task in self.tasks}
        wrong = [task for task, weight in counted.items() if not 0 <= weight < np.inf]
        if wrong:
            raise OlmixError(
                f"weight of task '{wrong[0]}' is {counted[wrong[0]]}, expected 0 or more"
            )
        kept = [task for task, weight in counted.items() if weight > 0]
        if not kept:
            raise OlmixError("every task has weight 0: nothing is left to choose a mix by")
        table = replace(self, weights=None).select_tasks(kept)
        return replace(table, weights=np.array([counted[task] for task in kept]))

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
        weights = None if self.weights is None else self.weights[columns]
        return replace(self, tasks=tuple(tasks), metrics=self.metrics[:, columns], weights=weights)

    def drop_tasks(self, tasks: Sequence[str]) -> "SwarmTable":
        """The swarm without these tasks; naming one that is not there is an error."""
        self.select_tasks(tasks)
        return self.select_tasks([task for task in self.tasks if task not in set(tasks)])

    def split(self, held_out: int, seed: int) -> tuple["SwarmTable", "SwarmTable"]:
        """A random (train, test) split with ``held_out`` test runs; runs of a mix stay together."""
        if not 0 < held_out < len(self):
            raise OlmixError(f"held-out runs: {held_out}, expected 1 to {len(self) - 1}")
        order = np.random.default_rng(seed).permutation(len(self))
        order = order[np.argsort(same_mix(self.mixes[order]), kind="stable")]
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


def read_swarm(
    ratios: str | Path,
    metrics: str | Path,
    *,
    run_column: str | None = None,
    missing: str = "refuse",
    skip: Callable[[str], bool] = lambda task: False,
    ignore: Collection[str] = (),
) -> SwarmTable:
    """Read and join the two tables of a swarm.

    Parameters
    ----------
    run_column
        The column both files name their runs by; found if not given (`RUN_COLUMNS`, in order).
    missing
        What to do about empty or non-finite values (`MISSING`): refuse them with their place, or
        leave out the runs, or the tasks, that have any.
    skip
        Metrics to leave out before their values are looked at.
    ignore
        Columns of either file that are neither domains nor metrics.
    """
    if missing not in MISSING:
        raise OlmixError(f"missing values: {missing!r}, expected one of {', '.join(MISSING)}")
    left, right = read_delimited(ratios), read_delimited(metrics)
    notes = [*left.notes, *right.notes]
    key = _join_column(left, right, run_column)
    if key.lower() != "run":
        notes.append(f"runs joined on the {_called(key)}")
    # A mix without one of its weights is not a mix: leaving out a domain is no option.
    policy = "drop-runs" if missing == "drop-tasks" else missing
    mixes = _numbers(left, key, policy, notes, lambda domain: domain in ignore)
    values = _numbers(right, key, missing, notes, lambda task: task in ignore or skip(task))
    shared = [run for run in mixes.index if run in values.index]
    if not shared:
        raise OlmixError(
            f"{ratios} and {metrics} have no run in common (by {_called(key)}; "
            "--run-column names another)"
        )
    for path, table in ((left.path, mixes), (right.path, values)):
        alone = [run for run in table.index if run not in set(shared)]
        if alone:
            notes.append(f"{path.name}: {len(alone)} runs left out, only there: {_some(alone)}")
    return SwarmTable(
        runs=tuple(shared),
        domains=tuple(mixes.columns),
        mixes=_as_mixes(mixes.loc[shared], ratios, notes),
        tasks=tuple(values.columns),
        metrics=values.loc[shared].to_numpy(float),
        notes=tuple(dict.fromkeys(notes)),
    )


def read_swarms(
    labels: Iterable[Any], ratios: Iterable[str | Path], metrics: Iterable[str | Path]
) -> dict[Any, SwarmTable]:
    """Swarms that the workflow collected, by what a job calls them."""
    files = zip(labels, ratios, metrics, strict=True)
    return {label: read_swarm(mixed, measured) for label, mixed, measured in files}


def read_mixes(
    path: str | Path, *, may_be_empty: bool = False
) -> tuple[list[str], tuple[str, ...], np.ndarray]:
    """A table of mixes alone: runs, domains, and a mix per row."""
    table = read_delimited(path)
    if may_be_empty and not table.rows:
        domains = tuple(column for column in table.header if not _is_key(column))
        return [], domains, np.empty((0, len(domains)))
    frame = _numbers(table, _join_column(table, table, None), "refuse", [])
    return list(frame.index), tuple(frame.columns), _as_mixes(frame, path, [])


def metric_columns(path: str | Path) -> list[str]:
    """The columns of a metrics table that may be tasks, without reading their values."""
    return [column for column in read_delimited(path).header if not _is_key(column)]


def scale_metrics(table: SwarmTable) -> SwarmTable:
    """Every metric divided by its median over the runs, so that all units weigh alike."""
    median = np.median(table.metrics, axis=0)
    zero = np.flatnonzero(median <= 0)
    if zero.size:
        raise OlmixError(
            f"task '{table.tasks[zero[0]]}' has the median {median[zero[0]]:g}, "
            "expected more than 0 to scale by it"
        )
    note = "every metric divided by its median over the runs"
    return replace(table, metrics=table.metrics / median, notes=(*table.notes, note))


def _is_key(column: str) -> bool:
    """Whether a column says which run a row is; a row index that was saved along has no name."""
    return column.lower() in RUN_COLUMNS


def _called(column: str) -> str:
    return f"column '{column}'" if column else "unnamed first column"


def _join_column(left: TextTable, right: TextTable, given: str | None) -> str:
    """The column both tables name their runs by: the one given, or the first that tells them."""
    if given is not None:
        for table in (left, right):
            if given not in table.header:
                raise OlmixError(f"{table.path}: no column '{given}', found {_some(table.header)}")
        return given
    shared = []
    for name in RUN_COLUMNS:
        # Upper and lower case may differ between files, too, but then nothing says they agree.
        shared += [c for c in left.header if c.lower() == name and c in right.header]
    if not shared:
        raise OlmixError(
            f"{left.path} and {right.path} share no column that names their runs "
            f"({', '.join(filter(None, RUN_COLUMNS))}): found {_some(left.header)} and "
            f"{_some(right.header)}"
        )
    if shared[0].lower() == "run":
        return shared[0]
    unique = [c for c in shared if all(_tells_apart(table, c) for table in (left, right))]
    return (unique or shared)[0]


def _tells_apart(table: TextTable, column: str) -> bool:
    cells = table.column(column)
    return "" not in cells and len(set(cells)) == len(cells)


def _numbers(
    table: TextTable,
    key: str,
    missing: str,
    notes: list[str],
    skip: Callable[[str], bool] = lambda column: False,
) -> pd.DataFrame:
    """The value columns by run, all finite; what is left out is noted, what is wrong refused."""
    if not table.rows:
        raise OlmixError(f"{table.path}: no runs")
    if "" in table.header and key:
        notes.append(f"{table.path.name}: unnamed index column ignored")
    runs = _run_names(table, key)
    columns, text = {}, []
    for name in table.header:
        if name == key or _is_key(name) or skip(name):
            continue
        cells = table.column(name)
        numbers = pd.to_numeric(pd.Series(cells), errors="coerce").to_numpy(float)
        odd = [row for row in np.flatnonzero(np.isnan(numbers)) if not _is_missing(cells[row])]
        if odd and np.isnan(numbers).all():
            text.append(name)
        elif odd:
            raise _bad_cell(table, int(odd[0]), name, runs)
        else:
            columns[name] = numbers
    if text:
        notes.append(f"{table.path.name}: text columns ignored: {_some(text)}")
    if not columns:
        raise OlmixError(
            f"{table.path}: no columns besides {', '.join(c for c in table.header if c)}"
        )
    frame = pd.DataFrame(columns, index=runs)
    return _without_missing(table, frame, missing, notes)


def _run_names(table: TextTable, key: str) -> list[str]:
    """The run of every row: there, and each once."""
    runs = table.column(key)
    if key.lower() != "run" and all(_WHOLE_NUMBER.fullmatch(run) for run in runs):
        runs = [str(int(float(run))) for run in runs]  # an index saved as 0.0 or 00 is 0
    for row, run in enumerate(runs):
        if not run:
            raise OlmixError(f"{table.path}: line {table.lines[row]} has no run")
    if len(set(runs)) < len(runs):
        row = next(row for row, run in enumerate(runs) if run in runs[:row])
        raise OlmixError(
            f"{table.path}: run '{runs[row]}' appears again on line {table.lines[row]}"
        )
    return runs


def _is_missing(cell: str) -> bool:
    return cell.lower() in ("", "nan", "na", "n/a", "null", "none", "-")


def _bad_cell(table: TextTable, row: int, column: str, runs: list[str]) -> OlmixError:
    cell = table.column(column)[row]
    hint = "; write decimals with a point" if re.fullmatch(r"-?\d+,\d+", cell) else ""
    return OlmixError(
        f"{table.path}: line {table.lines[row]}, column '{column}': '{cell}' is not a "
        f"finite number (run '{runs[row]}'){hint}"
    )


def _without_missing(
    table: TextTable, frame: pd.DataFrame, missing: str, notes: list[str]
) -> pd.DataFrame:
    """The policy about missing values, applied and noted."""
    gaps = ~np.isfinite(frame.to_numpy(float))
    if not gaps.any():
        return frame
    row, column = np.argwhere(gaps.T)[0][::-1]
    if missing == "refuse":
        raise _bad_cell(table, int(row), frame.columns[column], list(frame.index))
    axis = 1 if missing == "drop-runs" else 0
    keep = ~gaps.any(axis)
    labels, what = (frame.index, "runs") if axis else (frame.columns, "tasks")
    notes.append(
        f"{table.path.name}: {(~keep).sum()} {what} left out, values missing: "
        f"{_some(labels[~keep])}"
    )
    if not keep.any():
        raise OlmixError(f"{table.path}: none of the {len(keep)} {what} has all its values")
    return frame.loc[keep] if axis else frame.loc[:, keep]


def _as_mixes(frame: pd.DataFrame, path: str | Path, notes: list[str]) -> np.ndarray:
    """The rows as mixes: from percent to shares, and renormalised where rounding is all they lack.

    Three decimals may miss 1 by half a thousandth per domain.
    """
    mixes = frame.to_numpy(float)
    if (mixes < 0).any():
        row, column = np.argwhere(mixes < 0)[0]
        raise OlmixError(
            f"{path}: run '{frame.index[row]}' has weight {mixes[row, column]} on "
            f"'{frame.columns[column]}', expected 0 or more"
        )
    tolerance = max(SUM_TOLERANCE, 5e-4 * mixes.shape[1])
    if (np.abs(mixes.sum(1) / 100 - 1) <= tolerance).all():
        mixes = mixes / 100
        notes.append(f"{Path(path).name}: weights are in percent")
    sums = mixes.sum(1)
    wrong = np.flatnonzero(np.abs(sums - 1) > tolerance)
    if wrong.size:
        raise OlmixError(
            f"{path}: the weights of run '{frame.index[wrong[0]]}' sum to {sums[wrong[0]]:.6g}, "
            f"expected 1 within {tolerance:g} (or 100 in every run)"
        )
    rounded = int((np.abs(sums - 1) > 1e-6).sum())
    if rounded:
        notes.append(f"{Path(path).name}: {rounded} mixes renormalised (rounded weights)")
    return mixes / sums[:, None]


def write_table(
    path: str | Path, runs: Sequence[str], columns: Sequence[str], values: ArrayLike
) -> None:
    """Write one of the two tables: run, name, index, then ``columns``."""
    frame = pd.DataFrame(np.asarray(values, dtype=float), columns=list(columns))
    frame.insert(0, "run", list(runs))
    frame.insert(1, "name", list(runs))
    frame.insert(2, "index", range(len(frame)))
    write_csv(path, frame)


def _some(names: Iterable[object], most: int = 5) -> str:
    """A few of the names, for a message."""
    known = [str(name) for name in names]
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")
