"""A stretch of a run under one mix: which tokens it reads, in which order.

Within a domain, an epoch reads the chunks of ``length`` tokens of its packed stream in a seeded
shuffle, then the shorter rest of the stream, then the next epoch in another shuffle: no token is
read a second time before all were read once. A stretch takes up this drawn stream where the one
before left it.
"""

from dataclasses import dataclass

import numpy as np

from olmix.corpus.permutation import permute, random_key, uniform
from olmix.corpus.store import TokenStore

__all__ = ["DomainStream", "Stretch"]


@dataclass(frozen=True)
class DomainStream:
    """The endless drawn stream of a domain: epoch after epoch of its chunks, shuffled by a seed.

    With a ``share`` under 1 it holds that share of the domain's chunks only, chosen by the seed:
    a run of as small a share of the target's tokens then repeats what the target will repeat.
    """

    store: TokenStore
    length: int
    seed: int
    share: float = 1.0

    @property
    def domain(self) -> str:
        """The name of the domain."""
        return self.store.domain

    @property
    def chunks(self) -> int:
        """How many whole chunks an epoch has."""
        whole = self.store.tokens // self.length
        return whole if self.share == 1 or not whole else max(1, round(self.share * whole))

    @property
    def tokens(self) -> int:
        """Tokens of an epoch; of a share of a domain only whole chunks are taken."""
        if self.share == 1 or not self.chunks:
            return self.store.tokens
        return self.chunks * self.length

    def pieces(self, first: int, last: int, edge: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions ``first`` to ``last`` of the drawn stream, cut where they are not contiguous.

        Also cut at ``edge`` and every ``length`` tokens from there, where sequences end. Returns
        where each piece begins in the drawn stream and where it starts in the domain. Position v
        of the drawn stream is position v mod N of epoch v // N of an epoch of N tokens.
        """
        if first == last:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        length, available = self.length, self.tokens
        sequence_edges = np.arange(edge, last, length, dtype=np.int64)
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
        shuffled = chunk < self.chunks  # the rest of the stream is always read last
        chunk[shuffled] = self._shuffled(chunk[shuffled], epoch[shuffled])
        return drawn, chunk * length + offset

    def _shuffled(self, chunk: np.ndarray, epoch: np.ndarray) -> np.ndarray:
        chunk = permute(chunk, self.chunks, epoch, random_key(self.seed, "chunks", self.domain))
        whole = self.store.tokens // self.length
        if self.chunks < whole:
            key = random_key(self.seed, "share", self.domain)
            chunk = permute(chunk, whole, np.zeros_like(epoch), key)
        return chunk

    def last_of_first_epoch(self, count: int) -> np.ndarray:
        """Up to ``count`` sequences that a run reads last of all: unseen until then (int64)."""
        count = min(count, self.chunks)
        first, last = (self.chunks - count) * self.length, self.chunks * self.length
        _, starts = self.pieces(first, last, first)
        rows = [self.store.read(int(start), int(start) + self.length) for start in starts]
        return np.array(rows, dtype=np.int64).reshape(count, self.length)


class Stretch:
    """``counts`` tokens of each domain from where its drawn stream stood, as sequences in order.

    The drawn tokens are cut into sequences; what is left of each domain (less than a sequence) is
    joined, domain after domain, in sequences of several domains.

    Across domains, the k-th of the n_i sequences of domain i sits at the time (k + u)/n_i with u
    uniform in [0, 1), and sequences are read by time. The first T of S sequences therefore hold
    T·n_i/S of domain i up to 1 + (m + 1)·n_i/S sequences, for m domains (and the sequences of
    several domains), and any part of the stretch holds its share up to twice that.
    """

    def __init__(
        self, streams: list[DomainStream], drawn: list[int], counts: list[int], number: int
    ) -> None:
        """Lay out the stretch; ``drawn`` is where each stream stood, ``number`` tells it apart."""
        self.streams, self.counts = streams, counts
        self.length, self.seed = streams[0].length, streams[0].seed
        # The first stretch of a run, most often its only one, has the seeds of a run of one mix.
        self._purpose = ("times", number) if number else ("times",)
        self._lay_out(drawn)
        self._order = self._stratified_order()

    def __len__(self) -> int:
        """The number of sequences."""
        return len(self._order)

    def sequence(self, index: int) -> np.ndarray:
        """The ``length`` ids of the sequence at a position of the stretch (int64)."""
        ids = np.empty(self.length, dtype=np.int64)
        for place, size, piece in self._pieces_of(index):
            start = int(self._piece_start[piece])
            store = self.streams[self._piece_domain[piece]].store
            ids[place : place + size] = store.read(start, start + size)
        return ids

    def domains(self, index: int) -> np.ndarray:
        """The number of the domain that each token of a sequence comes from (int16)."""
        numbers = np.empty(self.length, dtype=np.int16)
        for place, size, piece in self._pieces_of(index):
            numbers[place : place + size] = self._piece_domain[piece]
        return numbers

    def _pieces_of(self, index: int) -> list[tuple[int, int, int]]:
        """(place in the sequence, size, piece) of the pieces a sequence is made of."""
        begin = int(self._order[index]) * self.length
        piece = int(np.searchsorted(self._piece_begin, begin))
        found, filled = [], 0
        while filled < self.length:
            size = int(self._piece_begin[piece + 1] - self._piece_begin[piece])
            found.append((filled, size, piece))
            filled, piece = filled + size, piece + 1
        return found

    def _lay_out(self, drawn: list[int]) -> None:
        """Place all drawn tokens in one layout: each domain's whole sequences, then the rests.

        The layout is kept as pieces, runs of tokens that are contiguous both in a domain and in a
        sequence: where a piece begins in the layout, where it starts in its domain, which domain.
        """
        wholes = [count // self.length * self.length for count in self.counts]
        spans = [(index, 0, whole) for index, whole in enumerate(wholes)]
        spans += [(index, whole, self.counts[index]) for index, whole in enumerate(wholes)]
        begins, starts, domains, place = [], [], [], 0
        for index, first, last in spans:
            first, last = drawn[index] + first, drawn[index] + last
            edge = first + -place % self.length
            begin, start = self.streams[index].pieces(first, last, edge)
            begins.append(begin - first + place)
            starts.append(start)
            domains.append(np.full(len(begin), index, dtype=np.int16))
            place += last - first
        self._piece_begin = np.concatenate([*begins, [place]])
        self._piece_start = np.concatenate(starts)
        self._piece_domain = np.concatenate(domains)

    def _stratified_order(self) -> np.ndarray:
        """The layout's sequences in the order in which the run reads them."""
        strata = [
            (stream.domain, count // self.length)
            for stream, count in zip(self.streams, self.counts, strict=True)
        ]
        rest = sum(self.counts) // self.length - sum(count for _, count in strata)
        times = [
            (np.arange(count) + uniform(random_key(self.seed, *self._purpose, name), count))
            / max(count, 1)
            for name, count in [*strata, ("", rest)]
        ]
        return np.argsort(np.concatenate(times), kind="stable")
