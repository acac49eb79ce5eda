from olmix.presentation.wording import difference, interval, listed, named, percent, spoken


def test_lists_read_as_sentences():
    assert listed([]) == "none"
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(iter("abc")) == "a, b and c"


def test_numbers_keep_their_sign_and_digits():
    assert difference(0.0123) == "+0.012"
    assert difference(-0.5, 1) == "−0.5"
    assert percent(0.667) == "67 %"
    assert named({"log_linear": 0.5, "full_reuse": 1}, 1) == "log-linear: 0.5, full reuse: 1.0"
    assert spoken("partial_mixture_reuse") == "partial mixture reuse"
    assert named({"30m": 0.25}, 2, say=str.upper) == "30M: 0.25"


def test_an_interval_around_zero_decides_nothing():
    assert interval([-0.1, 0.2], 1).endswith("−0.1 to +0.2, so not decided")
    assert interval([0.1, 0.2], 1) == "95 % interval +0.1 to +0.2"
