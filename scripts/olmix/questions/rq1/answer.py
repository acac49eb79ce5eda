"""RQ1: how small may a proxy be and still rank mixes as the target does? (§3.3.1; App. RQ1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from olmix.errors import OlmixError
from olmix.questions.answer import Answer, QuestionData
from olmix.regressors.correlation import interval, resample, spearman_by_output
from olmix.regressors.surrogate import outputs_of, pearson_by_output
from olmix.tables import SwarmTable

__all__ = ["AVERAGE", "answer"]

#: The output that the paper correlates; the others are task families.
AVERAGE = "average"
COEFFICIENTS = ("spearman", "pearson")


def answer(data: QuestionData, result: Answer) -> None:
    """Spearman and Pearson of each proxy size with the target, over the mixes both trained on."""
    proxy, swarms = data.settings["proxy"], data.planned["sizes"]
    sizes = list(swarms)
    target = data.table(data.planned["target"])
    tables = {size: _same_runs(data.table(swarm), target) for size, swarm in swarms.items()}
    outputs, measured = _outputs(target, data.families)
    # (mixes, sizes, outputs), and the target's values that broadcast to it
    proxies = np.stack([_outputs(table, data.families)[1] for table in tables.values()], axis=1)
    values = measured[:, None]

    def correlations(rows: np.ndarray) -> np.ndarray:
        """Correlations with the target over some mixes: (coefficients, sizes, outputs)."""
        pair = proxies[rows], values[rows]
        return np.array([spearman_by_output(*pair), pearson_by_output(*pair)])

    found = correlations(np.arange(len(target)))
    resampled = resample(correlations, len(target), seed=0)
    result.table("proxy_size", _points(sizes, target.runs, proxies[:, :, 0].T, measured[:, 0]))
    frame = _coefficients(sizes, outputs, found, *interval(resampled))
    result.table("correlations", frame)
    against = _against(sizes, proxy, found, resampled)
    summary = _summary(frame, len(target), against)
    result.finish(summary | {"parameters": data.tiny_parameters(data.planned["shapes"])})


def _same_runs(table: SwarmTable, target: SwarmTable) -> SwarmTable:
    """The table in the target's order; a pair needs both of its runs."""
    missing = set(target.runs) - set(table.runs)
    if missing:
        raise OlmixError(f"rq1: no proxy run '{min(missing)}', which the target was trained on")
    return table.rows([table.runs.index(run) for run in target.runs])


def _outputs(table: SwarmTable, families: dict[str, list[str]]) -> tuple[list[str], np.ndarray]:
    """The average BPB and that of each family: names, and values (runs, outputs)."""
    names, _, values = outputs_of(table, "family", families)
    return [AVERAGE, *names], np.column_stack([table.metrics.mean(1), values])


def _points(
    sizes: Sequence[str], runs: Sequence[str], proxies: np.ndarray, target: np.ndarray
) -> pd.DataFrame:
    """A row per pair: average BPB of a mix at a proxy size and at the target's."""
    parts = [
        pd.DataFrame({"size": size, "run": runs, "proxy_bpb": values, "target_bpb": target})
        for size, values in zip(sizes, proxies, strict=True)
    ]
    return pd.concat(parts)


def _coefficients(
    sizes: Sequence[str],
    outputs: Sequence[str],
    found: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> pd.DataFrame:
    """A row per size and output: each coefficient with its interval."""
    rows = []
    for i, size in enumerate(sizes):
        for j, output in enumerate(outputs):
            row: dict[str, Any] = {"size": size, "output": output}
            for k, name in enumerate(COEFFICIENTS):
                row[name] = found[k, i, j]
                row[f"{name}_low"], row[f"{name}_high"] = low[k, i, j], high[k, i, j]
            rows.append(row)
    return pd.DataFrame(rows)


def _against(sizes: Sequence[str], proxy: str, found: np.ndarray, resampled: np.ndarray) -> dict:
    """How much higher each other size's Spearman is than the chosen proxy's, with intervals."""
    if proxy not in sizes:
        return {}
    chosen = sizes.index(proxy)
    spearman, replicates = found[0, :, 0], resampled[:, 0, :, 0]
    difference = spearman - spearman[chosen]
    low, high = interval(replicates - replicates[:, [chosen]])
    return {
        size: {"difference": float(difference[i]), "interval": [float(low[i]), float(high[i])]}
        for i, size in enumerate(sizes)
        if i != chosen
    }


def _summary(frame: pd.DataFrame, mixes: int, against: dict) -> dict:
    average = frame[frame["output"] == AVERAGE].set_index("size")
    return {
        "mixes": mixes,
        "highest_spearman": average["spearman"].idxmax(),
        "spearman": average["spearman"].to_dict(),
        "spearman_interval": {
            size: [row["spearman_low"], row["spearman_high"]] for size, row in average.iterrows()
        },
        "pearson": average["pearson"].to_dict(),
        "spearman_against_proxy": against,
    }
