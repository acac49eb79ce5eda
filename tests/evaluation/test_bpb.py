import functools
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from olmix.errors import OlmixError
from olmix.evaluation import bpb
from olmix.evaluation.bpb import evaluate
from olmix.evaluation.tokens import TokenisedSuite, evenly_spaced
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer
from olmix.training.distributed import Processes

VOCABULARY = 8


class Bigrams:
    """A model whose next-token distribution is a row of a table; its state is that row."""

    def __init__(self, table: torch.Tensor, context_length: int = 64) -> None:
        self.shape = SimpleNamespace(vocab_size=table.shape[1], context_length=context_length)
        self.table = table.log()
        self.longest = 0

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        self.longest = max(self.longest, ids.shape[1])
        assert ids.shape[1] <= self.shape.context_length
        return self.table[ids]

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden


def uniform(context_length: int = 64) -> Bigrams:
    return Bigrams(torch.full((VOCABULARY, VOCABULARY), 1 / VOCABULARY), context_length)


def random_suite(make_suite, seed: int = 0, instances: int = 12):
    rng = np.random.default_rng(seed)

    def text(low: int, high: int) -> str:
        return "".join(" " + word for word in rng.choice(list("abc="), rng.integers(low, high)))

    return make_suite(
        {
            name: [(text(1, 30), text(1, 9)) for _ in range(instances)]
            for name in ("math_sums", "math_products", "qa_facts")
        }
    )


def tiny_transformer(context_length: int = 64) -> Transformer:
    shape = ModelShape("test", VOCABULARY, 32, 2, 2, 64, context_length)
    return Transformer(shape, init=Init("fast", seed=3))


def one_by_one(model: Transformer, suite: TokenisedSuite) -> dict[str, float]:
    """A second implementation: no batches, whole logits, plain Python sums."""
    context = model.shape.context_length
    values = {}
    instances = suite.instances()
    rows = iter(zip(instances.prompts, instances.golds, instances.gold_bytes, strict=True))
    for name, count in instances.counts.items():
        total = 0.0
        for _ in range(count):
            prompt, gold, size = next(rows)
            ids = torch.tensor([*prompt, *gold]).long()[-context - 1 :]
            with torch.no_grad():
                logs = model(ids[None, :-1])[0].double().log_softmax(-1)
            places = range(len(ids) - 1 - len(gold), len(ids) - 1)
            bits = -sum(logs[place, ids[place + 1]].item() for place in places) / math.log(2)
            total += bits / size
        values[name] = total / count
    return values


def test_a_uniform_model_gives_the_closed_form(make_suite, tokenizer_path):
    rows = [("a =", " b c"), ("b", " 日本"), ("c = a b", " één a =")]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    # Tokens 2, 1, 3; bytes with the leading space 4, 1 + 2 * 3, 1 + 5 + 4 (é takes two).
    expected = math.log2(VOCABULARY) * (2 / 4 + 1 / 7 + 3 / 10) / 3
    result = evaluate(uniform(), suite)
    assert result["tasks"]["qa"] == pytest.approx(expected, rel=1e-6)
    assert suite.instances().gold_bytes.tolist() == [4, 7, 10]


def test_a_bigram_model_by_hand(make_suite, tokenizer_path):
    # a -> b with 1/2, b -> c with 1/4; everything else uniform (1/8).
    table = torch.full((VOCABULARY, VOCABULARY), 1 / VOCABULARY)
    a, b, c = 2, 3, 4
    table[a] = 0.5 / (VOCABULARY - 1)
    table[a, b] = 0.5
    table[b] = 0.75 / (VOCABULARY - 1)
    table[b, c] = 0.25
    rows = [("= a", " b c"), ("c c c", " a"), ("a b", " c a b")]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    # Bits: 1 + 2 over 4 bytes; 3 over 2; c after b is 2, a after c is 3, b after a is 1, over 6.
    expected = (3 / 4 + 3 / 2 + 6 / 6) / 3
    assert evaluate(Bigrams(table), suite)["tasks"]["qa"] == pytest.approx(expected, rel=1e-6)


def test_families_average_and_derived_task(make_suite, tokenizer_path):
    tasks = {
        "math_one": [("a", " b")],
        "math_two": [("a", " b c")],
        "qa_one": [("a", " 日本")],
    }
    suite = TokenisedSuite(make_suite(tasks, mean_of=("math_one", "qa_one")), tokenizer_path)
    result = evaluate(uniform(), suite)
    one, two, three = 3 / 2, 6 / 4, 3 / 7
    derived = (one + three) / 2
    expected = {"math_one": one, "math_two": two, "qa_one": three, "mean": derived}
    assert result["tasks"] == pytest.approx(expected, rel=1e-6)
    assert result["families"] == pytest.approx(
        {"math": (one + two) / 2, "qa": three, "derived": derived}, rel=1e-6
    )
    assert result["average"] == pytest.approx((one + two + three + derived) / 4, rel=1e-6)
    assert result["instances"] == {"math_one": 1, "math_two": 1, "qa_one": 1, "mean": 0}
    assert result["suite"] == {"name": "made-up", "hash": suite.suite.hash}
    assert result["subsampled"] is None


def test_transformer_agrees_with_one_by_one_scoring(make_suite, tokenizer_path):
    suite = TokenisedSuite(random_suite(make_suite), tokenizer_path)
    model = tiny_transformer(context_length=16)  # shorter than the longest instance
    assert max(len(prompt) for prompt in suite.instances().prompts) > 16
    result = evaluate(model, suite)
    assert result["tasks"] == pytest.approx(one_by_one(model, suite), rel=1e-5)


@pytest.mark.parametrize("batch_tokens", [1, 17, 100, 1000, 10**6])
def test_the_batch_size_does_not_change_the_numbers(make_suite, tokenizer_path, batch_tokens):
    suite = TokenisedSuite(random_suite(make_suite), tokenizer_path)
    model = tiny_transformer()
    reference = evaluate(model, suite, batch_tokens=64)["tasks"]
    result = evaluate(model, suite, batch_tokens=batch_tokens)["tasks"]
    assert result == pytest.approx(reference, rel=1e-6)


def test_few_logits_at_once_do_not_change_the_numbers(make_suite, tokenizer_path, monkeypatch):
    suite = TokenisedSuite(random_suite(make_suite), tokenizer_path)
    model = tiny_transformer()
    reference = evaluate(model, suite)["tasks"]
    monkeypatch.setitem(bpb._LOGITS_AT_ONCE, "cpu", 3 * VOCABULARY)
    assert evaluate(model, suite)["tasks"] == pytest.approx(reference, rel=1e-6)


def test_batches_respect_their_budget_and_score_every_gold_token(make_suite, tokenizer_path):
    suite = TokenisedSuite(random_suite(make_suite), tokenizer_path)
    batches = suite.batches(64, 200)
    assert all(batch.ids.size <= 200 for batch in batches)
    assert sum(batch.targets.size for batch in batches) == sum(map(len, suite.instances().golds))
    assert suite.batches(64, 200) is batches  # laid out once
    lengths = [batch.ids.shape[1] for batch in batches]
    assert lengths == sorted(lengths, reverse=True)


def test_long_prompts_lose_their_left_part_only(make_suite, tokenizer_path):
    # The gold follows "b" in both: what was cut away cannot matter to a bigram model.
    table = torch.rand((VOCABULARY, VOCABULARY), generator=torch.Generator().manual_seed(0))
    table /= table.sum(1, keepdim=True)
    rows = [("a c " * 50 + "b", " c a b =")]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    short = Bigrams(table, context_length=6)
    long = Bigrams(table, context_length=500)
    assert evaluate(short, suite) == evaluate(long, suite)
    assert (short.longest, long.longest) == (6, 104)


@pytest.mark.parametrize("context_length", [1, 2, 3, 7, 10, 11])
def test_a_gold_longer_than_the_context_is_scored_in_windows(
    make_suite, tokenizer_path, context_length
):
    table = torch.rand((VOCABULARY, VOCABULARY), generator=torch.Generator().manual_seed(0))
    table /= table.sum(1, keepdim=True)
    rows = [("a b", " c a b = c c a b c = a"), ("= c", " a")]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    windows = Bigrams(table, context_length)
    whole = evaluate(Bigrams(table), suite)["tasks"]["qa"]
    assert evaluate(windows, suite)["tasks"]["qa"] == pytest.approx(whole, rel=1e-6)
    assert windows.longest == context_length


def test_windows_keep_at_least_half_a_context(make_suite, tokenizer_path):
    rows = [("a", " b" * 100)]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    (batch,) = suite.batches(20, 10**6)
    length = batch.ids.shape[1]
    read = batch.positions % length + 1  # tokens the model reads before each gold token
    fewest = sorted(read[batch.positions // length == row].min() for row in range(len(batch.ids)))
    # Only the stretch at the very beginning of the text has less to read.
    assert fewest[0] == 1
    assert len(fewest) == 10
    assert min(fewest[1:]) > 10
    assert batch.targets.size == 100


def test_instances_are_subsampled_evenly_and_named(make_suite, tokenizer_path):
    assert evenly_spaced(10, 4).tolist() == [0, 2, 5, 7]
    assert evenly_spaced(3, 5).tolist() == [0, 1, 2]
    assert evenly_spaced(3, None).tolist() == [0, 1, 2]
    rows = [("a", " b"), ("a", " b c"), ("a", " b c a"), ("a", " b")]
    suite = TokenisedSuite(make_suite({"qa": rows}), tokenizer_path)
    table = torch.full((VOCABULARY, VOCABULARY), 0.5 / (VOCABULARY - 1))
    table[:, 3] = 0.5  # b everywhere
    bits = 1 + math.log2((VOCABULARY - 1) / 0.5)  # of " b c"
    result = evaluate(Bigrams(table), suite, max_instances=2)  # rows 0 and 2
    third = (bits + math.log2((VOCABULARY - 1) / 0.5)) / 6
    assert result["tasks"]["qa"] == pytest.approx((1 / 2 + third) / 2, rel=1e-6)
    assert result["instances"] == {"qa": 2}
    assert result["subsampled"] == 2
    with pytest.raises(OlmixError, match="max_instances is 0"):
        evaluate(uniform(), suite, max_instances=0)


def test_the_model_returns_to_training_mode(make_suite, tokenizer_path):
    suite = TokenisedSuite(make_suite({"qa": [("a", " b")]}), tokenizer_path)
    model = tiny_transformer().train()
    evaluate(model, suite)
    assert model.training
    evaluate(model.eval(), suite)
    assert not model.training


def test_bfloat16_is_close_to_float32(make_suite, tokenizer_path):
    suite = TokenisedSuite(random_suite(make_suite), tokenizer_path)
    model = tiny_transformer()
    exact = evaluate(model, suite)["tasks"]
    rounded = evaluate(model, suite, precision="bfloat16")["tasks"]
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.02)
    with pytest.raises(OlmixError, match="precision is 'int8'"):
        evaluate(model, suite, precision="int8")


def test_what_cannot_be_scored_is_refused(make_suite, tokenizer_path, tmp_path):
    suite = TokenisedSuite(make_suite({"qa": [("a", " b")]}), tokenizer_path)
    small = Bigrams(torch.full((3, 3), 1 / 3))
    with pytest.raises(OlmixError, match="token 3, but the model's vocabulary has 3"):
        evaluate(small, suite)
    broken = Bigrams(torch.full((VOCABULARY, VOCABULARY), math.nan))
    with pytest.raises(OlmixError, match="task 'qa': BPB is nan"):
        evaluate(broken, suite)
    unknown = TokenisedSuite(make_suite({"qa": [("a", " b"), ("a", " zebra")]}), tokenizer_path)
    with pytest.raises(OlmixError, match=r"qa.jsonl:2: the gold has words outside"):
        evaluate(uniform(), unknown)
    blank = TokenisedSuite(make_suite({"qa": [("a", "  ")]}), tokenizer_path)
    with pytest.raises(OlmixError, match=r"qa.jsonl:1: the gold has no tokens"):
        evaluate(uniform(), blank)
    bare = TokenisedSuite(make_suite({"qa": [(" ", " a")]}), tokenizer_path)
    with pytest.raises(OlmixError, match=r"qa.jsonl:1: the prompt has no tokens"):
        evaluate(uniform(), bare)
    with pytest.raises(OlmixError, match="no such file"):
        TokenisedSuite(suite.suite, tmp_path / "absent.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(OlmixError, match="not a tokenizers JSON file"):
        TokenisedSuite(suite.suite, tmp_path / "bad.json")


class Counted(Processes):
    """One of several processes, whose sums are left to the test."""

    def sum(self, values):
        self.parts.append(values)
        return values


def test_processes_score_each_a_share_and_the_sum_is_the_whole(make_suite, tokenizer_path):
    """No batch twice, none left out; nobody scores more than a batch more than another."""
    suite = TokenisedSuite(random_suite(make_suite, instances=30), tokenizer_path)
    model = Transformer(ModelShape("t", VOCABULARY, 16, 1, 2, 32, 16), init=Init("fast"))
    whole = evaluate(model, suite, batch_tokens=32)
    done, parts = [0, 0, 0], []
    Counted.parts = parts
    for rank in range(3):
        team = Counted(torch.device("cpu"), rank, 3)
        # Counts from 1 to the number of its batches.
        note = functools.partial(lambda rank, count, _: done.__setitem__(rank, count), rank)
        evaluate(model, suite, batch_tokens=32, team=team, on_progress=note)
    assert sum(done) == len(suite.batches(16, 32)) > 6
    assert max(done) - min(done) <= 1
    instances = suite.instances()
    bits = sum(parts).numpy() / math.log(2) / instances.gold_bytes
    summed = bpb.summarise(suite.suite, bits, instances.counts)
    assert summed["tasks"] == whole["tasks"]


def test_bfloat16_scores_are_near_those_of_float32(make_suite, tokenizer_path):
    """The network rounds to 8 bits, the log-likelihood does not: BPB of about 3 within 1 %."""
    suite = TokenisedSuite(random_suite(make_suite, instances=30), tokenizer_path)
    model = Transformer(ModelShape("t", VOCABULARY, 16, 2, 2, 32, 16), init=Init("fast"))
    exact, rounded = (evaluate(model, suite, precision=p) for p in ("float32", "bfloat16"))
    assert rounded["average"] == pytest.approx(exact["average"], rel=1e-2)
    assert rounded["average"] != exact["average"]
    assert evaluate(model, suite)["average"] == exact["average"]  # auto, on a CPU
