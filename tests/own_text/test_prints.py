"""Prints of documents add up, whatever the order, and samples of them tell shared documents."""

import random

from olmix.own_text import prints
from olmix.own_text.prints import ContentPrint, Sample, document_prints, shared_documents


def domain(texts: list[str]) -> tuple[ContentPrint, Sample]:
    content, sample = ContentPrint(), Sample()
    for text in texts:
        content += ContentPrint(1, document_prints(text).exact)
        sample.add(document_prints(text).near)
    return content, sample


def test_white_space_and_case_do_not_make_another_document():
    assert document_prints("A  cat\n sat") == document_prints("a cat sat ")
    assert document_prints("a cat sat").exact != document_prints("a cat sits").exact


def test_near_copies_share_a_print_as_often_as_the_closed_form_says():
    draw = random.Random(0)
    words = [f"{draw.getrandbits(28):x}" for _ in range(5000)]
    alike, expected = 0, 0.0
    for _ in range(200):
        text = draw.choices(words, k=400)
        edited = [draw.choice(words) if draw.random() < 0.01 else word for word in text]
        one, other = " ".join(text), " ".join(edited)
        alike += document_prints(one).near == document_prints(other).near
        expected += jaccard(one, other) ** 3
    # Of 200 tries with a chance of about 0.8: four standard errors are 23.
    assert abs(alike - expected) < 23 and 140 < expected < 190


def jaccard(one: str, other: str) -> float:
    """The share of stretches of 32 bytes that two texts have in common, counted one by one."""
    sets = [{text[start : start + 32] for start in range(len(text) - 31)} for text in (one, other)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_other_documents_share_no_print_and_short_ones_have_one_too():
    texts = ["", "a", "b", "ab", *(" ".join(str(n * k) for k in range(90)) for n in range(1, 50))]
    assert len({document_prints(text).near for text in texts}) == len(texts)


def test_a_domain_is_the_sum_of_its_parts_in_any_order():
    texts = [f"document {number}" for number in range(100)]
    whole, _ = domain(texts)
    random.Random(0).shuffle(texts)
    parts = domain(texts[:30])[0], domain(texts[30:])[0]
    assert parts[0] + parts[1] == whole
    assert domain(texts[:99])[0] != whole
    assert ContentPrint.from_dict(whole.to_dict()) == whole


def test_shared_and_repeated_documents_are_counted_exactly_when_few():
    _, one = domain([f"{number}" for number in range(100)])
    _, other = domain([f"{number}" for number in range(75, 125)] * 2)
    assert shared_documents(one, other) == 0.25
    assert shared_documents(other, one) == 0.5
    assert (one.repeated, other.repeated) == (0.0, 0.5)


def test_a_sample_stays_small_and_its_estimate_close(monkeypatch):
    monkeypatch.setattr(prints, "_MOST", 1000)
    _, one = domain([f"{number}" for number in range(20_000)])
    _, other = domain([f"{number}" for number in range(10_000, 40_000)])
    assert len(one.counts) <= 1000 and one.share < 0.1
    # A share of 0.5 among some 500 sampled documents: four standard errors are 0.09.
    assert abs(shared_documents(one, other) - 0.5) < 0.09


def test_samples_merge_to_that_of_both_and_survive_json(monkeypatch):
    monkeypatch.setattr(prints, "_MOST", 100)
    texts = [f"{number}" for number in range(700)]
    _, whole = domain(texts)
    merged, second = domain(texts[:600])[1], domain(texts[600:])[1]
    merged.merge(second)
    assert merged == whole
    assert Sample.from_dict(whole.to_dict()) == whole
