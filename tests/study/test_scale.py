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


@pytest.fixture
def scales(tmp_path):
    """``scales(name=text, ...)``: a folder of scale files."""

    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return tmp_path

    return write


def test_a_scale_extends_another_one(scales):
    folder = scales(
        base="seeds: 3\ndata: {world: {seed: 0, design: here}}\nsizes: [1, 2]\n",
        second="extends: base\ndata: {world: {seed: 1}}\nsizes: [3]\n",
        third="extends: second\nseeds: 5\n",
    )
    assert load_scale(folder, "third").content == {
        "seeds": 5,
        "data": {"world": {"seed": 1, "design": "here"}},
        "sizes": [3],
    }
    # What is extended stays as it is.
    assert load_scale(folder, "base")["data"]["world"]["seed"] == 0


def test_the_second_world_differs_in_its_seed_alone():
    tiny, second = (load_scale(SCALES, name).content for name in ("tiny", "tiny-seed1"))
    assert second["data"]["world"] == {**tiny["data"]["world"], "seed": 1}
    assert {**second, "data": None} == {**tiny, "data": None}


def test_the_print_of_a_design_follows_what_it_says(tmp_path):
    (tmp_path / "world.yaml").write_text("leak: 0.05\nshots: 1\n")
    scale = Scale("mine", {"data": {"world": {"design": "world.yaml", "seed": 0}}})
    before = scale.design_print(tmp_path)
    (tmp_path / "world.yaml").write_text("# why\nshots: 1\nleak: 0.05\n")
    assert scale.design_print(tmp_path) == before
    (tmp_path / "world.yaml").write_text("leak: 0.06\nshots: 1\n")
    assert scale.design_print(tmp_path) != before
    assert Scale("own", {"data": {"corpora": {}}}).design_print(tmp_path) is None
    (tmp_path / "world.yaml").unlink()
    with pytest.raises(OlmixError, match=r"world\.yaml: no such file"):
        scale.design_print(tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "extends: b", "b": "extends: a"}, r"in a circle \(a -> b -> a\)"),
        ({"a": "extends: a"}, r"in a circle \(a -> a\)"),
        ({"a": "extends: gone"}, r"no scale 'gone' to extend in .*a.yaml: expected one of a"),
        ({"a": "extends: [b]"}, r"a.yaml: extends is \['b'\], expected the name of a scale"),
    ],
)
def test_what_cannot_be_extended_is_refused(scales, files, message):
    with pytest.raises(OlmixError, match=message):
        load_scale(scales(**files), "a")


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
    assert load_scale(SCALES, "measured").notice.startswith("MEASURED LAW")
