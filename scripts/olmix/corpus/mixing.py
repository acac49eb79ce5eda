"""Drawing a run's tokens from a mix, exactly.

A run of R tokens takes p_i·R tokens from domain i, rounded by largest remainder so that the sum
is R. What it reads does not depend on the number of processes nor on where it was resumed.
"""

import math
from fractions import Fraction

import numpy as np

from olmix.corpus.permutation import permute, random_key, uniform
from olmix.corpus.store import Corpus
from olmix.errors import OlmixError

__all__ = ["MixedData", "largest_remainder"]

MIX_TOLERANCE = 1e-6


def largest_remainder(mix: dict[str, float], total: int) -> dict[str, int]:
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

    Within a domain, an epoch reads the chunks of ``sequence_length`` tokens of its packed stream
    in a seeded shuffle, then the shorter rest of the stream, then the next epoch in another
    shuffle: no token is read a second time before all were read once. This drawn stream is cut
    into sequences; what is left of each domain (less than a sequence) is joined, domain after
    domain, in sequences of several domains.

    Across domains, the k-th of the n_i sequences of domain i sits at the time (k + u)/n_i with u
    uniform in [0, 1), and sequences are read by time. The first T of S sequences therefore hold
    T·n_i/S of domain i up to 1 + (m + 1)·n_i/S sequences, for m domains (and the sequences of
    several domains), and any stretch of training holds its share up to twice that.
    """

    def __init__(
        self,
        corpus: Corpus,
        mix: dict[str, float],
        *,
        tokens: int,
        sequence_length: int,
        seed: int,
        max_repetition: float,
    ) -> None:
        """Plan the run; every refusal comes from here, before any token is read."""
        _check_lengths(tokens, sequence_length)
        _check_mix(mix)
        self.requested = dict(mix)
        self.tokens = tokens
        self.sequence_length = sequence_length
        self.counts = largest_remainder(mix, tokens)
        self._domains = sorted(mix)
        self._stores = [corpus[domain] for domain in self._domains]
        available = {store.domain: store.tokens for store in self._stores}
        for domain, count in self.counts.items():
            if mix[domain] > 0 and not available[domain]:
                raise OlmixError(f"domain {domain!r} has weight {mix[domain]:g} but no tokens")
            if count > max_repetition * available[domain]:
                raise OlmixError(
                    f"domain {domain!r} would be repeated {count / available[domain]:.3g} times "
                    f"({count} tokens of {available[domain]}): the limit is {max_repetition:g}"
                )
        self.realised = {domain: count / tokens for domain, count in self.counts.items()}
        self.repetition = {
            domain: count / available[domain] if count else 0.0
            for domain, count in self.counts.items()
        }
        self.largest_repetition = max(self.repetition.values())
        self._lay_out(seed)
        self._order = self._stratified_order(seed)

    def __len__(self) -> int:
        """The number of sequences."""
        return self.tokens // self.sequence_length

    def sequence(self, index: int) -> np.ndarray:
        """The ``sequence_length`` ids of the sequence at a position of the run (int64)."""
        if not 0 <= index < len(self):
            raise OlmixError(f"sequence {index} asked of a run of {len(self)} sequences")
        ids = np.empty(self.sequence_length, dtype=np.int64)
        begin = int(self._order[index]) * self.sequence_length
        piece = int(np.searchsorted(self._piece_begin, begin))
        filled = 0
        while filled < self.sequence_length:
            size = int(self._piece_begin[piece + 1] - self._piece_begin[piece])
            start = int(self._piece_start[piece])
            store = self._stores[self._piece_domain[piece]]
            ids[filled : filled + size] = store.read(start, start + size)
            filled, piece = filled + size, piece + 1
        return ids

    def batch(self, step: int, batch_size: int) -> np.ndarray:
        """The sequences ``step * batch_size`` and following: (batch_size, sequence_length)."""
        if batch_size < 1:
            raise OlmixError(f"batch size {batch_size}: expected at least 1")
        first = step * batch_size
        return np.stack([self.sequence(index) for index in range(first, first + batch_size)])

    def _lay_out(self, seed: int) -> None:
        """Place all drawn tokens in one layout: each domain's whole sequences, then the rests.

        The layout is kept as pieces, runs of tokens that are contiguous both in a domain and in a
        sequence: where a piece begins in the layout, where it starts in its domain, which domain.
        """
        length = self.sequence_length
        counts = [self.counts[domain] for domain in self._domains]
        wholes = [count // length * length for count in counts]
        spans = [(index, 0, whole) for index, whole in enumerate(wholes)]
        spans += [(index, whole, counts[index]) for index, whole in enumerate(wholes)]
        begins, starts, domains, place = [], [], [], 0
        for index, first, last in spans:
            begin, start = self._pieces(index, first, last, place, seed)
            begins.append(begin)
            starts.append(start)
            domains.append(np.full(len(begin), index, dtype=np.int16))
            place += last - first
        self._piece_begin = np.concatenate([*begins, [place]])
        self._piece_start = np.concatenate(starts)
        self._piece_domain = np.concatenate(domains)

    def _pieces(
        self, index: int, first: int, last: int, place: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pieces for positions ``first`` to ``last`` of a domain's drawn stream, put at ``place``.

        Position v of the drawn stream is position v mod N of epoch v // N of a domain of N tokens.
        """
        if first == last:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        length, available = self.sequence_length, self._stores[index].tokens
        sequence_edges = np.arange(first + -place % length, last, length, dtype=np.int64)
        epochs = np.arange(first // available, (last - 1) // available + 1, dtype=np.int64)
        low, high = 0, (available - 1) // length
        if len(epochs) == 1:  # the large domains: never list the chunks that are not drawn
            low, high = (first % available) // length, ((last - 1) % available) // length
        in_epoch = np.arange(low, high + 1, dtype=np.int64) * length
        chunk_edges = (epochs[:, None] * available + in_epoch).reshape(-1)
        chunk_edges = chunk_edges[(chunk_edges > first) & (chunk_edges < last)]
        drawn = np.union1d(np.append(sequence_edges, first), chunk_edges)

        epoch, position = drawn // available, drawn % available
        chunk, offset = position // length, position % length
        whole_chunks = available // length
        shuffled = chunk < whole_chunks  # the rest of the stream is always read last
        key = random_key(seed, "chunks", self._domains[index])
        chunk[shuffled] = permute(chunk[shuffled], whole_chunks, epoch[shuffled], key)
        return drawn - first + place, chunk * length + offset

    def _stratified_order(self, seed: int) -> np.ndarray:
        """The layout's sequences in the order in which the run reads them."""
        strata = {domain: self.counts[domain] // self.sequence_length for domain in self._domains}
        rest = len(self) - sum(strata.values())
        times = [
            (np.arange(count) + uniform(random_key(seed, "times", name), count)) / max(count, 1)
            for name, count in [*strata.items(), ("", rest)]
        ]
        return np.argsort(np.concatenate(times), kind="stable")


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


def _check_mix(mix: dict[str, float]) -> None:
    if not mix:
        raise OlmixError("the mix names no domain")
    for domain, weight in mix.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise OlmixError(f"the mix gives {domain!r} the weight {weight}: expected at least 0")
    total = math.fsum(mix.values())
    if abs(total - 1) > MIX_TOLERANCE:
        raise OlmixError(f"the mix sums to {total:.9g}: expected 1 (within {MIX_TOLERANCE:g})")
