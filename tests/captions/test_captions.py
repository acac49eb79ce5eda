"""Every figure has a caption of its own, and what has none says so."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

from olmix.captions import figure_caption, finding, table_caption
from olmix.report.categories import CATEGORIES

RULES = Path(__file__).parents[2] / "workflow" / "lookups" / "plan.smk"


def constant(name: str):
    """A dictionary or list written out in the rules."""
    text = re.search(rf"^{name} = ([{{\[].*?^[}}\]])", RULES.read_text(), re.S | re.M)[1]
    return ast.literal_eval(text)


FIGURES = list(constant("FIGURES").items())
FIGURES += [("claims", "claims")]
FIGURES += [(figure, "published") for figure in constant("PUBLISHED_FIGURES")]


@pytest.mark.parametrize(("figure", "question"), FIGURES)
def test_every_figure_has_a_caption_and_its_question_a_category(figure, question):
    captions = import_module(f"olmix.captions.{question}")
    assert callable(getattr(captions, figure, None)), f"{captions.__file__} has no {figure}()"
    assert question in CATEGORIES, f"olmix/report/categories.py has no '{question}'"


def test_what_nobody_wrote_a_caption_for_says_so(tmp_path):
    for text in (
        figure_caption("rq7", "nonsense", tmp_path),
        figure_caption("nonsense", "nonsense", tmp_path),
        finding("nonsense", tmp_path),
        table_caption("nonsense", "nonsense", tmp_path),
    ):
        assert "nonsense" in text
        assert str(tmp_path) in text


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
    assert "KL 0.05 is the lowest (exact: 0.500, KL 0.05: 0.457)" in text
