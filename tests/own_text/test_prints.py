"""Prints of documents add up, whatever the order, and samples of them tell shared documents."""

import random

from olmix.own_text import prints
from olmix.own_text.prints import ContentPrint, Sample, document_print, shared_documents


def domain(texts: list[str]) -> tuple[ContentPrint, Sample]:
    content, sample = ContentPrint(), Sample()
    for text in texts:
        content += ContentPrint(1, document_print(text))
        sample.add(document_print(text))
    return content, sample


def test_white_space_and_case_do_not_make_another_document():
    assert document_print("A  cat\n sat") == document_print("a cat sat ")
    assert document_print("a cat sat") != document_print("a cat sits")


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
