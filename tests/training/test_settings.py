"""Settings: their hash, their record, what they refuse; the schedule and the presets."""

import dataclasses
import itertools
import math

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
        "schedule": ((0.5, {"code": 1.0}),),
    }.get(field, 0.5)
    assert dataclasses.replace(settings, **{field: other}).hash != settings.hash


def test_settings_with_a_schedule_survive_json(changed):
    settings = changed(schedule=((0.5, {"math": 1.0, "code": 0.0}),), data_share=0.5)
    again = RunSettings.from_dict(settings.to_dict())
    assert again == settings
    assert again.hash == settings.hash
    assert settings.changes == [20]
    assert settings.mixes[1] == {"math": 1.0}


def test_what_a_run_does_not_use_is_not_in_its_hash(settings):
    """Runs made before there were schedules are still recognised."""
    assert not {"schedule", "data_share"} & set(settings.to_dict())


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
        ({"warmup_steps": 30, "linear_decay": 0.3}, "40 steps, of which 12 are of the linear"),
        ({"linear_decay": 1.0}, r"linear_decay is 1.0, expected \[0, 1\)"),
        ({"data_share": 0.0}, "data_share is 0.0"),
        ({"schedule": ((1.0, {"code": 1.0}),)}, "the mix changes at 1.0"),
        ({"schedule": ((0.5, {"code": 0.9}),)}, "sum to 0.9"),
        (
            {"schedule": ((0.5, {"code": 1.0}), (0.501, {"math": 1.0}))},
            "change 1 of the mix comes at step 20 of 40, the next one or the end at 20",
        ),
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


def test_linear_decay_leaves_the_cosine_for_nothing(changed):
    settings = changed(tokens=100 * 64, warmup_steps=10, learning_rate=2.0)
    decaying = changed(tokens=100 * 64, warmup_steps=10, learning_rate=2.0, linear_decay=0.1)
    plain, rates = ([learning_rate(s, step) for step in range(100)] for s in (settings, decaying))
    assert rates[:90] == plain[:90]
    # 80 of the cosine's 90 steps are over; then ten equal steps down, and one more would be zero.
    left = 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * 80 / 90))
    assert rates[89] == pytest.approx(2.0 * left)
    assert rates[90:] == pytest.approx([2.0 * left * k / 11 for k in range(10, 0, -1)])
    assert changed(linear_decay=0.0).hash == changed().hash != changed(linear_decay=0.1).hash


def test_paper_presets():
    proxy = preset("30m")
    assert (proxy.batch_size, proxy.sequence_length, proxy.linear_decay) == (64, 2048, 0.1)
    assert proxy.learning_rate == pytest.approx(0.007276622186288963, rel=1e-12)
    rates = {name: round(preset(name).learning_rate, 4) for name in ("1m", "15m", "60m")}
    assert rates == {"1m": 0.0189, "15m": 0.0091, "60m": 0.0060}
    assert proxy.warmup_steps(22_204) == 100
    assert preset("30m").tokens == 2_910_233_600
    target = preset("1b")
    assert (target.batch_size, target.sequence_length, target.learning_rate) == (512, 4096, 0.0018)
    steps = target.tokens / (4096 * 512)
    assert (steps, target.warmup_steps(steps), target.linear_decay) == (61_006, 2000, 0.1)
    tiny = preset("tiny-30m")
    assert (tiny.warmup_steps(100), tiny.linear_decay) == (5, 0.0)
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
