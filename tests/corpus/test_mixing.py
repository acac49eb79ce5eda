"""Exact sampling of a mix: counts, epochs, order, resumption, and everything it refuses."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from olmix.corpus.mixing import MixedData, largest_remainder
from olmix.corpus.permutation import permute, random_key, uniform
from olmix.corpus.store import Corpus, StoreWriter, TokenizerInfo, folder_name
from olmix.errors import OlmixError

INFO = TokenizerInfo(sha256="a" * 64, vocab_size=2**20, end_of_text=0)
SIZES = {"arxiv": 1000, "code:C": 333, "code:Go": 64, "web": 5000, "wiki": 7}
MIX = {"web": 0.5, "arxiv": 0.3, "code:C": 0.12, "code:Go": 0.07, "wiki": 0.01}


def make_corpus(root, sizes, shard_tokens=200) -> Corpus:
    """Domain d holds the ids d·10000, d·10000 + 1, ...: each id says where it comes from."""
    for number, (domain, size) in enumerate(sizes.items()):
        with StoreWriter(
            root / folder_name(domain), domain=domain, tokenizer=INFO, shard_tokens=shard_tokens
        ) as writer:
            ids = np.arange(number * 10_000, number * 10_000 + size)
            for part in np.array_split(ids, max(1, size // 50)):
                writer.add_packed(part, bytes=len(part), documents=1)
    return Corpus.open(root)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("corpus"), SIZES)


def draw(corpus, mix=MIX, tokens=1600, sequence_length=16, seed=0, max_repetition=100.0, share=1.0):
    return MixedData(
        corpus,
        mix,
        tokens=tokens,
        sequence_length=sequence_length,
        seed=seed,
        max_repetition=max_repetition,
        share=share,
    )


def ids_by_domain(sequences, domains=tuple(SIZES)):
    ids = np.asarray(sequences).reshape(-1)
    return {name: ids[ids // 10_000 == n] - n * 10_000 for n, name in enumerate(domains)}


def all_sequences(data) -> np.ndarray:
    return np.stack([data.sequence(index) for index in range(len(data))])


# Rounding


def test_largest_remainder_by_hand():
    # 10 seats for 0.45, 0.35, 0.2: quotas 4.5, 3.5, 2; the tie goes to the first name.
    assert largest_remainder({"b": 0.35, "a": 0.45, "c": 0.2}, 10) == {"b": 3, "a": 5, "c": 2}
    assert largest_remainder({"a": 1.0, "b": 0.0}, 7) == {"a": 7, "b": 0}


def test_largest_remainder_is_exact_for_random_mixes():
    rng = np.random.default_rng(0)
    for _ in range(400):
        size = int(rng.integers(1, 80))
        weights = rng.dirichlet(np.full(size, rng.choice([0.05, 1.0, 20.0])))
        mix = {f"d{n}": float(weight) for n, weight in enumerate(weights)}
        total = int(rng.integers(1, 10 ** int(rng.integers(1, 14))))
        counts = largest_remainder(mix, total)
        assert sum(counts.values()) == total
        norm = sum(Fraction(weight) for weight in mix.values())
        quotas = {domain: Fraction(weight) * total / norm for domain, weight in mix.items()}
        assert all(abs(counts[domain] - quotas[domain]) < 1 for domain in mix)
        # Largest remainder: nobody rounded down had a larger remainder than one rounded up.
        up = [quotas[d] % 1 for d in mix if counts[d] > quotas[d]]
        down = [quotas[d] % 1 for d in mix if counts[d] < quotas[d]]
        assert not up or not down or min(up) >= max(down)


# What is drawn


def test_realised_mix_counts_tokens_really_read(corpus):
    data = draw(corpus)
    found = ids_by_domain(all_sequences(data))
    assert {name: len(ids) for name, ids in found.items()} == largest_remainder(MIX, 1600)
    assert data.counts == {"web": 800, "arxiv": 480, "code:C": 192, "code:Go": 112, "wiki": 16}
    assert data.requested == MIX
    assert data.realised == {name: count / 1600 for name, count in data.counts.items()}
    assert data.repetition == {name: data.counts[name] / SIZES[name] for name in MIX}
    assert data.largest_repetition == 16 / 7


def test_random_runs_use_every_token_evenly(corpus):
    """Every token of a domain is read floor or ceil of (drawn / available) times, in any run."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        weights = rng.dirichlet(np.full(len(SIZES), 0.7))
        mix = dict(zip(SIZES, map(float, weights), strict=True))
        length = int(rng.choice([2, 3, 16, 50, 128]))
        data = draw(
            corpus,
            mix,
            tokens=length * int(rng.integers(1, 80)),
            sequence_length=length,
            seed=int(rng.integers(1000)),
            max_repetition=float("inf"),
        )
        found = ids_by_domain(all_sequences(data))
        for name, ids in found.items():
            assert len(ids) == data.counts[name]
            uses = np.bincount(ids, minlength=SIZES[name])
            assert uses.min() == data.counts[name] // SIZES[name]
            assert uses.max() == -(-data.counts[name] // SIZES[name])


def test_epochs_do_not_overlap_in_time(corpus):
    """Whole sequences of a domain finish one epoch before they begin the next one."""
    data = draw(corpus, {"code:C": 1.0}, tokens=16 * 100)
    ids = ids_by_domain(all_sequences(data))["code:C"]
    for epoch in range(4):
        assert sorted(ids[epoch * 333 : (epoch + 1) * 333]) == list(range(333))
    assert not np.array_equal(ids[:333], ids[333:666])


def test_chunks_stay_contiguous(corpus):
    data = draw(corpus, {"web": 1.0}, tokens=16 * 312)
    sequences = all_sequences(data)
    assert (np.diff(sequences, axis=1) == 1).all()
    assert not (np.diff(sequences[:, 0]) > 0).all()


def naive(corpus, mix, tokens, length, seed):
    """The same definition written token by token, with lists."""
    drawn, rests, times = [], [], []
    for domain in sorted(mix):
        count = largest_remainder(mix, tokens)[domain]
        store = corpus[domain]
        stream, chunks = store.read(0, store.tokens).tolist(), store.tokens // length
        tokens_of_domain, epoch = [], 0
        while len(tokens_of_domain) < count:
            order = permute(
                np.arange(chunks),
                chunks,
                np.full(chunks, epoch),
                random_key(seed, "chunks", domain),
            )
            for chunk in order:
                tokens_of_domain += stream[chunk * length : (chunk + 1) * length]
            tokens_of_domain += stream[chunks * length :]
            epoch += 1
        whole = count // length
        u = uniform(random_key(seed, "times", domain), whole)
        for k in range(whole):
            drawn.append(tokens_of_domain[k * length : (k + 1) * length])
            times.append((k + u[k]) / whole)
        rests += tokens_of_domain[whole * length : count]
    mixed = len(rests) // length
    u = uniform(random_key(seed, "times", ""), mixed)
    for k in range(mixed):
        drawn.append(rests[k * length : (k + 1) * length])
        times.append((k + u[k]) / mixed)
    return [drawn[index] for index in sorted(range(len(drawn)), key=lambda n: times[n])]


@pytest.mark.parametrize("length", [2, 5, 16, 200])
def test_equals_a_second_implementation(corpus, length):
    tokens = length * 37
    data = draw(corpus, tokens=tokens, sequence_length=length, seed=8, max_repetition=1e9)
    assert all_sequences(data).tolist() == naive(corpus, MIX, tokens, length, 8)


# Order, determinism, random access


def test_random_access_equals_sequential(corpus):
    data = draw(corpus)
    sequential = all_sequences(data)
    for index in np.random.default_rng(1).permutation(len(data)):
        assert np.array_equal(draw(corpus).sequence(int(index)), sequential[index])
    again = draw(corpus)
    for step in (24, 0, 7):
        assert np.array_equal(again.batch(step, 4), sequential[4 * step : 4 * step + 4])
    assert again.batch(0, 4).dtype == np.int64
    assert again.batch(0, 4).shape == (4, 16)


def test_deterministic_and_seeded(corpus):
    first = all_sequences(draw(corpus, seed=1))
    reordered = dict(sorted(MIX.items()))
    assert np.array_equal(first, all_sequences(draw(corpus, reordered, seed=1)))
    assert not np.array_equal(first, all_sequences(draw(corpus, seed=2)))


def test_sharding_does_not_matter(corpus, tmp_path):
    other = make_corpus(tmp_path, SIZES, shard_tokens=10**6)
    assert np.array_equal(all_sequences(draw(corpus)), all_sequences(draw(other)))


def test_every_prefix_has_close_to_the_mix(corpus):
    """|drawn_i(T) − T·n_i/S| < 1 + (m + 1)·n_i/S, the bound of the docstring, at every T."""
    rng = np.random.default_rng(5)
    for seed in range(20):
        weights = rng.dirichlet(np.full(len(SIZES), 1.0))
        mix = dict(zip(SIZES, map(float, weights), strict=True))
        data = draw(corpus, mix, tokens=16 * 500, seed=seed, max_repetition=1e9)
        domain_of = all_sequences(data) // 10_000
        whole = (domain_of == domain_of[:, :1]).all(axis=1)
        for number, name in enumerate(SIZES):
            n = data.counts[name] // 16
            seen = np.cumsum(whole & (domain_of[:, 0] == number))
            expected = np.arange(1, 501) * n / 500
            bound = 1 + (len(SIZES) + 1) * n / 500
            assert np.abs(seen - expected).max() < bound + 1e-9


def test_prefix_in_shares(corpus):
    """In tokens: after a tenth of 2,000 sequences every share is within 0.01 of the mix."""
    data = draw(corpus, tokens=32_000, max_repetition=1e9)
    found = ids_by_domain([data.sequence(index) for index in range(200)])
    for name, weight in MIX.items():
        assert abs(len(found[name]) / 3200 - weight) < 0.01


def test_a_small_run_on_huge_domains_is_light():
    """Planning 20,000 sequences of a 600-billion-token domain (150 million chunks) takes < 20 MB.

    A stored shuffle of that domain alone would take 1.2 GB.
    """

    class Size:
        def __init__(self, domain, tokens):
            self.domain, self.tokens = domain, tokens

    domains = {"huge": Size("huge", 611_198_130_192), "large": Size("large", 67_760_078_203)}
    tracemalloc.start()
    data = draw(domains, {"huge": 0.75, "large": 0.25}, tokens=20_000 * 4096, sequence_length=4096)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(data) == 20_000
    assert data.counts == {"huge": 15_000 * 4096, "large": 5_000 * 4096}
    assert peak < 20e6


# Refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mix": {"web": 0.5, "arxiv": 0.4}}, "the mix sums to 0.9: expected 1"),
        ({"mix": {"web": 1.00001}}, "the mix sums to 1.00001"),
        ({"mix": {"web": 1.2, "arxiv": -0.2}}, "gives 'arxiv' the weight -0.2"),
        ({"mix": {"web": float("nan"), "arxiv": 1.0}}, "gives 'web' the weight nan"),
        ({"mix": {}}, "names no domain"),
        ({"mix": {"wbe": 1.0}}, "unknown domain 'wbe' .*closest are web"),
        ({"mix": {"web": 1.0, "typo": 0.0}}, "unknown domain 'typo'"),
        ({"tokens": 0}, "a run of 0 tokens"),
        ({"tokens": 1601}, "1601 tokens is not a whole number of sequences of 16: .*1600 and 1616"),
        ({"sequence_length": 1}, "sequence length 1"),
        (
            {"max_repetition": 2.0},
            r"'wiki' would be repeated 2.29 times \(16 tokens of 7\): the limit is 2",
        ),
    ],
)
def test_refusals_are_one_clear_line(corpus, changes, message):
    with pytest.raises(OlmixError, match=message) as caught:
        draw(corpus, **changes)
    assert "\n" not in str(caught.value)


def test_a_mix_off_by_rounding_is_accepted(corpus):
    data = draw(corpus, {"web": 0.3333333, "arxiv": 0.3333333, "code:C": 0.3333333})
    assert sum(data.counts.values()) == 1600


def test_repetition_at_the_limit_is_allowed(corpus):
    data = draw(corpus, {"code:Go": 1.0}, tokens=256, max_repetition=4.0)
    assert data.largest_repetition == 4.0
    with pytest.raises(OlmixError, match=r"repeated 4.25 times"):
        draw(corpus, {"code:Go": 1.0}, tokens=272, max_repetition=4.0)


def test_empty_domain(tmp_path):
    make_corpus(tmp_path, {"full": 100})
    folder = tmp_path / "empty"
    folder.mkdir()
    manifest = (tmp_path / "full" / "manifest.json").read_text()
    head, _ = manifest.split('"shards"')
    head = head.replace('"full"', '"empty"').replace('"tokens": 100', '"tokens": 0')
    (folder / "manifest.json").write_text(head + '"shards": []}')
    corpus = Corpus.open(tmp_path)
    with pytest.raises(OlmixError, match=r"'empty' has weight 0.5 but no tokens"):
        draw(corpus, {"full": 0.5, "empty": 0.5})
    assert draw(corpus, {"full": 1.0, "empty": 0.0}).realised["empty"] == 0.0


def test_positions_outside_the_run(corpus):
    data = draw(corpus)
    for index in (-1, 100):
        with pytest.raises(OlmixError, match="of a run of 100 sequences"):
            data.sequence(index)
    with pytest.raises(OlmixError, match="of a run of 100 sequences"):
        data.batch(33, 3)
    with pytest.raises(OlmixError, match="batch size 0"):
        data.batch(0, 0)


# Mixes that change along the way

THEN = {"web": 0.1, "arxiv": 0.1, "code:C": 0.5, "code:Go": 0.25, "wiki": 0.05}


def scheduled(corpus, mixes, ends, *, length=16, seed=0, **more):
    """A run of the mixes one after another, each up to its end in sequences."""
    first, *others = mixes
    data = MixedData(
        corpus,
        first,
        tokens=length * ends[-1],
        sequence_length=length,
        seed=seed,
        max_repetition=1e9,
        until=length * ends[0],
        **more,
    )
    for mix, end in zip(others, ends[1:], strict=True):
        data.extend(mix, length * end)
    return data


def test_a_change_of_the_mix_neither_loses_nor_repeats_a_token(corpus):
    """Every token is read floor or ceil of (drawn / available) times, whatever the changes."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        length, changes = int(rng.choice([2, 5, 16])), int(rng.integers(1, 8))
        mixes = [
            dict(zip(SIZES, map(float, rng.dirichlet(np.full(len(SIZES), 0.5))), strict=True))
            for _ in range(changes + 1)
        ]
        ends = np.sort(rng.choice(np.arange(1, 300), changes + 1, replace=False)).tolist()
        data = scheduled(corpus, mixes, ends, length=length, seed=int(rng.integers(99)))
        sequences = all_sequences(data)
        assert sequences.size == data.tokens == sum(data.counts.values())
        for name, ids in ids_by_domain(sequences).items():
            assert len(ids) == data.counts[name]
            uses = np.bincount(ids, minlength=SIZES[name])
            assert uses.min() == data.counts[name] // SIZES[name]
            assert uses.max() == -(-data.counts[name] // SIZES[name])


def test_a_run_of_many_mixes_has_their_mean_to_the_token(corpus):
    rng = np.random.default_rng(2)
    mixes = [
        dict(zip(SIZES, map(float, rng.dirichlet(np.full(len(SIZES), 5.0))), strict=True))
        for _ in range(50)
    ]
    ends = [*range(7, 7 * 50, 7), 400]
    data = scheduled(corpus, mixes, ends)
    mean = {
        name: np.average([mix[name] for mix in mixes], weights=np.diff([0, *ends]))
        for name in SIZES
    }
    for name in SIZES:
        assert abs(data.counts[name] - mean[name] * data.tokens) <= 1
        assert data.requested[name] == pytest.approx(mean[name])
    # On the way no domain is a whole sequence from what was asked for so far, and sequences of
    # several domains come in the last stretch alone.
    asked = np.zeros(len(SIZES))
    seen = np.zeros(len(SIZES))
    for mix, end in zip(mixes[:-1], ends[:-1], strict=True):
        asked += 7 * 16 * np.array([mix[name] for name in data.domains])
        rows = data.batch_domains(end // 7 - 1, 7)
        assert (rows == rows[:, :1]).all()
        seen += np.bincount(rows.ravel(), minlength=len(SIZES))
        assert np.abs(seen - asked).max() < 2 * 16


def test_a_change_to_the_same_mix_draws_as_much_of_it(corpus):
    changed = scheduled(corpus, [MIX, MIX, MIX], [20, 57, 100])
    assert changed.counts == draw(corpus).counts
    assert len(changed.mixes) == 3


def test_stretches_take_up_streams_where_they_stood(corpus):
    """The ids of a domain are those of a run of one mix, in the same order, cut elsewhere."""
    data = scheduled(corpus, [MIX, THEN], [30, 100])
    once = draw(corpus, {"code:C": 1.0}, tokens=16 * 100, max_repetition=1e9)
    whole = ids_by_domain(all_sequences(once))["code:C"]
    # Within a stretch, whole sequences of a domain keep the order of its stream.
    before = ids_by_domain([data.sequence(index) for index in range(30)])["code:C"]
    assert np.array_equal(before, whole[: len(before)])
    after = ids_by_domain([data.sequence(index) for index in range(30, 100)])["code:C"]
    assert sorted(after) == sorted(whole[len(before) : len(before) + len(after)])


def test_domains_of_a_batch_name_where_its_tokens_come_from(corpus):
    data = scheduled(corpus, [MIX, THEN], [30, 100])
    numbers = [list(SIZES).index(name) for name in data.domains]
    for step in range(25):
        expected = data.batch(step, 4) // 10_000
        assert np.array_equal(np.array(numbers)[data.batch_domains(step, 4)], expected)


def test_a_share_of_a_domain_is_repeated_as_the_whole_would_be_in_a_longer_run(corpus):
    data = draw(corpus, {"web": 0.5, "arxiv": 0.5}, tokens=1600, share=0.1)
    assert data.available == {"arxiv": 6 * 16, "web": 31 * 16}
    found = ids_by_domain(all_sequences(data))
    for name, chunks in (("arxiv", 6), ("web", 31)):
        uses = np.bincount(found[name], minlength=SIZES[name])
        assert (uses > 0).sum() == chunks * 16
        assert uses.max() == -(-800 // (chunks * 16))
    # Which part of a domain it is depends on the seed, and chunks stay whole.
    other = draw(corpus, {"web": 0.5, "arxiv": 0.5}, tokens=1600, share=0.1, seed=1)
    mine = set(found["web"] // 16)
    assert len(mine) == 31
    assert mine != set(ids_by_domain(all_sequences(other))["web"] // 16)


def test_the_held_out_sequences_are_those_read_last(corpus):
    data = draw(corpus, {"web": 1.0}, tokens=16 * 312)
    held_out = data.streams[0].last_of_first_epoch(5)
    assert np.array_equal(held_out, all_sequences(data)[-5:])
    shorter = all_sequences(draw(corpus, {"web": 1.0}, tokens=16 * 307))
    assert not set(held_out.ravel()) & set(shorter.ravel())
    tiny = draw(corpus, {"wiki": 1.0}, tokens=64)
    assert tiny.streams[0].last_of_first_epoch(5).shape == (0, 16)


@pytest.mark.parametrize(
    ("mixes", "ends", "message"),
    [
        ([MIX, {"web": 0.5, "arxiv": 0.4}], [30, 100], "the mix sums to 0.9"),
        ([MIX, {"web": 1.0}], [30, 30], "from token 480 to 480 of a run of 480"),
        ([MIX, {"new": 1.0}], [30, 100], "a later mix names 'new', which the run's first does not"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(corpus, mixes, ends, message):
    with pytest.raises(OlmixError, match=message):
        scheduled(corpus, mixes, ends)


def test_repetition_is_counted_over_all_stretches(corpus):
    mix = {"code:Go": 1.0, "web": 0.0}
    data = MixedData(
        corpus, mix, tokens=512, sequence_length=16, seed=0, max_repetition=4.0, until=256
    )
    with pytest.raises(OlmixError, match=r"'code:Go' would be repeated 6 times"):
        data.extend({"web": 0.5, "code:Go": 0.5})
    data.extend({"web": 1.0})
    assert data.repetition == {"code:Go": 4.0, "web": 256 / 5000}
    with pytest.raises(OlmixError, match="after 512"):
        data.extend({"web": 1.0})
