"""What a study costs before anything is submitted: runs, tokens, FLOPs, hours, and what is done.

Runs that several questions share count once in the total. Two proposals may turn out to be the same
mix and then share a run, so counts are upper bounds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from olmix.cost.columns import aligned
from olmix.cost.compute import Machine, RunCost
from olmix.errors import OlmixError
from olmix.files import read_json

__all__ = ["StudyCost", "cost_lines", "finished_runs"]

TARGET = "target"
ALL = "all"


def finished_runs(results: str | Path, swarm: str) -> int:
    """Runs of a swarm that are finished; none while its mixes are not known yet."""
    lists = (Path(results) / "list_runs" / swarm).glob("*.json")
    return sum(
        len(entry["names"])
        for path in lists
        for entry in read_json(path)
        if (path.parent / entry["folder"] / "run.json").is_file()
    )


@dataclass(frozen=True)
class StudyCost:
    """The swarms and questions of a scale with what they cost.

    ``swarms`` have model, runs, how often a run is scored, the swarms they come after, and whether
    they are a pool; ``questions`` the swarms they need and the figures they draw; ``chains`` the
    runs of each chain of updates and its group's target runs; ``finished`` how many runs of each
    swarm are done.
    """

    models: Mapping[str, Mapping[str, Any]]
    machine: Machine
    devices: int
    swarms: Mapping[str, Mapping[str, Any]]
    questions: Mapping[str, Mapping[str, Any]]
    chains: Sequence[Mapping[str, Any]]
    finished: Mapping[str, int]

    def __post_init__(self) -> None:
        """Refuse fewer devices than one run takes."""
        for name in {swarm["model"]: None for swarm in self.swarms.values()}:
            if self.runs[name].devices > self.devices:
                raise OlmixError(
                    f"{self.devices} devices: one run of model '{name}' takes "
                    f"{self.runs[name].devices}, expected at least as many"
                )

    @cached_property
    def runs(self) -> dict[str, RunCost]:
        """The cost of one run of each model."""
        return {name: RunCost(name, model, self.machine) for name, model in self.models.items()}

    @cached_property
    def _levels(self) -> dict[str, int]:
        """How many swarms one after the other come before each."""
        levels: dict[str, int] = {}

        def level(name: str) -> int:
            if name not in levels:
                levels[name] = 1 + max((level(s) for s in self.swarms[name]["after"]), default=-1)
            return levels[name]

        for name in self.swarms:
            level(name)
        return levels

    def wall_hours(self, names: Iterable[str]) -> float:
        """Hours on all devices, as a schedule that keeps to the order of the swarms.

        Swarms that wait for the same number of others run together, models one after the other,
        each in waves of as many runs as there are devices for.
        """
        work: dict[tuple[int, str], tuple[int, float]] = {}
        for name in names:
            swarm = self.swarms[name]
            key = (self._levels[name], swarm["model"])
            runs, hours = work.get(key, (0, 0.0))
            each = self.runs[swarm["model"]].hours(swarm["scored"])
            work[key] = (runs + swarm["runs"], max(hours, each))
        total = 0.0
        for (_, model), (runs, hours) in work.items():
            at_once = self.devices // self.runs[model].devices
            total += -(-runs // at_once) * hours
        return total

    def _device_hours(self, name: str) -> float:
        swarm = self.swarms[name]
        run = self.runs[swarm["model"]]
        return swarm["runs"] * run.devices * run.hours(swarm["scored"])

    def question_rows(self) -> list[dict[str, Any]]:
        """One row per question, then all that is made unasked; shared swarms count once there."""
        needs = {name: question["swarms"] for name, question in self.questions.items()}
        unasked = [needs[n] for n, question in self.questions.items() if question["unasked"]]
        needs[ALL] = sorted(set().union(*unasked))
        return [self._question_row(name, swarms) for name, swarms in needs.items()]

    def _question_row(self, question: str, names: Sequence[str]) -> dict[str, Any]:
        swarms = [self.swarms[name] for name in names]
        targets = sum(s["runs"] for s in swarms if s["model"] == TARGET)
        hours = {name: self._device_hours(name) for name in names}
        total = sum(hours.values())
        done = sum(
            hours[name] * self.finished.get(name, 0) / self.swarms[name]["runs"] for name in names
        )
        return {
            "question": question,
            "proxy_runs": sum(s["runs"] for s in swarms) - targets,
            "target_runs": targets,
            "tokens": sum(s["runs"] * self.runs[s["model"]].size.tokens for s in swarms),
            "flops": sum(s["runs"] * self.runs[s["model"]].flops for s in swarms),
            "device_hours": total,
            "hours": self.wall_hours(names),
            "done": done / total if total else 1.0,
            "figures": " ".join(self.questions.get(question, {}).get("figures", ())),
        }

    def model_rows(self) -> list[dict[str, Any]]:
        """One row per model: a run, and what a full job of it asks for."""
        rows = []
        for name, run in self.runs.items():
            request = run.training_request(run.model["runs_per_job"])
            rows.append(
                {
                    "model": name,
                    "parameters": run.shape.parameters,
                    "tokens": run.size.tokens,
                    "flops": run.flops,
                    "devices": run.devices,
                    "device_hours": run.devices * run.hours(),
                    "runs_per_job": run.model["runs_per_job"],
                    "minutes": request.runtime,
                    "mem_mb": request.mem_mb,
                    "micro_batch": request.micro_batch,
                }
            )
        return rows

    def pool_runs(self) -> int:
        """Runs of the pools that the chains draw from, each pool once."""
        targets = {chain["target"] for chain in self.chains}
        before = {name for target in targets for name in self.swarms[target]["after"]}
        return sum(self.swarms[name]["runs"] for name in before if self.swarms[name]["pool"])

    def strategy_rows(self) -> list[dict[str, Any]]:
        """Proxy runs of every strategy, c and group of the updates, for one seed.

        ``counted`` as the paper counts: every stage, as if each chain trained its own runs.
        ``trained`` here for the chain alone: what it draws from the shared pools is left out.
        """
        rows: dict[tuple, dict[str, Any]] = {}
        for chain in self.chains:
            group = chain["group"]
            row = {
                "group": group,
                "strategy": chain["strategy"],
                "c": chain["c"],
                "requested": chain["requested"],
                "seeds": 0,
                "counted": chain["counted"],
                "trained": chain["trained"],
            }
            key = tuple(row.values())
            rows.setdefault(key, row)["seeds"] += 1
        return list(rows.values())


def cost_lines(scale: str, cost: StudyCost, *, trained: bool = True) -> list[str]:
    """The report as a person reads it; ``trained`` is False where another engine makes the runs."""
    machine, unit = cost.machine, cost.machine.unit
    return [
        f"Cost of scale '{scale}' on {cost.devices} {unit}s ({machine.device})"
        + ("" if trained else ", were its runs trained: here they are not"),
        "",
        *_question_lines(cost),
        "",
        *_model_lines(cost),
        "",
        *_strategy_lines(cost),
        f"Assumed: {machine.peak_tflops:g} TFLOP/s peak per {unit}, {machine.utilisation:.0%} of "
        f"it reached, {machine.step_seconds:g} s more per step, {machine.evaluation_minutes:g} min "
        "per evaluation (`hardware` in the scale's file).",
        *_measured_lines(cost),
        "FLOPs of a run are (6(N + Vd) + 6LTd)D. Times keep the order of the swarms, each stage "
        "waiting for the one before, and count no queue.",
    ]


def _measured_lines(cost: StudyCost) -> list[str]:
    """The models whose speed was measured rather than assumed, as lines of the report."""
    names = [name for name, run in cost.runs.items() if run.measured is not None]
    if not names:
        return ["`snakemake preflight` measures what is assumed."]
    return [f"Not assumed but measured by `snakemake preflight`: {', '.join(names)}."]


def _time_unit(cost: StudyCost) -> tuple[str, int]:
    """The unit of all times, and how many of it an hour has: a small study is told in minutes."""
    return ("hours", 1) if cost.question_rows()[-1]["device_hours"] > 10 else ("minutes", 60)


def _question_lines(cost: StudyCost) -> list[str]:
    """The lines about every question, and about all of them together."""
    unit, (word, factor) = cost.machine.unit, _time_unit(cost)
    header = (
        "question", "proxy runs", "target runs", "tokens", "FLOPs", f"{unit}-{word}",
        f"{word} on {cost.devices} {unit}s", "done", "figures",
    )  # fmt: skip
    rows = [
        (
            row["question"],
            f"{row['proxy_runs']:,}",
            f"{row['target_runs']:,}",
            _short(row["tokens"]),
            f"{row['flops']:.2e}",
            _places(factor * row["device_hours"]),
            _places(factor * row["hours"]),
            f"{row['done']:.0%}",
            row["figures"],
        )
        for row in cost.question_rows()
    ]
    return [*aligned(header, rows), "Runs that questions share count once in 'all'."]


def _model_lines(cost: StudyCost) -> list[str]:
    """The lines about one run of every model, and what a job of it asks for."""
    unit, (word, factor) = cost.machine.unit, _time_unit(cost)
    header = (
        "model", "parameters", "tokens", "FLOPs", f"{unit}s", f"{unit}-{word}", "runs per job",
        "minutes asked", "MB per node", "sequences at once",
    )  # fmt: skip
    rows = [
        (
            row["model"],
            _short(row["parameters"]),
            _short(row["tokens"]),
            f"{row['flops']:.2e}",
            str(row["devices"]),
            _places(factor * row["device_hours"]),
            str(row["runs_per_job"]),
            str(row["minutes"]),
            f"{row['mem_mb']:,}",
            str(row["micro_batch"]),
        )
        for row in cost.model_rows()
    ]
    return ["One run of each model, and what a job asks for", *aligned(header, rows)]


def _strategy_lines(cost: StudyCost) -> list[str]:
    """The lines about the strategies, for one seed: the paper's way of counting beside ours."""
    strategies = cost.strategy_rows()
    if not strategies:
        return []
    counted = sum(row["counted"] * row["seeds"] for row in strategies)
    alone = sum(row["trained"] * row["seeds"] for row in strategies)
    pools = cost.pool_runs()
    header = ("group", "strategy", "c", "R", "seeds", "counted", "trained")
    names = ("group", "strategy", "c", "requested", "seeds", "counted", "trained")
    rows = [tuple(str(row[name]) for name in names) for row in strategies]
    return [
        "Proxy runs of the updates for one seed: counted over all stages as the paper does, and",
        "trained here for the strategy alone (all else is drawn from pools that strategies share)",
        *aligned(header, rows),
        f"All seeds: {counted:,} counted; trained are {alone:,}, and {pools:,} of the pools.",
        "",
    ]


def _short(number: float) -> str:
    """A large number with its unit: 2.91 B."""
    for factor, letter in ((1e15, "Q"), (1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= factor:
            return f"{number / factor:.3g} {letter}"
    return f"{number:.3g}"


def _places(number: float) -> str:
    """A number as text, with as many places as matter."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
