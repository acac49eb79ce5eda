from pathlib import Path

import pytest

from olmix.errors import OlmixError
from olmix.study.scale import Scale, load_scale

SCALES = Path(__file__).parents[2] / "config" / "scales"


def test_a_scale_is_read_by_name():
    scale = load_scale(SCALES, "tiny")
    assert (scale.name, scale.proxy) == ("tiny", "30m")
    assert scale.model("target")["shape"] == "tiny-target"
    assert list(scale.seeds()) == [0, 1, 2]
    assert scale["kl"] == 0.05


def test_every_shipped_scale_has_the_same_settings():
    names = [path.stem for path in SCALES.glob("*.yaml")]
    assert {"tiny", "paper", "smoke"} <= set(names)
    keys = {name: set(load_scale(SCALES, name).content) for name in names}
    assert all(found == keys["tiny"] for found in keys.values()), keys


def test_what_is_not_there_is_named():
    with pytest.raises(OlmixError, match=r"no scale 'huge': expected one of .*paper, .*tiny"):
        load_scale(SCALES, "huge")
    scale = Scale("mine", {"models": {"30m": {}, "60m": {}}})
    with pytest.raises(OlmixError, match="scale 'mine' has no model '90m', expected 30m, 60m"):
        scale.model("90m")
    with pytest.raises(OlmixError, match="scale 'mine' has no setting 'kl'"):
        scale["kl"]


def test_only_plain_training_needs_no_notice():
    assert load_scale(SCALES, "tiny").notice is None
    assert load_scale(SCALES, "simulated").notice.startswith("SIMULATED")
