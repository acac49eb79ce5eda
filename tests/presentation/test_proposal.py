"""The figures of one proposal: what is drawn, with the labels a reader needs."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from olmix.mix import Mix
from olmix.presentation import proposal as plots
from olmix.presentation.style import COLOURS, style
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.proposers.sensitivity import kl_sweep


@pytest.fixture
def world(make_world):
    return make_world(4, 3, seed=0)


@pytest.fixture
def drawn(monkeypatch):
    """Figures kept open instead of written."""
    figures = []
    monkeypatch.setattr(plots, "save", lambda figure, path: figures.append(figure))
    yield figures
    plt.close("all")


def request(world, slack):
    domains = world.domains
    return Request.for_domains(domains, repetition=1, requested=domains.tokens.sum() / slack)


def test_fit_has_a_panel_per_task_and_held_out_runs_on_top(world, drawn):
    train, test = world.swarm(12, seed=1), world.swarm(5, seed=2)
    plots.plot_fit("x.pdf", world.surrogate, train, test, {}, "a note", "nats")
    (figure,) = drawn
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title() for axis in shown] == [f"task{i}\nr = 1.00" for i in range(3)]
    for index, axis in enumerate(shown):
        fitted, held_out = (np.asarray(points.get_offsets()) for points in axis.collections)
        np.testing.assert_allclose(fitted[:, 0], train.metrics[:, index])
        np.testing.assert_allclose(held_out[:, 0], test.metrics[:, index])
        np.testing.assert_allclose(held_out[:, 1], world.bpb(test.mixes)[:, index])
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("measured nats", "predicted nats")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["fitted runs", "held-out runs"]
    assert "a note" in [text.get_text() for text in figure.texts]


def test_mix_shows_weights_natural_caps_and_intervals(world, drawn):
    proposal = propose_exact(world.surrogate, request(world, slack=1.2))
    natural = world.domains.natural()
    intervals = {name: (0.01, 0.9) for name in natural.names}
    plots.plot_mix("x.pdf", proposal, natural, intervals, "a note")
    (axis,) = drawn[0].axes
    bars = np.array([bar.get_width() for bar in axis.patches]).reshape(2, 4)
    order = np.argsort(proposal.mix.weights)
    np.testing.assert_allclose(bars[0], proposal.mix.weights[order])
    np.testing.assert_allclose(bars[1], natural.weights[order])
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == [natural.names[i] for i in order]
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert set(labels) == {"proposed", "natural", "bootstrap interval", "repetition cap"}
    caps = next(c for c in axis.collections if c.get_label() == "repetition cap").get_offsets()
    for place, row in np.asarray(caps):
        assert place == pytest.approx(proposal.caps[names[int(row)]])


def test_coefficients_are_centred_by_task(world):
    values, label = plots.coefficient_matrix(world.surrogate, world.domains.natural())
    np.testing.assert_array_equal(values, world.coef)
    assert label.startswith("coefficient")
    with style():
        figure = plots.coefficient_map(world.surrogate, world.domains.natural())
    axis = figure.axes[0]
    shown = axis.collections[0].get_array().reshape(3, 4)
    np.testing.assert_allclose(shown, world.coef - world.coef.mean(1, keepdims=True))
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("domain", "task")
    assert [t.get_text() for t in axis.get_xticklabels()] == list(world.domains.names)
    plt.close(figure)


def test_slopes_stand_in_for_coefficients_of_other_families(fitted):
    """BiMix's loss falls by scale·exponent/weight^(exponent+1): domain 0 helps most."""
    model = fitted("bimix", scale_=np.array([[1.0, 0.1]]), exponent_=np.array([[0.5, 0.5]]))
    values, label = plots.coefficient_matrix(model, Mix(("d0", "d1"), [0.5, 0.5]))
    assert label.startswith("slope")
    assert values.shape == (1, 2)
    assert values[0, 0] < values[0, 1]


def test_kl_curves_mark_the_weight_in_use(world, drawn):
    points = kl_sweep(world.surrogate, request(world, slack=3), propose_exact, (0.0, 0.05, 0.5))
    plots.plot_kl_sweep("x.pdf", points, 0.05, "a note", "nats")
    left, right = drawn[0].axes
    averages, distances = left.lines[0].get_ydata(), right.lines[0].get_ydata()
    assert list(averages) == [point.proposal.average for point in points]
    assert list(distances) == [point.distance for point in points]
    assert [t.get_text() for t in left.get_xticklabels()] == ["0", "0.05", "0.5"]
    assert left.get_ylabel() == "predicted average nats"
    assert right.get_ylabel() == "total variation from the prior"
    assert list(left.lines[1].get_xdata()) == [1, 1]
    assert left.lines[0].get_color() == COLOURS["proposed"]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("arc_easy:rc::olmes", "arc_easy"),
        ("web:news", "web:news"),
        ("a" * 26, "a" * 26),
        ("stack-edu:" + "x" * 20 + "_end", "stack-edu:xx…xxxxxxxxx_end"),
    ],
)
def test_labels_fit(name, short):
    assert plots._short(name) == short
    assert len(plots._short(name)) <= 26
