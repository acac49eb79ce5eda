from pathlib import Path

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.errors import OlmixError
from olmix.study.data_checks import (
    check_caps_at_stages,
    check_declared,
    check_sample,
    check_versions,
)
from olmix.study.public_data import PublicData
from olmix.study.scale import Scale, load_scale
from olmix.updates.operators import Add, Revise, Update
from olmix.updates.sequence import Step, UpdateSequence

REPOSITORY = Path(__file__).parents[2]
N = {"web": 1000, "pdf": 200}
DOMAINS = DomainSet.from_token_counts(N)
REVISED = UpdateSequence(DOMAINS, (Step("revise", Update((Revise("pdf"),))),))


def test_caps_are_checked_at_every_stage_and_at_both_r():
    check_caps_at_stages(REVISED, 4, {"relaxed": 1200, "tight": 4800})
    with pytest.raises(OlmixError, match=r"stage 'initial', R tight: caps: .* sum to 0\.8"):
        check_caps_at_stages(REVISED, 4, {"relaxed": 1200, "tight": 6000})
    grown = UpdateSequence(
        DomainSet.from_token_counts({"pdf": 200}),
        (Step("add", Update((Add((DOMAINS["web"],)),))),),
    )
    with pytest.raises(OlmixError, match="stage 'initial', R only"):
        check_caps_at_stages(grown, 4, {"only": 1200})


@pytest.mark.parametrize(
    "stored",
    [{"web": 1, "pdf": 1}, {"web": 1, "pdf:a": 1, "pdf:b": 1}, {"web": 1, "pdf@9": 1, "pdf": 1}],
)
def test_one_text_for_two_versions_is_refused(stored):
    with pytest.raises(
        OlmixError, match=r"versions 1 and 2 of 'pdf' are the same tokens .*'pdf@1'"
    ):
        check_versions(REVISED, stored)


@pytest.mark.parametrize("after", [{"pdf": 1}, {"pdf@2": 1}, {"pdf:a": 1, "pdf:b": 1}])
def test_a_former_version_beside_the_new_one_will_do(after):
    check_versions(REVISED, {"web": 1, "pdf@1": 1, **after})


def test_a_domain_that_is_not_there_is_refused():
    with pytest.raises(OlmixError, match="the corpus has no domain 'pdf'"):
        check_versions(REVISED, {"web": 1})


MODELS = {
    "30m": {"shape": "tiny-30m", "tokens": 1024, "max_repetition": 4},
    "target": {"shape": "tiny-target", "tokens": 2560, "max_repetition": 4},
}


def test_how_often_a_run_may_read_the_same_tokens():
    stored = {"web": 1024, "pdf": 512}
    found = check_sample(DOMAINS, stored, MODELS, 4, {"relaxed": 2000, "tight": 9000})
    # A proxy of PDFs alone; a target of web alone, and of PDFs up to 4 * 200 / 2000 of it.
    assert found == {"30m": 2.0, "target": 2.5}
    np.testing.assert_allclose(2560 * 4 * 200 / 2000 / 512, 2.0)


def test_a_sample_that_is_too_small_is_refused_with_what_to_change():
    with pytest.raises(
        OlmixError, match=r"'30m': a run may read 'pdf' 10\.2 times, of which 100 tok"
    ):
        check_sample(DOMAINS, {"web": 1024, "pdf": 100}, MODELS, 4, {"relaxed": 2000})


def test_the_papers_texts_are_checked_by_what_is_declared_of_them():
    paper = load_scale(REPOSITORY / "config" / "scales", "paper")
    sources = PublicData.open(paper, REPOSITORY).sources.values()
    fed = [name for source in sources for name in source.domains]
    updates = ["config/updates/paper.yaml"]
    check_declared(REPOSITORY, updates, fed, paper)
    with pytest.raises(OlmixError, match="expected a domain 'pdf@1' in the corpus"):
        check_declared(REPOSITORY, updates, [n for n in fed if n != "pdf@1"], paper)
    asked = Scale("paper", {**paper.content, "requested_tokens": {"tight": 60e12}})
    with pytest.raises(OlmixError, match="stage 'initial', R tight: caps"):
        check_declared(REPOSITORY, updates, fed, asked)
