"""What a preflight found: the measured table, expected against measured, and what to change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from olmix.cost.columns import aligned
from olmix.cost.compute import Machine, RunCost
from olmix.preflight.tolerance import TOLERANCE

__all__ = ["Preflight", "report_lines"]

SLOW = 0.8
"""Below this share of the expected speed something is said about it."""
SCALING = 0.8
"""Several nodes should reach this share of one node's speed per device."""


@dataclass(frozen=True)
class Preflight:
    """The models of a scale (those on one node of several too), as assumed and as measured."""

    models: Mapping[str, Mapping[str, Any]]
    hardware: Mapping[str, Any]
    measured: Mapping[str, Mapping[str, Any]]

    @property
    def table(self) -> dict[str, Any]:
        """The ``hardware`` that takes the place of the assumed one, of models that passed."""
        return {
            "device": next(iter(self.measured.values()))["device"].replace(" ", "-"),
            "measured": {
                name: self._entry(name) for name in self.measured if not self.failed(name)
            },
        }

    def failed(self, name: str) -> list[str]:
        """Why a model cannot be trained here as it is, a sentence each."""
        found, why = self.measured[name], []
        if self.models[name]["gpu"] and found["device"] == "cpu":
            why.append("torch sees no GPU in its job; mend CUDA or the request for GPUs first.")
        for precision, difference in found["differences"].items():
            if not difference <= TOLERANCE[precision]:
                why.append(
                    f"losses in {precision} are up to {difference:.2g} of the CPU's away, more "
                    f"than {TOLERANCE[precision]:g}; do not train before this is understood."
                )
        return why

    def _entry(self, name: str) -> dict[str, Any]:
        found = self.measured[name]
        minutes = found["evaluation"]["minutes"]
        if minutes is None:
            minutes = self.hardware["evaluation_minutes"]
        kept = {key: found[key] for key in ("of", "step_seconds", "micro_batch", "sharding")}
        return kept | {"evaluation_minutes": minutes}

    @cached_property
    def expected(self) -> dict[str, RunCost]:
        """The cost of every model's run, by what was assumed."""
        machine = Machine.from_dict(self.hardware)
        return {name: RunCost(name, self.models[name], machine) for name in self.measured}

    @cached_property
    def found(self) -> dict[str, RunCost]:
        """The cost of every model's run, by what was measured."""
        every = {name: self._entry(name) for name in self.measured}
        machine = Machine.from_dict(dict(self.hardware) | {"measured": every})
        return {name: RunCost(name, self.models[name], machine) for name in self.measured}

    def expected_step(self, name: str) -> float:
        """Seconds that a step should take."""
        run = self.expected[name]
        return 3600 * run.hours(0) / run.size.steps

    def utilisation(self, name: str) -> float:
        """The share of the devices' peak that training reached, all that a step does included."""
        run, seconds = self.expected[name], self.measured[name]["step_seconds"]
        peak = run.devices * run.machine.peak_tflops * 1e12
        return run.flops / run.size.steps / seconds / peak

    def changes(self) -> list[str]:
        """What to change before anything is submitted, a sentence each."""
        return [line for name in self.measured for line in self._changes(name)]

    def _changes(self, name: str) -> Iterator[str]:
        found, run = self.measured[name], self.found[name]
        for why in self.failed(name):
            yield f"{name}: {why}"
        share = self.expected_step(name) / found["step_seconds"]
        if share < SLOW:
            yield (
                f"{name}: {share:.0%} of the expected speed; runs take "
                f"{_duration(run.hours())}, for which jobs now ask. Are its devices shared, or "
                "throttled?"
            )
        reading = found["reading"]["step_seconds"]
        if reading > found["step_seconds"]:
            yield (
                f"{name}: the data of a step take {reading:.2g} s to read, longer than the step; "
                "put the tokenised corpus on a faster file system."
            )
        yield from self._about_jobs(name)

    def _about_jobs(self, name: str) -> Iterator[str]:
        found, run = self.measured[name], self.found[name]
        runs = run.model.get("runs_per_job", 1)
        jobs = math.ceil(60 * runs * run.hours() / run.machine.longest_job)
        if jobs > 1:
            yield (
                f"{name}: {runs} run(s) of {_duration(run.hours())} are about {jobs} jobs of "
                f"{run.machine.longest_job} min one after the other; raise `longest_job` if the "
                "cluster allows, or have more `retries` (slurm/config.yaml) than that."
            )
        writing = found["checkpoint"]["writing_seconds"]
        if writing > 0.5 * run.checkpoint_seconds:
            yield (
                f"{name}: a checkpoint takes {writing:.0f} s to write; raise "
                f"`checkpoint_minutes`, now {run.machine.checkpoint_minutes:g}."
            )
        held = found["memory_gb"]
        if run.model["gpu"] and held > run.machine.device_gb:
            yield (
                f"{name}: {held:.3g} GB of a device are filled, more than `device_gb`, "
                f"{run.machine.device_gb:g}; leave it room, or lower `device_gb`."
            )
        alone = self.measured.get(f"{name}-one_node")
        if alone is not None:
            share = self._per_device(name) / self._per_device(f"{name}-one_node")
            if share < SCALING:
                yield (
                    f"{name}: on all nodes a device does {share:.0%} of what it does on one: is "
                    "the fast network used (NCCL_DEBUG=INFO in the job's environment says)?"
                )

    def _per_device(self, name: str) -> float:
        return self.measured[name]["tokens_per_second"] / self.expected[name].devices


def report_lines(scale: str, preflight: Preflight, file: str) -> list[str]:
    """The report as a person reads it."""
    changes = preflight.changes()
    return [
        f"Preflight of scale '{scale}' on {preflight.table['device']}",
        "",
        *_speed_lines(preflight),
        "",
        *_check_lines(preflight),
        "",
        *(["What to change:", *(f"- {line}" for line in changes)] if changes else ["All is well."]),
        "",
        f"Written to {file}: requests and `snakemake cost` now use it in place of the scale's "
        "`hardware`; remove the file to go back.",
        *(
            f"Not in it, and trained at your own risk: {name}."
            for name in preflight.measured
            if preflight.failed(name)
        ),
    ]


def _speed_lines(preflight: Preflight) -> list[str]:
    header = (
        "model", "devices", "ms a step, expected", "measured", "tokens/s", "of peak",
        "a run, expected", "measured", "GB filled", "sequences at once", "sharding",
    )  # fmt: skip
    rows = []
    for name, found in preflight.measured.items():
        expected, run = preflight.expected[name], preflight.found[name]
        rows.append(
            (
                name,
                str(run.devices),
                f"{1000 * preflight.expected_step(name):.3g}",
                f"{1000 * found['step_seconds']:.3g}",
                f"{found['tokens_per_second']:,.0f}",
                f"{preflight.utilisation(name):.1%}",
                _duration(expected.hours()),
                _duration(run.hours()),
                f"{found['memory_gb']:.3g}",
                str(found["micro_batch"]),
                _shardings(found),
            )
        )
    return aligned(header, rows)


def _duration(hours: float) -> str:
    """A time in the unit that suits it."""
    for unit, in_an_hour in (("h", 1), ("min", 60)):
        if hours * in_an_hour >= 1:
            return f"{hours * in_an_hour:.3g} {unit}"
    return f"{3600 * hours:.2g} s"


def _shardings(found: Mapping[str, Any]) -> str:
    """The fastest sharding, and how much longer the others' steps take."""
    best = found["shardings"][found["sharding"]]
    others = [
        f"{name} {seconds / best - 1:+.0%}"
        for name, seconds in found["shardings"].items()
        if name != found["sharding"]
    ]
    return found["sharding"] + (f" ({', '.join(others)})" if others else "")


def _check_lines(preflight: Preflight) -> list[str]:
    header = (
        "model", "backend", "arithmetic", "compiled", "losses off, float32", "bfloat16",
        "scored tokens/s of a device", "min for all tasks", "checkpoint holds s", "writes MB/s",
        "reads MB/s",
    )  # fmt: skip
    rows: list[Sequence[str]] = []
    for name, found in preflight.measured.items():
        evaluation, checkpoint = found["evaluation"], found["checkpoint"]
        minutes = evaluation["minutes"]
        speed = checkpoint["bytes"] / max(1e-9, checkpoint["writing_seconds"]) / 1e6
        rows.append(
            (
                name,
                found["backend"] or "one process",
                found["precision"],
                "yes" if found["compiled"] else "no",
                f"{found['differences']['float32']:.1g}",
                f"{found['differences']['bfloat16']:.1g}",
                f"{evaluation['tokens_per_second']:,.0f}",
                "no suite yet" if minutes is None else f"{minutes:.3g}",
                f"{checkpoint['held_seconds']:.2g}",
                f"{speed:.3g}",
                f"{found['reading']['bytes_per_second'] / 1e6:.3g}",
            )
        )
    tolerances = ", ".join(f"{share:g} in {name}" for name, share in TOLERANCE.items())
    note = f"Losses of a small run may be off by {tolerances} of those of one CPU process."
    return [*aligned(header, rows), note]
