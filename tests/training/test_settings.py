"""Settings: their hash, their record, what they refuse; the schedule and the presets."""

import dataclasses
import itertools

import pytest

from olmix.errors import OlmixError
from olmix.files import content_hash
from olmix.model.initialisation import Init
from olmix.model.shapes import SHAPES
from olmix.training.optimizer import learning_rate
from olmix.training.presets import PRESETS, preset
from olmix.training.settings import Hardware, RunSettings, data_fingerprint, whole_batches


def test_settings_survive_json(settings):
    again = RunSettings.from_dict(settings.to_dict())
    assert again == settings
    assert again.hash == settings.hash == content_hash(settings.to_dict())


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(RunSettings)])
def test_every_setting_changes_the_hash(settings, field):
    other = {
        "model": dataclasses.replace(settings.model, mlp_hidden=48),
        "mix": {"code": 1.0},
        "tokens": 80 * 64,
        "sequence_length": 32,
        "batch_size": 8,
        "corpus": "other",
        "tokenizer": "other",
        "init": Init("fast", seed=2),
        "evaluate_at": (0.5,),
        "warmup_steps": 5,
        "data_seed": 1,
    }.get(field, 0.5)
    assert dataclasses.replace(settings, **{field: other}).hash != settings.hash


def test_equal_mixes_have_equal_hashes(settings, changed):
    mix = {"math": 0.2, "code": 0.3, "web:news": 0.5, "absent": 0.0}
    assert changed(mix=mix).hash == settings.hash


def test_a_domain_without_weight_does_not_count(corpus, settings):
    assert data_fingerprint(corpus, settings.mix | {"absent": 0.0}) == settings.corpus
    assert data_fingerprint(corpus, {"code": 1.0}) != settings.corpus


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mix": {"code": 0.5, "math": 0.4}}, "sum to 0.9"),
        ({"mix": {"code": 1.5, "math": -0.5}}, "'math' is -0.5"),
        ({"tokens": 0}, "tokens is 0, expected a positive"),
        ({"tokens": 65}, "65 tokens are not whole batches of 64; the next whole number is 128"),
        ({"sequence_length": 64}, "sequence_length is 64, expected 2 to 32"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"warmup_steps": 40}, "warmup_steps is 40 in a run of 40 steps"),
        ({"evaluate_at": (0.0,)}, "evaluate_at has 0.0"),
        ({"beta2": 1.0}, "beta2 is 1.0"),
    ],
)
def test_wrong_values_are_refused(changed, change, message):
    with pytest.raises(OlmixError, match=message):
        changed(**change)


def test_malformed_records_are_refused(settings):
    record = settings.to_dict()
    with pytest.raises(OlmixError, match="unknown setting 'learnrate'"):
        RunSettings.from_dict(record | {"learnrate": 1})
    del record["tokens"]
    with pytest.raises(OlmixError, match="tokens"):
        RunSettings.from_dict(record)


def test_wrong_hardware_is_refused():
    with pytest.raises(OlmixError, match="precision is 'fp8'"):
        Hardware(precision="fp8")
    with pytest.raises(OlmixError, match="micro_batch is 0"):
        Hardware(micro_batch=0)


def test_schedule(changed):
    settings = changed(tokens=100 * 64, warmup_steps=10, final_lr_fraction=0.1, learning_rate=2.0)
    rates = [learning_rate(settings, step) for step in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == pytest.approx(2.0)
    assert rates[54] == pytest.approx(0.2 + 1.8 * 0.5)  # half of the 90 steps of the cosine
    assert rates[99] == pytest.approx(0.2)
    assert all(later < earlier for earlier, later in itertools.pairwise(rates[9:]))


def test_paper_presets():
    assert (preset("30m").batch_size, preset("30m").sequence_length) == (64, 2048)
    assert preset("30m").learning_rate == 0.007
    assert preset("30m").tokens == 2_910_233_600
    target = preset("1b")
    assert (target.batch_size, target.sequence_length, target.learning_rate) == (512, 4096, 0.0018)
    assert target.tokens == 100_000_000_000
    assert set(PRESETS) == set(SHAPES)
    for name, recipe in PRESETS.items():
        assert recipe.sequence_length <= SHAPES[name].context_length
    with pytest.raises(OlmixError, match="no training preset '7b'"):
        preset("7b")


def test_whole_batches():
    assert whole_batches(1, 16, 4) == 64
    assert whole_batches(64, 16, 4) == 64
    assert whole_batches(65, 16, 4) == 128
    with pytest.raises(OlmixError, match="0 tokens"):
        whole_batches(0, 16, 4)
