import json
import re
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest

from olmix.errors import OlmixError
from olmix.presentation.explorer.content import Exploration
from olmix.presentation.explorer.page import write_explorer
from olmix.proposers.proposal import Request


def written(path, exploration):
    """The page's text, and what its script element holds."""
    write_explorer(path / "explore.html", exploration)
    text = (path / "explore.html").read_text(encoding="utf-8")
    return text, json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def floats(text, kind):
    return np.frombuffer(b64decode(text), dtype=kind)


def test_the_law_is_there_to_the_last_bit_and_replicates_to_seven_digits(exploration, tmp_path):
    wanted = exploration(5, 4, replicates=3)
    _, data = written(tmp_path, wanted)
    (term,), (member,) = wanted.surrogate.regressor.terms(), data["law"]
    for name in ("weight", "constant", "intercept", "linear"):
        np.testing.assert_array_equal(floats(member[name], "<f8"), getattr(term, name).ravel())
    assert member["family"] == "log-linear"
    for model, (found,) in zip(wanted.replicates, data["replicates"], strict=True):
        coef = model.regressor.coef_.ravel()
        np.testing.assert_allclose(floats(found["linear"], "<f4"), coef, rtol=1e-6)


def test_no_more_replicates_than_a_page_holds(exploration, tmp_path):
    assert len(written(tmp_path, exploration(3, 2, replicates=25))[1]["replicates"]) == 20


def test_a_page_of_the_papers_size_and_three_matrices_is_below_three_megabytes(
    exploration, with_terms, tmp_path
):
    base = exploration(64, 52)
    (term,) = base.surrogate.regressor.terms()
    curved = replace(term, curved=np.abs(term.linear), shift=np.full(64, 0.01))
    model = with_terms((term, curved), base.surrogate.domains)
    written(tmp_path, replace(base, surrogate=model, replicates=[model] * 20))
    assert (tmp_path / "explore.html").stat().st_size < 3e6


def test_families_hold_every_output_once(exploration, tmp_path):
    base = exploration(3, 8)
    _, data = written(tmp_path, replace(base, families={"code": ["task1", "task7"]}))
    assert data["families"] == [
        {"name": "code", "tasks": [1, 7]},
        {"name": "all", "tasks": [0, 2, 3, 4, 5, 6]},
    ]


def test_task_names_lose_their_suite_only_where_they_stay_distinct(exploration, tmp_path):
    base = exploration(3, 2)
    for outputs, labels in (
        (("arc:rc::olmes", "mbpp:3shot::none"), ["arc", "mbpp:3shot"]),
        (("arc::a", "arc::b"), ["arc::a", "arc::b"]),
    ):
        named = replace(base.surrogate, outputs=outputs)
        assert written(tmp_path, replace(base, surrogate=named))[1]["labels"] == labels


def test_without_token_counts_nothing_can_be_capped(exploration, tmp_path):
    base = exploration(3, 2)
    request = Request(base.request.prior, 0.1, base.request.prior.weights)
    _, data = written(tmp_path, replace(base, request=request, domains=None))
    assert data["tokens"] is None
    assert data["request"] == {"kl": 0.1, "repetition": None, "requested": None}
    assert data["sources"] == ["d0", "d1", "d2"]


def test_names_cannot_leave_their_element(exploration, tmp_path):
    hostile = ["</script><script>alert(1)</script>", "@scripts@", "<!--"]
    text, data = written(tmp_path, exploration(3, 2, names=hostile))
    assert data["domains"] == hostile
    assert text.count("<script") == text.count("</script>") == 2
    assert text.count("function explore(") == 1


def test_nothing_is_named_that_could_be_fetched(exploration, tmp_path):
    text, _ = written(tmp_path, exploration(3, 2))
    assert re.findall(r"https?://|@import|url\(|src=|<link", text) == []
    assert "default-src 'none'" in text


def test_a_family_without_terms_is_refused(exploration, fitted):
    base = exploration(2, 2)
    model = fitted("bimix", scale_=[[0.1, 0.1]] * 2, exponent_=[[0.3, 0.3]] * 2)
    with pytest.raises(OlmixError, match="the family 'bimix' has no terms"):
        Exploration(model, base.request, base.natural)
