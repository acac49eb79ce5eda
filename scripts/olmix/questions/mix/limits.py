"""What keeps a mix from being better, or from being surer: caps, text, noise, the law."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from olmix.presentation.wording import listed
from olmix.questions.mix.fit import ProposalFit
from olmix.questions.mix.measured import Measured

__all__ = ["limits", "weightless"]

# A prediction that ranks runs it has not seen worse than this is hardly one.
_POOR_CORRELATION = 0.5
# Share of BPB, in %, below which what caps cost is not worth a word.
_LITTLE = 0.05
# Runs on text that is seen more often than here were never measured.
_REPEATED = 1.0


def limits(
    mix: pd.DataFrame,
    gains: pd.DataFrame,
    measured: Measured,
    fit: ProposalFit | None,
    settings: Mapping[str, Any],
) -> list[str]:
    """What limits the proposal, in sentences, the most telling first."""
    return [
        *_caps(mix, fit),
        *_noise(gains, measured),
        *_law(fit),
        *_repetition(mix, settings),
    ]


def _caps(mix: pd.DataFrame, fit: ProposalFit | None) -> list[str]:
    capped = list(mix.loc[mix["at_cap"], "domain"])
    if not capped:
        return ["No domain is at its cap: more text of any one would not change the mix."]
    lost = 0.0 if fit is None else fit.lost_to_caps
    cost = f"; without caps the law predicts {lost:.1f} % less BPB" if lost > _LITTLE else ""
    verb = "is at its cap" if len(capped) == 1 else "are at their caps"
    return [f"{listed(capped)} {verb}: more such text would get more weight{cost}."]


def _noise(gains: pd.DataFrame, measured: Measured) -> list[str]:
    if len(measured.tables) < 2:
        return ["Every mix was checked by one run only: nothing is known of the noise."]
    unsure = list(gains.loc[(gains["low"] <= 0) & (gains["high"] >= 0), "over"])
    line = (
        f"Runs of one mix differ by {measured.noise:.2f} % of their BPB, so that with "
        f"{len(measured.tables)} runs each, gains under about {measured.visible:.1f} % are not seen"
    )
    open_ones = f"; the sign of that over {listed(unsure)} is open" if unsure else ""
    return [f"{line}{open_ones}."]


def _law(fit: ProposalFit | None) -> list[str]:
    if fit is None:
        return ["Nothing was fitted: the update left only frozen ratios."]
    correlation = fit.correlation
    if correlation is None:
        return [f"{len(fit.swarm)} proxies are too few to set any aside and test the law on them."]
    poor = correlation < _POOR_CORRELATION
    advice = ": more proxies (mix.multiplier) or longer ones would help" if poor else ""
    return [
        f"On proxies it has not seen, the law's predictions correlate with what was measured by "
        f"{correlation:.2f}{advice}."
    ]


def _repetition(mix: pd.DataFrame, settings: Mapping[str, Any]) -> list[str]:
    """Target runs are short: what repeating a domain does to a long one, they do not show."""
    often = mix[mix["times_seen"] > _REPEATED]
    if often.empty:
        return []
    target = settings["models"]["target"]["tokens"]
    seen = (often["weight"] * target / often["tokens"]).max()
    names = listed(f"{row.domain} ({row.times_seen:.1f} times)" for row in often.itertuples())
    return [
        f"In a run of {settings['requested_tokens']['tight']:,.0f} tokens the mix repeats {names}; "
        f"the runs that checked it were shorter and saw no domain more than {seen:.1f} times."
    ]


def weightless(tasks: Sequence[str]) -> list[str]:
    """A sentence for names in ``mix.task_weights`` that are no task: misspelt, or gone."""
    if not tasks:
        return []
    return [f"There is no task {listed(tasks)}: its entry in mix.task_weights counts for nothing."]
