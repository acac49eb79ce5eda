from pathlib import Path

import pytest
import yaml

from olmix.claims.board import MEASURES
from olmix.claims.settings import load_claims
from olmix.errors import OlmixError

CLAIMS = Path(__file__).parents[2] / "config" / "claims.yaml"


def changed(tmp_path, edit):
    content = yaml.safe_load(CLAIMS.read_text())
    edit(content)
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_every_claim_of_the_paper_has_a_rule_and_a_measure():
    settings = load_claims(CLAIMS)
    assert [claim.name for claim in settings.claims] == [f"C{n:02d}" for n in range(1, 24)]
    assert set(MEASURES) == {claim.name for claim in settings.claims}
    assert settings.confidence == 0.9
    assert settings.repetitions["tiny"] == ("tiny-seed1", "measured", "published")
    assert len(settings.replicas["measured"]) == 8
    assert all(part.why for claim in settings.claims for part in claim.parts.values())


def test_the_fingerprint_is_of_what_decides(tmp_path):
    def reword(content):
        content["claims"]["C01"]["claim"] = "Other words"

    def relax(content):
        content["claims"]["C01"]["parts"]["larger_proxies"]["at_least"] = 0.5

    before = load_claims(CLAIMS).fingerprint
    assert load_claims(changed(tmp_path, reword)).fingerprint == before
    assert load_claims(changed(tmp_path, relax)).fingerprint != before


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"at_least": 1, "at_most": 2}, "bounds at_least, at_most, expected one of at_least"),
        ({}, "bounds none, expected one of"),
        ({"close_to": 1}, "bounds close_to, expected one of .*close_to with within"),
        ({"at_least": 1, "within": 1}, "bounds at_least, within"),
        ({"at_least": "much"}, "bound 'much', expected a number"),
        ({"above": 1}, "unknown key 'above'"),
    ],
)
def test_a_part_has_one_bound(tmp_path, part, message):
    def edit(content):
        content["claims"]["C02"]["parts"]["one_curve"] = {"what": "x", "why": "y", **part}

    with pytest.raises(OlmixError, match=rf"C02.one_curve: .*{message}"):
        load_claims(changed(tmp_path, edit))


def test_confidence_is_a_share(tmp_path):
    path = changed(tmp_path, lambda content: content.update(confidence=90))
    with pytest.raises(OlmixError, match="confidence is 90, expected a share"):
        load_claims(path)
