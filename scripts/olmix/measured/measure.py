"""Measure laws on released runs: the best one, and replicas that carry what is not known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.measured.fit import Choice, choose, fit
from olmix.measured.form import FormSettings, LawForm
from olmix.measured.law import DIGITS, MeasuredLaw, Transfer
from olmix.measured.noise import Noise, noise_of, significant
from olmix.measured.runs import ReleasedRuns
from olmix.regressors.correlation import spearman_by_output
from olmix.regressors.cross_validation import held_out_folds

__all__ = ["Measurement", "measure", "out_of_fold", "settled_noise"]

# Noise is drawn so often for each strength that is tried, which settles Spearman's ρ to 0.003.
_DRAWS = 40
_MEAN_DIGITS = 6
# Swarms drawn, and steps taken, until noise is settled to about 2 %.
_DRAWN_SWARMS, _SETTLING = 4, 3


@dataclass(frozen=True)
class Measurement:
    """Everything that measuring gives: replicas (the first is the best law), and its residuals.

    ``errors`` is what unseen runs differ by from the best law: noise, and what was not learned.
    """

    runs: ReleasedRuns
    replicas: tuple[MeasuredLaw, ...]
    errors: Noise
    unseen: Mapping[str, np.ndarray]  # form -> what it predicts for runs it has not seen
    best: str

    def to_dict(self) -> dict[str, Any]:
        """The laws as one small record: what they share, and a replica each."""
        law = self.replicas[0]
        form = law.fitted.form
        return {
            "domains": list(form.domains),
            "tasks": list(law.tasks),
            "mean_mix": significant(form.mean, _MEAN_DIGITS),
            "first_source": form.first,
            "noise": law.noise.to_dict(DIGITS),
            "errors": self.errors.to_dict(DIGITS),
            "replicas": [replica.to_dict() for replica in self.replicas],
        }


def measure(runs: ReleasedRuns, settings: Mapping[str, Any], catalogue: DomainSet) -> Measurement:
    """Measure the laws of ``config/measured.yaml`` on released runs.

    The first replica is the best guess: the form that predicts unseen runs best, on all runs, with
    the assumed shares and no disturbance. Each other one draws all that is not known: it has the
    next of the forms, fitted on runs drawn with replacement, other shares for what no run has, and
    another disturbance from proxy to target.
    """
    forms = _forms(runs, settings["forms"])
    unseen = {name: out_of_fold(form, runs) for name, form in forms.items()}
    best = min(forms, key=lambda name: _error(unseen[name], runs))
    alone = runs.alone()
    errors = noise_of(runs.metrics - unseen[best], alone)
    noise = settled_noise(forms[best], runs, errors)
    choices = {name: choose(form, runs.mixes, runs.metrics) for name, form in forms.items()}
    order = [best, *(name for name in forms if name != best)]
    replicas = []
    for number in range(settings["replicas"]):
        name = order[max(number - 1, 0) % len(order)]
        law = _replica(number, forms[name], choices[name], runs, noise, settings, catalogue)
        # The best law is without a disturbance: that is the mean of all.
        replicas.append(
            _calibrated(law, runs.mixes[alone], settings["transfer"]) if number else law
        )
    return Measurement(runs, tuple(replicas), errors, unseen, best)


def out_of_fold(form: LawForm, runs: ReleasedRuns) -> np.ndarray:
    """What fits without a fold predict for its runs: (runs, tasks)."""
    predicted = np.empty_like(runs.metrics)
    for left_out in held_out_folds(runs.mixes):
        model = fit(form, runs.mixes[~left_out], runs.metrics[~left_out])
        predicted[left_out] = model.predict(runs.mixes[left_out])
    return predicted


def settled_noise(form: LawForm, runs: ReleasedRuns, errors: Noise) -> Noise:
    """The noise at which the law's own runs are as hard to predict as the real ones, task by task.

    ``errors`` are those of the law on unseen runs: noise, and what so many runs leave unlearned.
    """
    exact, alone = fit(form, runs.mixes, runs.metrics).predict(runs.mixes), runs.alone()
    noise = errors
    for _ in range(_SETTLING):
        found = np.zeros((2, len(runs.tasks)))
        for seed in range(_DRAWN_SWARMS):
            drawn = noise.standard(len(runs), np.random.default_rng(seed))
            metrics = exact + noise.deviation(alone[:, None].astype(float)) * drawn
            simulated = replace(runs, metrics=metrics)
            squares = (metrics - out_of_fold(form, simulated)) ** 2
            found += [squares[~alone].mean(0), squares[alone].mean(0)]
        mixed, lonely = np.sqrt(found / _DRAWN_SWARMS)
        noise = replace(
            noise,
            mixed=noise.mixed * errors.mixed / mixed,
            alone=noise.alone * errors.alone / lonely,
        )
    return noise


def _forms(runs: ReleasedRuns, settings: Mapping[str, Mapping[str, float]]) -> dict[str, LawForm]:
    first = runs.first_source()
    if first is None:
        raise OlmixError("no swarm is of one source alone: transfer and its terms need one")
    mean = runs.mixes[runs.swarm == runs.largest].mean(0)
    # Rounded as it is stored, so that a law read again is the law that was fitted.
    mean = np.array(significant(mean, _MEAN_DIGITS))
    return {
        name: LawForm(FormSettings(**entry), runs.domains, mean, first)
        for name, entry in settings.items()
    }


def _error(predicted: np.ndarray, runs: ReleasedRuns) -> float:
    """Mean squared error as a share of each task's variance inside a swarm."""
    shares = [
        ((predicted[rows] - runs.metrics[rows]) ** 2).mean(0) / runs.metrics[rows].var(0)
        for rows in (runs.swarm == name for name in dict.fromkeys(runs.swarm))
    ]
    return float(np.mean(shares))


def _replica(
    number: int,
    form: LawForm,
    choice: Choice,
    runs: ReleasedRuns,
    noise: Noise,
    settings: Mapping[str, Any],
    catalogue: DomainSet,
) -> MeasuredLaw:
    """The law of a number: 0 has all runs and the assumed shares, others draw both."""
    rng = np.random.default_rng([settings["seed"], number])
    counts: np.ndarray = np.ones(len(runs))
    if number:
        counts = rng.multinomial(len(runs), np.full(len(runs), 1 / len(runs))).astype(float)
    fitted = fit(form, runs.mixes, runs.metrics, choice, counts)
    stands_for = {
        name: _stand_in(entry, runs.domains, catalogue, rng if number else None)
        for name, entry in settings["assumed"].items()
    }
    transfer = Transfer(seed=1000 * settings["seed"] + number, strength=0.0)
    return MeasuredLaw(runs.tasks, fitted, noise, stands_for, transfer)


def _stand_in(
    entry: Mapping[str, Any],
    domains: tuple[str, ...],
    catalogue: DomainSet,
    rng: np.random.Generator | None,
) -> np.ndarray:
    """Shares over the measured domains that an unmeasured one stands for; drawn if ``rng``."""
    like = {name: share for name, share in entry["like"].items() if share > 0}
    shares = np.array(list(like.values()), dtype=float)
    shares /= shares.sum()
    if rng is not None:
        shares = rng.dirichlet(entry["concentration"] * shares)
    weights = np.zeros(len(domains))
    for name, share in zip(like, shares, strict=True):
        members = [catalogue[name]] if name in catalogue else list(catalogue.of_source(name))
        members = [domain for domain in members if domain.name in domains]
        if not members:
            raise OlmixError(f"assumed: '{name}' is no measured domain or source")
        tokens = sum(domain.tokens for domain in members)
        for domain in members:
            weights[domains.index(domain.name)] += share * domain.tokens / tokens
    return weights


def _calibrated(law: MeasuredLaw, mixes: np.ndarray, settings: Mapping[str, Any]) -> MeasuredLaw:
    """The law with the disturbance at which proxies rank mixes as well as ``spearman`` says."""
    low, high = 0.0, 4.0
    for _ in range(12):
        middle = (low + high) / 2
        tried = _disturbed(law, middle)
        if _ranks(tried, mixes, settings["target_noise"]) > settings["spearman"]:
            low = middle
        else:
            high = middle
    return _disturbed(law, round((low + high) / 2, 4))


def _disturbed(law: MeasuredLaw, strength: float) -> MeasuredLaw:
    transfer = Transfer(law.transfer.seed, strength)
    return MeasuredLaw(law.tasks, law.fitted, law.noise, law.stands_for, transfer)


def _ranks(law: MeasuredLaw, mixes: np.ndarray, target_noise: float) -> float:
    """Spearman's ρ of the average BPB between single proxy and target runs, mean over draws."""
    proxy, target = law.bpb(mixes), law.bpb(mixes, 1.0)
    deviation = law.noise.deviation(law.fitted.form.alone(mixes))
    rng = np.random.default_rng(0)
    averages = []
    for exact, noise in ((proxy, 1.0), (target, target_noise)):
        drawn = [law.noise.standard(len(mixes), rng) for _ in range(_DRAWS)]
        averages.append(np.column_stack([(exact + noise * deviation * d).mean(1) for d in drawn]))
    return float(spearman_by_output(averages[0], averages[1]).mean())
