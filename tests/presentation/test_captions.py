"""Every figure has a caption of its own, and what has none says so."""

from importlib import import_module

import pytest

from olmix.presentation.captions import figure_caption, finding, table_caption
from olmix.presentation.report.categories import categories
from olmix.published import figures as published
from olmix.questions.catalogue import load_questions

FIGURES = [(figure, name) for name, q in load_questions().items() for figure in q.figures]
FIGURES += [("claims", "claims")]
FIGURES += [(figure, "published") for figure in published.__all__]


@pytest.mark.parametrize(("figure", "question"), FIGURES)
def test_every_figure_has_a_caption_and_its_question_a_category(figure, question):
    package = "olmix" if question in ("claims", "published") else "olmix.questions"
    captions = import_module(f"{package}.{question}.captions")
    assert callable(getattr(captions, figure, None)), f"{captions.__file__} has no {figure}()"
    assert question in categories()


def test_what_nobody_wrote_a_caption_for_says_so(tmp_path):
    for text in (
        figure_caption("nonsense", "nonsense", tmp_path),
        finding("nonsense", tmp_path),
        table_caption("nonsense", "nonsense", tmp_path),
    ):
        assert "nonsense" in text
        assert str(tmp_path) in text


def test_a_figure_without_a_caption_says_what_it_shows_and_the_finding(monkeypatch, tmp_path):
    monkeypatch.delattr("olmix.questions.rq7.captions.solvers")
    monkeypatch.setattr("olmix.questions.rq7.captions.finding", lambda answer: "Found it.")
    text = figure_caption("rq7", "solvers", tmp_path)
    shown = "Solvers over topics: target BPB (left), predicted proxy BPB (right)."
    assert text == f"{shown} Found it."


def test_tables_are_described_and_then_the_finding_follows(answer):
    level = {
        "lowest_predicted": "exact",
        "lowest_measured": "kl-0.05",
        "predicted_bpb": {"exact": 0.1234, "kl-0.05": 0.2},
        "measured_bpb": {"exact": 0.5, "kl-0.05": 0.4567},
    }
    text = table_caption("rq7", "solvers", answer(topics=level, sources=level))
    assert text.startswith("Target BPB and predicted BPB of each solver's mix")
    assert "exact: 0.123" in text
    assert "KL 0.05 is the lowest, by single runs without intervals (exact: 0.500" in text
