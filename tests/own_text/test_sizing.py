"""Sizes follow the time, the devices and the measured speed."""

import pytest

from olmix.errors import OlmixError
from olmix.model.shapes import compact_shapes, shape
from olmix.own_text.sizing import (
    FEWEST_STEPS,
    MOST_TOKENS_PER_PARAMETER,
    TOKENS_PER_PARAMETER,
    choose_sizes,
)
from olmix.own_text.speed import Devices, Speed
from olmix.training.presets import preset

CORES = Devices("cpu", 2)


def by_parameters(name: str) -> Speed:
    """Speed in inverse proportion to size, a second to score."""
    return Speed(1e10 / shape(name).parameters, 1.0)


def sizes(minutes: float, domains: int = 10, devices: Devices = CORES, **options):
    options = {"measure": by_parameters, "requested": 1e12, **options}
    return choose_sizes(domains, 2048, minutes, devices, **options)


@pytest.mark.parametrize("minutes", [2, 10, 60, 600, 6000])
def test_the_plan_fits_the_time(minutes: float):
    assert 0.2 * minutes < sizes(minutes).minutes <= minutes


def test_more_time_never_gives_less():
    plans = [sizes(minutes) for minutes in (5, 10, 30, 60, 240, 1000, 10_000)]
    order = compact_shapes()
    assert [order.index(p.proxy.shape) for p in plans] == sorted(
        order.index(p.proxy.shape) for p in plans
    )
    assert plans[0].proxy.shape != plans[-1].proxy.shape
    assert all(order.index(p.target.shape) >= order.index(p.proxy.shape) for p in plans)


def test_a_larger_shape_is_taken_only_if_it_sees_enough_tokens():
    for minutes in (10, 100, 1000):
        proxy = sizes(minutes).proxy
        model = shape(proxy.shape, 2048)
        counted = model.parameters - model.embedding_parameters
        if proxy.shape != compact_shapes()[0]:
            assert proxy.tokens >= TOKENS_PER_PARAMETER * counted
        assert proxy.tokens <= MOST_TOKENS_PER_PARAMETER * counted


def test_twice_the_devices_are_as_good_as_twice_the_time():
    assert sizes(30, devices=Devices("cpu", 4)).proxy == sizes(60).proxy


def test_only_shapes_that_may_be_taken_are_measured():
    asked: list[str] = []

    def measure(name: str) -> Speed:
        asked.append(name)
        return by_parameters(name)

    sizes(5, measure=measure)
    assert len(asked) == len(set(asked)) <= 3


def test_no_run_is_longer_than_the_one_the_mix_is_for():
    assert sizes(600, requested=500_000).proxy.tokens <= 500_000
    recipe = preset(compact_shapes()[0])
    fewest = FEWEST_STEPS * recipe.sequence_length * recipe.batch_size
    assert sizes(600, requested=10).proxy.tokens >= fewest


def test_too_little_time_is_refused_with_how_much_would_do():
    with pytest.raises(OlmixError, match=r"0\.2 minutes on 2 cores are too few for 10 domains"):
        sizes(0.2)
    with pytest.raises(OlmixError) as refused:
        sizes(0.2)
    needed = float(str(refused.value).split("expected ")[1].split(" ")[0])
    assert sizes(needed).proxy.shape == compact_shapes()[0]
