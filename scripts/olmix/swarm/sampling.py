"""Sample a swarm: the mixes its proxy runs are trained on (§3.3.2, appendix A.3).

Each candidate is drawn from Dirichlet(s·prior), where the strength s is itself drawn log-uniformly
between two bounds, as RegMix does: a small s gives mixes of a few domains far from the prior, a
large one mixes close to it. As the prior sums to one, s is the total concentration and means the
same for 5 domains as for 64. A candidate is then made sparse, or kept only if dense; kept only
under the repetition caps, if any; and kept only if no earlier one equals it.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from olmix.domains import check_caps
from olmix.errors import OlmixError
from olmix.files import replacing
from olmix.mix import Mix

__all__ = ["Swarm", "SwarmDistribution", "SwarmReport", "sample_swarm", "write_ratios"]

# Candidates drawn at a time. The swarm does not depend on it: see `_Dirichlet`.
BLOCK = 4096

# Per kind: the smallest weight and the bounds of the strength. The sparse ones give mixes as sparse
# as those the authors released for 24 DCLM topics (3.5 domains each on average, theirs 3.3).
DEFAULTS = {"sparse": (0.05, (0.5, 5.0)), "dense": (1e-4, (10.0, 100.0))}


@dataclass(frozen=True)
class SwarmDistribution:
    """What the mixes of a swarm look like.

    ``sparse`` sets weights under ``min_weight`` to 0 and renormalises (if all are under it, the
    largest stays); ``dense`` discards mixes with any weight under it. ``strengths`` bounds the
    Dirichlet's total concentration. Defaults: 0.05 and 0.5 to 5 if sparse, 1e-4 and 10 to 100 if
    dense. ``cover`` swaps in mixes until every domain has weight in one of them, by default when
    the swarm has as many mixes as domains or more; a domain that stays out is in the report.
    """

    kind: str = "sparse"
    min_weight: float = None  # type: ignore[assignment]  # the kind's, once it is made
    strengths: tuple[float, float] = None  # type: ignore[assignment]  # the kind's
    cover: bool | None = None

    def __post_init__(self) -> None:
        """Fill in the kind's defaults and refuse numbers that mean nothing."""
        if self.kind not in DEFAULTS:
            raise OlmixError(f"swarm: kind is {self.kind!r}, expected one of {', '.join(DEFAULTS)}")
        min_weight, strengths = DEFAULTS[self.kind]
        if self.min_weight is None:
            object.__setattr__(self, "min_weight", min_weight)
        object.__setattr__(self, "strengths", tuple(self.strengths or strengths))
        if not 0 <= self.min_weight < 1:
            raise OlmixError(f"swarm: min_weight is {self.min_weight}, expected 0 or more, under 1")
        if len(self.strengths) != 2 or not 0 < self.strengths[0] <= self.strengths[1] < np.inf:
            raise OlmixError(
                f"swarm: strengths are {self.strengths}, expected 0 < lower <= upper < infinity"
            )


@dataclass(frozen=True)
class SwarmReport:
    """How the sampling of a swarm went: what was tried, accepted and refused.

    ``acceptance_rate`` is the share of the ``tries`` candidates that met every demand;
    ``coverage`` says in how many mixes each domain has weight; ``swapped`` counts the mixes that
    are there to cover a domain, in place of the first that were drawn; ``lifted`` those of a dense
    swarm whose smallest weights were raised, as too few candidates had none under the floor.
    """

    tries: int
    acceptance_rate: float
    coverage: dict[str, int]
    swapped: int
    lifted: int = 0

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The domains no mix has weight on: nothing can be learnt about them from this swarm."""
        return tuple(name for name, count in self.coverage.items() if count == 0)

    @property
    def warning(self) -> str | None:
        """One line about uncovered domains, or None if there are none."""
        if not self.uncovered:
            return None
        return (
            f"no mix has weight on {len(self.uncovered)} of {len(self.coverage)} domains "
            f"({', '.join(self.uncovered)}): this swarm says nothing about them"
        )


@dataclass(frozen=True, eq=False)
class Swarm:
    """K mixes over the same m domains, one per row of ``mixes``, and how they were sampled."""

    names: tuple[str, ...]
    mixes: np.ndarray
    report: SwarmReport

    def __len__(self) -> int:
        """The number of mixes, K."""
        return len(self.mixes)

    def __getitem__(self, index: int) -> Mix:
        """One mix, with its names."""
        return Mix(self.names, self.mixes[index])

    def __iter__(self) -> Iterator[Mix]:
        """The mixes in order."""
        return (self[index] for index in range(len(self)))


def sample_swarm(
    prior: Mix,
    size: int,
    *,
    seed: int,
    distribution: SwarmDistribution = SwarmDistribution(),  # noqa: B008 (frozen)
    sources: Sequence[str] | None = None,
    caps: np.ndarray | None = None,
    keep_nonzero: Sequence[str] = (),
    max_tries: int = 1_000_000,
    lift: bool = False,
) -> Swarm:
    """Sample ``size`` different mixes around ``prior``.

    ``sources`` gives the source of each domain; with it a candidate is drawn in two levels, the
    weights of the sources and then the ratios within each source, each with a strength of its own.
    Mixes above ``caps`` (k·N/R, `DomainSet.caps`) or without weight on one of ``keep_nonzero`` are
    discarded. A request that cannot be met is refused: at once where arithmetic shows it, and else
    after ``max_tries`` candidates, with what stood in the way. With ``lift``, what a dense swarm
    without caps then lacks is made of candidates whose small weights are raised to the floor.
    """
    if max_tries < size:
        raise OlmixError(f"swarm: max_tries is {max_tries}, expected the size {size} or more")
    _check_request(prior, size, distribution, caps, keep_nonzero)
    candidates = _Candidates(prior, sources, distribution, seed)
    screen = _Screen(prior.names, distribution, caps, keep_nonzero, max_tries)
    accepted = screen.accepted(candidates)
    found = list(islice(accepted, size))
    lifted = 0
    if lift and len(found) < size and distribution.kind == "dense" and caps is None:
        lifted = size - len(found)
        found += list(_lifted(candidates.draw(lifted), distribution.min_weight))
    if len(found) < size:
        raise screen.shortage(len(found), size)
    mixes = np.array(found)
    cover = size >= len(prior) if distribution.cover is None else distribution.cover
    if cover:
        _cover(mixes, screen.reachable, accepted)
    mixes.flags.writeable = False
    swapped = int((mixes != np.array(found)).any(axis=1).sum())
    coverage = dict(zip(prior.names, (mixes > 0).sum(axis=0).tolist(), strict=True))
    report = SwarmReport(screen.tries, screen.valid / screen.tries, coverage, swapped, lifted)
    return Swarm(prior.names, mixes, report)


def _lifted(mixes: np.ndarray, least: float) -> np.ndarray:
    """Candidates with every weight at least ``least``: each gives so much of itself to all."""
    return least + (1 - least * mixes.shape[1]) * mixes


def _check_request(
    prior: Mix,
    size: int,
    distribution: SwarmDistribution,
    caps: np.ndarray | None,
    keep_nonzero: Sequence[str],
) -> None:
    """Refuse at once what no number of candidates can meet."""
    m, least = len(prior), distribution.min_weight
    if size < 1:
        raise OlmixError(f"swarm: size is {size}, expected 1 or more")
    if m == 1 and size > 1:
        raise OlmixError(f"swarm: {size} different mixes of the single domain '{prior.names[0]}'")
    unsupported = [name for name in prior.names if prior[name] == 0]
    if unsupported:
        raise OlmixError(f"swarm: the prior has weight 0 on '{unsupported[0]}', expected more")
    needed = prior.names if distribution.kind == "dense" else tuple(keep_nonzero)
    for name in keep_nonzero:
        if name not in prior.names:
            raise OlmixError(f"swarm: keep_nonzero names '{name}', which the prior does not have")
    if len(needed) * least > 1:
        raise OlmixError(
            f"swarm: {len(needed)} domains cannot all have {least} or more, "
            f"the largest min_weight for them is {1 / len(needed):.4g}"
        )
    if caps is None:
        return
    check_caps(prior.names, caps)
    for name in needed:
        cap = caps[prior.names.index(name)]
        if cap < least or cap == 0:
            raise OlmixError(
                f"swarm: '{name}' must have weight, but its cap {cap:.4g} is under the "
                f"min_weight {least}"
            )
    usable = np.asarray(caps) >= least
    total = float(np.sum(np.asarray(caps)[usable]))
    if total < 1:
        raise OlmixError(
            f"swarm: only {usable.sum()} of {m} domains have caps of at least the min_weight "
            f"{least}, and these sum to {total:.4g}, expected at least 1; lower min_weight"
        )


class _Dirichlet:
    """Dirichlet draws of varied strength around one prior.

    Each kind of random number has its own stream, used in order of candidates: drawing 10 and then
    20 candidates gives the same 30 as drawing them at once.
    """

    def __init__(
        self, prior: np.ndarray, strengths: tuple[float, float], seed: np.random.SeedSequence
    ) -> None:
        self.prior = prior
        self.log_strengths = np.log(strengths)
        self.strength_stream, self.gamma_stream, self.uniform_stream = (
            np.random.default_rng(child) for child in seed.spawn(3)
        )

    def draw(self, count: int) -> np.ndarray:
        """``count`` mixes, one per row."""
        low, high = self.log_strengths
        strength = np.exp(self.strength_stream.uniform(low, high, size=count))
        alpha = strength[:, None] * self.prior
        # Gamma(α) is Gamma(α+1)·U^(1/α): in logarithms it cannot underflow however small α is.
        uniform = 1.0 - self.uniform_stream.random(alpha.shape)
        logs = np.log(self.gamma_stream.standard_gamma(alpha + 1.0)) + np.log(uniform) / alpha
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


class _Candidates:
    """Candidates of one level (all domains), or of two (sources, then domains in a source)."""

    def __init__(
        self,
        prior: Mix,
        sources: Sequence[str] | None,
        distribution: SwarmDistribution,
        seed: int,
    ) -> None:
        sources = ["all"] * len(prior) if sources is None else list(sources)
        if len(sources) != len(prior):
            raise OlmixError(f"swarm: {len(sources)} sources for {len(prior)} domains")
        labels = list(dict.fromkeys(sources))
        self.columns = [np.array([s == label for s in sources]) for label in labels]
        totals = np.array([prior.weights[columns].sum() for columns in self.columns])
        seeds = np.random.SeedSequence(seed).spawn(len(labels) + 1)
        self.distribution = distribution
        self.between = _Dirichlet(totals, distribution.strengths, seeds[0])
        self.within = [
            _Dirichlet(prior.weights[columns] / total, distribution.strengths, child)
            for columns, total, child in zip(self.columns, totals, seeds[1:], strict=True)
        ]

    def draw(self, count: int) -> np.ndarray:
        """``count`` candidates, made sparse if the swarm is."""
        source_weights = self.between.draw(count)
        weights = np.empty((count, len(self.columns[0])))
        for source, columns in enumerate(self.columns):
            weights[:, columns] = source_weights[:, [source]] * self.within[source].draw(count)
        if self.distribution.kind == "sparse":
            largest = weights == weights.max(axis=1, keepdims=True)
            weights[(weights < self.distribution.min_weight) & ~largest] = 0.0
            weights /= weights.sum(axis=1, keepdims=True)
        return weights


class _Screen:
    """A screen that lets through candidates that meet every demand, and counts why others fail."""

    def __init__(
        self,
        names: tuple[str, ...],
        distribution: SwarmDistribution,
        caps: np.ndarray | None,
        keep_nonzero: Sequence[str],
        max_tries: int,
    ) -> None:
        m = len(names)
        self.names, self.max_tries = names, max_tries
        self.caps = np.full(m, np.inf) if caps is None else np.asarray(caps, dtype=float)
        # A sparse mix has no weight between 0 and min_weight, so a cap below it means never.
        self.reachable = (self.caps >= distribution.min_weight) & (self.caps > 0)
        needed = [distribution.kind == "dense" or name in keep_nonzero for name in names]
        # A weight must be above 0 as well as at least min_weight, which may be 0.
        smallest = max(distribution.min_weight, np.nextafter(0.0, 1.0))
        self.floors = np.where(needed, smallest, 0.0)
        self.tries = self.valid = self.duplicates = 0
        self.over_cap = np.zeros(m, dtype=int)
        self.under_floor = np.zeros(m, dtype=int)

    def accepted(self, candidates: _Candidates) -> Iterator[np.ndarray]:
        """The candidates that pass, one by one, until ``max_tries`` have been looked at."""
        seen: set[bytes] = set()
        drawn = 0
        while drawn < self.max_tries:
            block = candidates.draw(min(BLOCK, self.max_tries - drawn))
            over, under = block > self.caps, block < self.floors
            self.over_cap += over.sum(axis=0)
            self.under_floor += under.sum(axis=0)
            for row in np.flatnonzero(~(over | under).any(axis=1)):
                key = np.round(block[row], 12).tobytes()
                if key in seen:
                    self.duplicates += 1
                    continue
                seen.add(key)
                self.valid += 1
                self.tries = drawn + int(row) + 1
                yield block[row]
            drawn += len(block)
        self.tries = drawn

    def shortage(self, found: int, size: int) -> OlmixError:
        """The error for too few mixes, once all candidates have been looked at."""
        reasons = [("above its cap", self.over_cap), ("too small", self.under_floor)]
        parts = []
        for reason, counts in reasons:
            worst = [j for j in np.argsort(-counts, kind="stable")[:3] if counts[j]]
            if worst:
                shares = ", ".join(
                    f"{self.names[j]} in {counts[j] / self.tries:.1%}" for j in worst
                )
                parts.append(f"{reason}: {shares}")
        if self.duplicates:
            parts.append(f"same as an earlier mix: {self.duplicates / self.tries:.1%}")
        return OlmixError(
            f"swarm: found {found} of {size} mixes in {self.tries} candidates (acceptance rate "
            f"{found / self.tries:.2g}); weight {'; '.join(parts)}; change the strengths, "
            "min_weight, prior or caps"
        )


def _cover(mixes: np.ndarray, reachable: np.ndarray, accepted: Iterator[np.ndarray]) -> None:
    """Swap in, in place, mixes that cover uncovered domains.

    A mix goes out only if every domain it has weight on stays covered without it. This leans the
    swarm towards the domains that the prior makes rare, so the report counts the swaps.
    """
    while (missing := reachable & ~(mixes > 0).any(axis=0)).any():
        new = next((mix for mix in accepted if (mix[missing] > 0).any()), None)
        if new is None:
            return
        counts = (mixes > 0).sum(axis=0) + (new > 0)
        redundant = ((mixes == 0) | (counts >= 2)).all(axis=1)
        if redundant.any():
            mixes[np.flatnonzero(redundant)[-1]] = new


def write_ratios(path: str | Path, swarm: Swarm, run_names: Sequence[str]) -> None:
    """Write the swarm as ``ratios.csv``: columns run, name, index, then one per domain."""
    if len(run_names) != len(swarm) or len(set(run_names)) != len(swarm):
        raise OlmixError(
            f"{path}: {len(set(run_names))} different run names for {len(swarm)} mixes"
        )
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "name", "index", *swarm.names])
        for index, (run, weights) in enumerate(zip(run_names, swarm.mixes, strict=True)):
            writer.writerow([run, run, index, *weights.tolist()])
