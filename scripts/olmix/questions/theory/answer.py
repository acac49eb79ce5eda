"""Do the terms of Theorems 1 and 2 track the performance of mixture reuse? (§5.2).

F is the average BPB that target runs measured. κ, the theorems' bounds and the predicted gap
beside the measured one are those of full recomputation's model of the same seed. Gaps of F and
their bounds are in percent of full recomputation's F.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.questions.answer import Answer, QuestionData
from olmix.regressors.surrogate import Surrogate
from olmix.study.chain import Chain
from olmix.study.scale import DISJOINT
from olmix.study.single_updates import MULTIPLIER, RELAXED, TIGHT
from olmix.study.update_chain import StageWork
from olmix.updates.sequence import load_updates
from olmix.updates.strategies import (
    CONSTRUCTED,
    FULL_MIXTURE_REUSE,
    FULL_RECOMPUTATION,
    PARTIAL_MIXTURE_REUSE,
    Strategy,
)
from olmix.updates.theory import coupling, coupling_reductions, gap_report

__all__ = ["Setting", "answer"]


@dataclass(frozen=True)
class Setting:
    """One addition: its mixes, its target runs, and full recomputation's models."""

    update: Mapping[str, Any]
    data: QuestionData

    @property
    def name(self) -> str:
        """The name of the update that the setting is about."""
        return self.update["name"]

    @cached_property
    def work(self) -> StageWork:
        """The stage it leads to, with the pool that full recomputation drew from."""
        domains = DomainSet.load(self.data.data / "domains.json")
        sequence, stage = load_updates(self.update["file"], domains), self.update["stage"]
        pool = self.data.table(self.update["pool"])
        disjoint = self.data.settings["pool_share"] == DISJOINT
        parts = self.data.settings["seeds"] if disjoint else None
        return StageWork(sequence, stage, tables={(stage, "pool"): pool}, parts=parts)

    @cached_property
    def averages(self) -> dict[str, float]:
        """The average BPB F that target runs of every mix measured."""
        return self.data.averages(self.update["target"])

    def record(self, strategy: Strategy, requested: str, seed: int) -> dict[str, Any]:
        """The record of what a strategy proposed."""
        return self.data.proposal(self.update["mixes"], _chain(strategy, requested, seed).name)

    def optimum(self, requested: str, seed: int) -> Mix:
        """The optimal mix q*: full recomputation's."""
        record = self.record(FULL_RECOMPUTATION, requested, seed)
        return Mix(tuple(record["domains"]), record["weights"])

    def bpb(self, strategy: Strategy, requested: str, seed: int) -> float:
        """Measured F of a strategy's mix."""
        return self.averages[_chain(strategy, requested, seed).name]

    @cached_property
    def models(self) -> list[Surrogate]:
        """Full recomputation's model of F over D', by seed; it does not depend on R."""
        work, method = self.work, self.data.method
        drawn = [
            work.of(_chain(FULL_RECOMPUTATION, RELAXED, seed)).drawn(work.stage)
            for seed in range(self.data.settings["seeds"])
        ]
        return [method.fit(swarm, self.data.families) for swarm in drawn]

    def gaps(self, strategy: Strategy, requested: str, seed: int) -> dict[str, float]:
        """Every term of both theorems for one reuse of ratios."""
        record, model = self.record(strategy, requested, seed), self.models[seed]
        optimum = self.optimum(requested, seed)
        report = gap_report(
            model,
            fixed_of(record),
            Mix.from_dict(record["made_from"]["existing_mix"]),
            optimum,
            Mix(tuple(record["domains"]), record["weights"]),
        )
        best = self.bpb(FULL_RECOMPUTATION, requested, seed)
        predicted = model.average(optimum.aligned(model.domains).weights[None])[0]
        return {
            "shift": 1 - report.rho,
            "reuse_gap": report.reuse_gap,
            "predicted_gap": 100 * report.performance_gap / predicted,
            "gap": 100 * (self.bpb(strategy, requested, seed) - best) / best,
            "kappa": report.coupling,
            "bound": 100 * report.performance_gap_bound / predicted,
            "reuse_gap_bound": report.reuse_gap_bound,
        }


def _chain(strategy: Strategy, requested: str, seed: int) -> Chain:
    """The chain of a strategy, R and seed; those of the single updates all have the same c."""
    return Chain(strategy.name, MULTIPLIER, requested, seed)


def fixed_of(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The domains D_fix whose ratios a reusing proposal froze."""
    (fixed,) = record["made_from"]["frozen"].values()
    return tuple(fixed)


def answer(data: QuestionData, result: Answer) -> None:
    """The five tables of §5.2."""
    settings = {name: Setting(update, data) for name, update in data.planned["updates"].items()}
    theory = [settings[name] for name in data.planned["additions"]]
    coupled = settings[data.planned["coupled"]]
    seeds = range(data.settings["seeds"])
    tables = {
        "reuse_gap": reuse_gaps(theory, seeds),
        "update_shift": update_shifts(theory, seeds),
        "reused_vs_optimal": reused_and_optimal(coupled, seeds),
        "partial_reuse_coupling": partial_reuse(coupled, seeds),
        "kappa_reduction": kappa_reductions(coupled, seeds),
    }
    for name, frame in tables.items():
        result.table(name, frame)
    result.finish(_summary(tables, recomputed=coupled.work.sequence.steps[0].recompute))


def reuse_gaps(settings: list[Setting], seeds: range) -> pd.DataFrame:
    """Theorem 1: the performance gap of ratios further and further from the optimal ones."""
    columns = ["setting", "mix", "seed", "reuse_gap", "predicted_gap", "gap", "bound"]
    rows = [
        {
            "setting": setting.name,
            "mix": strategy.short,
            "seed": seed,
            **setting.gaps(strategy, RELAXED, seed),
        }
        for setting in settings
        for strategy in CONSTRUCTED
        for seed in seeds
    ]
    return pd.DataFrame(rows)[columns]


def update_shifts(settings: list[Setting], seeds: range) -> pd.DataFrame:
    """Theorem 2: R sets how much weight the optimum moves to the added domains."""
    columns = ["setting", "requested", "seed", "shift", "reuse_gap", "predicted_gap", "gap"]
    rows = [
        {
            "setting": setting.name,
            "requested": requested,
            "seed": seed,
            **setting.gaps(FULL_MIXTURE_REUSE, requested, seed),
        }
        for setting in settings
        for requested in (RELAXED, TIGHT)
        for seed in seeds
    ]
    return pd.DataFrame(rows)[[*columns, "bound", "reuse_gap_bound"]]


def reused_and_optimal(setting: Setting, seeds: range) -> pd.DataFrame:
    """The reused ratio p̃_fix and the optimal q*_fix of every unaffected domain."""
    frames = []
    for seed in seeds:
        record = setting.record(FULL_MIXTURE_REUSE, RELAXED, seed)
        fixed = fixed_of(record)
        reused = Mix.from_dict(record["made_from"]["existing_mix"]).restricted(fixed)
        optimal = setting.optimum(RELAXED, seed).restricted(fixed)
        frames.append(
            pd.DataFrame(
                {
                    "domain": fixed,
                    "seed": seed,
                    "reused": reused.weights,
                    "optimal": optimal.weights,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def partial_reuse(setting: Setting, seeds: range) -> pd.DataFrame:
    """The terms of full reuse, and of partial reuse that recomputes the coupled domains too."""
    columns = ["strategy", "seed", "shift", "reuse_gap", "predicted_gap", "gap", "kappa", "bound"]
    rows = [
        {"strategy": strategy.name, "seed": seed, **setting.gaps(strategy, RELAXED, seed)}
        for strategy in (FULL_MIXTURE_REUSE, PARTIAL_MIXTURE_REUSE)
        for seed in seeds
    ]
    return pd.DataFrame(rows)[columns]


def kappa_reductions(setting: Setting, seeds: range) -> pd.DataFrame:
    """How much κ drops from recomputing each unaffected domain too, largest first."""
    frames = []
    for seed in seeds:
        model = setting.models[seed]
        fixed = set(fixed_of(setting.record(FULL_MIXTURE_REUSE, RELAXED, seed)))
        mask = np.array([name in fixed for name in model.domains])
        kappa = coupling(model.regressor.coef_, mask)
        drops = coupling_reductions(model.regressor.coef_, mask)[mask]
        names = np.array(model.domains)[mask]
        frame = pd.DataFrame(
            {
                "domain": names,
                "seed": seed,
                "kappa": kappa,
                "reduction": drops,
                "share": drops / kappa,
            }
        )
        frames.append(frame.sort_values("reduction", ascending=False, kind="stable"))
    return pd.concat(frames, ignore_index=True)


def _summary(tables: Mapping[str, pd.DataFrame], recomputed: tuple[str, ...]) -> dict[str, Any]:
    """Means over seeds, and whether they are ordered as the theorems say."""
    gap = tables["reuse_gap"].groupby(["setting", "mix"], sort=False)[["reuse_gap", "gap"]].mean()
    shift = tables["update_shift"].groupby(["setting", "requested"], sort=False)
    shift = shift[["shift", "reuse_gap", "gap"]].mean()
    partial = tables["partial_reuse_coupling"].groupby("strategy", sort=False)
    partial = partial[["shift", "reuse_gap", "gap", "kappa"]].mean()
    share = tables["kappa_reduction"].groupby("domain", sort=False)["share"].mean()
    share = share.sort_values(ascending=False)
    return {
        "reuse_gap": {
            setting: {
                **_records(part.droplevel(0)),
                "gap_grows_with_reuse_gap": _in_order(part["reuse_gap"], part["gap"]),
            }
            for setting, part in gap.groupby(level=0, sort=False)
        },
        "update_shift": {
            setting: {
                **_records(part.droplevel(0)),
                "reuse_gap_grows_with_shift": _in_order(part["shift"], part["reuse_gap"]),
                "gap_grows_with_shift": _in_order(part["shift"], part["gap"]),
            }
            for setting, part in shift.groupby(level=0, sort=False)
        },
        "partial_reuse_coupling": _records(partial),
        "kappa_reduction": {
            "recomputed": list(recomputed),
            "largest": share.index[0],
            "shares": share.to_dict(),
        },
    }


def _records(frame: pd.DataFrame) -> dict[str, dict[str, float | None]]:
    """The rows of a table by name; what is undefined is None, as JSON has no NaN."""
    rows = frame.to_dict("index")
    return {
        name: {key: None if np.isnan(value) else value for key, value in row.items()}
        for name, row in rows.items()
    }


def _in_order(cause: pd.Series, effect: pd.Series) -> bool:
    """Whether the effect never falls where the cause grows."""
    return bool(np.all(np.diff(effect.to_numpy()[np.argsort(cause.to_numpy())]) >= 0))
