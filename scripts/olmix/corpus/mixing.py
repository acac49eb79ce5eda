"""Drawing a run's tokens from a mix, or from one mix after another, exactly.

A run of R tokens takes p_i·R tokens from domain i, rounded by largest remainder so that the sum
is R. What it reads does not depend on the number of processes nor on where it was resumed.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from olmix.corpus.store import Corpus
from olmix.corpus.stretch import DomainStream, Stretch
from olmix.errors import OlmixError

__all__ = ["MixedData", "largest_remainder"]

MIX_TOLERANCE = 1e-6


def largest_remainder(mix: Mapping[str, float | Fraction], total: int) -> dict[str, int]:
    """Split ``total`` in proportion to ``mix``: whole numbers, exact sum, each within 1 of p·total.

    Computed in exact fractions; equal remainders go to the domain whose name sorts first.
    """
    weights = {domain: Fraction(weight) for domain, weight in sorted(mix.items())}
    scale = total / sum(weights.values())
    counts = {domain: math.floor(weight * scale) for domain, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda domain: counts[domain] - weights[domain] * scale)
    for domain in by_remainder[: total - sum(counts.values())]:
        counts[domain] += 1
    return {domain: counts[domain] for domain in mix}


class MixedData:
    """The sequences of a run: ``tokens`` tokens of a mix, in a seeded order, by position.

    The mix may change along the way: the first is read up to the token ``until``, and `extend`
    says what comes then. Every stretch takes up the domains where the one before left them
    (`olmix.corpus.stretch`), so that no token is left out or read again because of a change. All
    stretches but the last draw whole sequences and owe the rest to the next one: at the end a
    domain has been read as often as all mixes together ask for, to the token (to the sequence,
    if the last stretch asks for less than a sequence of it).
    """

    def __init__(
        self,
        corpus: Corpus,
        mix: Mapping[str, float],
        *,
        tokens: int,
        sequence_length: int,
        seed: int,
        max_repetition: float,
        share: float = 1.0,
        until: int | None = None,
    ) -> None:
        """Plan the run; every refusal comes from here and `extend`, before any token is read.

        ``mix`` names every domain of the run, with weight 0 where it comes later. With a ``share``
        under 1 only that share of each domain is there to be read.
        """
        _check_lengths(tokens, sequence_length)
        self.tokens = tokens
        self.sequence_length = sequence_length
        self.max_repetition = max_repetition
        self.domains = sorted(mix)
        self.streams = [
            DomainStream(corpus[domain], sequence_length, seed, share) for domain in self.domains
        ]
        self.counts = dict.fromkeys(mix, 0)
        self.stretches: list[Stretch] = []
        self.mixes: list[dict[str, float]] = []
        self.ends: list[int] = []
        """The token at which each stretch ends."""
        self._asked = dict.fromkeys(mix, Fraction(0))
        self.extend(mix, until)

    @property
    def planned(self) -> int:
        """How many tokens of the run have a mix by now."""
        return self.ends[-1] if self.ends else 0

    @property
    def available(self) -> dict[str, int]:
        """Tokens of each domain that are there to be read."""
        return {stream.domain: stream.tokens for stream in self.streams}

    @property
    def requested(self) -> dict[str, float]:
        """The mix asked for: of the whole run, where it changed."""
        if len(self.mixes) == 1:
            return dict(self.mixes[0])
        return {domain: float(asked / self.planned) for domain, asked in self._asked.items()}

    @property
    def realised(self) -> dict[str, float]:
        """The mix drawn, over all stretches planned."""
        return {domain: count / self.planned for domain, count in self.counts.items()}

    @property
    def repetition(self) -> dict[str, float]:
        """How often each domain is read, over all stretches planned."""
        available = self.available
        return {
            domain: count / available[domain] if count else 0.0
            for domain, count in self.counts.items()
        }

    @property
    def largest_repetition(self) -> float:
        """How often the domain that is read most often is read."""
        return max(self.repetition.values())

    def extend(self, mix: Mapping[str, float], until: int | None = None) -> None:
        """Read ``mix`` after what is planned, up to the token ``until`` (the end if None)."""
        start, end = self.planned, self.tokens if until is None else until
        if not start < end <= self.tokens or end % self.sequence_length:
            raise OlmixError(
                f"a mix from token {start} to {end} of a run of {self.tokens}; expected whole "
                f"sequences of {self.sequence_length}, after {start}"
            )
        for domain in mix:
            if domain not in self.counts:
                raise OlmixError(f"a later mix names {domain!r}, which the run's first does not")
        _check_mix(mix)
        total = sum(Fraction(weight) for weight in mix.values())
        asked = dict(self._asked)
        for domain, weight in mix.items():
            asked[domain] += Fraction(weight) / total * (end - start)
        counts = self._counts(asked, end - start, last=end == self.tokens)
        self._check_repetition(mix, counts)
        stretch = Stretch(
            self.streams,
            [self.counts[domain] for domain in self.domains],
            [counts[domain] for domain in self.domains],
            number=len(self.stretches),
        )
        self._asked = asked
        self.counts = {domain: self.counts[domain] + count for domain, count in counts.items()}
        self.stretches.append(stretch)
        self.mixes.append(dict(mix))
        self.ends.append(end)

    def _counts(self, asked: dict[str, Fraction], tokens: int, *, last: bool) -> dict[str, int]:
        """What the next stretch draws: all that is owed, in whole sequences unless it is last.

        A domain that an earlier stretch drew up to a sequence too much of is owed nothing.
        """
        owed = {domain: max(Fraction(0), asked[domain] - self.counts[domain]) for domain in asked}
        unit = 1 if last else self.sequence_length
        shares = largest_remainder(owed, tokens // unit)
        return {domain: unit * count for domain, count in shares.items()}

    def _check_repetition(self, mix: Mapping[str, float], counts: dict[str, int]) -> None:
        available = self.available
        for domain, count in counts.items():
            if mix.get(domain, 0) > 0 and not available[domain]:
                raise OlmixError(f"domain {domain!r} has weight {mix[domain]:g} but no tokens")
            count += self.counts[domain]
            if count > self.max_repetition * available[domain]:
                raise OlmixError(
                    f"domain {domain!r} would be repeated {count / available[domain]:.3g} times "
                    f"({count} tokens of {available[domain]}): the limit is {self.max_repetition:g}"
                )

    def __len__(self) -> int:
        """The number of sequences."""
        return self.tokens // self.sequence_length

    def sequence(self, index: int) -> np.ndarray:
        """The ``sequence_length`` ids of the sequence at a position of the run (int64)."""
        stretch, place = self._place(index)
        return stretch.sequence(place)

    def batch(self, step: int, batch_size: int) -> np.ndarray:
        """The sequences ``step * batch_size`` and following: (batch_size, sequence_length)."""
        return np.stack([self.sequence(index) for index in _positions(step, batch_size)])

    def batch_domains(self, step: int, batch_size: int) -> np.ndarray:
        """The numbers (in `domains`) of the domains that the tokens of `batch` come from."""
        places = [self._place(index) for index in _positions(step, batch_size)]
        return np.stack([stretch.domains(place) for stretch, place in places])

    def _place(self, index: int) -> tuple[Stretch, int]:
        """The stretch that holds a position of the run, and the position in it."""
        if not 0 <= index < len(self):
            raise OlmixError(f"sequence {index} asked of a run of {len(self)} sequences")
        for stretch, end in zip(self.stretches, self.ends, strict=True):
            if index < end // self.sequence_length:
                return stretch, index - (end // self.sequence_length - len(stretch))
        raise OlmixError(f"sequence {index} asked, the mix is known up to token {self.planned}")


def _positions(step: int, batch_size: int) -> range:
    if batch_size < 1:
        raise OlmixError(f"batch size {batch_size}: expected at least 1")
    return range(step * batch_size, (step + 1) * batch_size)


def _check_lengths(tokens: int, sequence_length: int) -> None:
    if sequence_length < 2:
        raise OlmixError(f"sequence length {sequence_length}: expected at least 2")
    if tokens < 1:
        raise OlmixError(f"a run of {tokens} tokens: expected at least one sequence")
    if tokens % sequence_length:
        raise OlmixError(
            f"a run of {tokens} tokens is not a whole number of sequences of {sequence_length}: "
            f"nearest are {tokens // sequence_length * sequence_length} and "
            f"{-(-tokens // sequence_length) * sequence_length}"
        )


def _check_mix(mix: Mapping[str, float]) -> None:
    if not mix:
        raise OlmixError("the mix names no domain")
    for domain, weight in mix.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise OlmixError(f"the mix gives {domain!r} the weight {weight}: expected at least 0")
    total = math.fsum(mix.values())
    if abs(total - 1) > MIX_TOLERANCE:
        raise OlmixError(f"the mix sums to {total:.9g}: expected 1 (within {MIX_TOLERANCE:g})")
