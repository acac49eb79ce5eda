import numpy as np
import pytest

from olmix.regressors.terms import Term, above_constants, log_slopes, predict_terms, tangent


@pytest.fixture
def terms():
    """Two members over three domains and two tasks, one of them with a curve."""
    rng = np.random.default_rng(0)
    plain = Term(
        "log_linear", np.array([0.25, 1.0]), *rng.normal(size=(2, 2)), rng.normal(size=(2, 3))
    )
    curved = Term(
        "diminishing", np.array([0.75, 0.0]), *rng.normal(size=(2, 2)), rng.normal(size=(2, 3)),
        rng.uniform(0, 2, (2, 3)), np.array([0.01, 0.1, 1.0]),
    )  # fmt: skip
    return plain, curved


def test_each_term_is_the_formula_written_out(terms):
    p = np.array([0.2, 0.0, 0.8])
    for term in terms:
        for i in range(2):
            exponent = term.intercept[i]
            for j in range(3):
                exponent += term.linear[i, j] * p[j]
                if term.curved is not None:
                    exponent -= term.curved[i, j] * np.log(1 + p[j] / term.shift[j])
            expected = term.constant[i] + np.exp(exponent)
            assert term.predict(p[None])[0, i] == pytest.approx(expected, rel=1e-12)


def test_members_count_by_their_weight_in_each_task(terms):
    mixes = np.random.default_rng(1).dirichlet(np.ones(3), size=4)
    together, (plain, curved) = predict_terms(terms, mixes), (t.predict(mixes) for t in terms)
    np.testing.assert_allclose(together[:, 0], 0.25 * plain[:, 0] + 0.75 * curved[:, 0])
    np.testing.assert_allclose(together[:, 1], plain[:, 1])


def test_the_form_is_convex(terms):
    ends = np.random.default_rng(2).dirichlet(np.ones(3), size=(2, 50))
    middle = predict_terms(terms, ends.mean(0))
    assert (
        middle <= (predict_terms(terms, ends[0]) + predict_terms(terms, ends[1])) / 2 + 1e-12
    ).all()


def test_slopes_are_the_derivative_of_the_logarithm_above_the_constants(terms):
    p, step = np.array([0.2, 0.3, 0.5]), 1e-6
    above = [
        np.log(sum(t.weight * np.exp(t.exponent(p[None] + move)[0]) for t in terms))
        for move in step * np.vstack([np.eye(3), -np.eye(3)])
    ]
    numeric = (np.array(above[:3]) - np.array(above[3:])).T / (2 * step)
    np.testing.assert_allclose(log_slopes(terms, p), numeric, rtol=1e-6)


def test_the_slopes_of_a_log_linear_law_are_its_coefficients(terms):
    for mix in np.eye(3):
        np.testing.assert_allclose(log_slopes(terms[:1], mix), terms[0].linear)


def test_a_log_linear_law_touches_itself_everywhere(terms):
    plain = terms[0]
    whole = plain.linear + plain.intercept[:, None] + np.log(plain.weight)[:, None]
    for mix in np.random.default_rng(3).dirichlet(np.ones(3), size=5):
        np.testing.assert_allclose(tangent(terms[:1], mix), whole, rtol=1e-12)


def test_a_tangent_touches_the_law_at_its_mix_and_is_nowhere_above_it(terms):
    rng = np.random.default_rng(4)
    mix, others = rng.dirichlet(np.ones(3)), rng.dirichlet(0.5 * np.ones(3), size=200)
    coefficients = tangent(terms, mix)
    np.testing.assert_allclose(np.exp(coefficients @ mix), above_constants(terms, mix), rtol=1e-12)
    for other in others:
        below = np.exp(coefficients @ other)
        assert (below <= above_constants(terms, other) * (1 + 1e-12)).all()
    # Along the simplex it has the law's gradient, here by numerical differences.
    for step in 1e-6 * (np.eye(3) - 1 / 3):
        rise = above_constants(terms, mix + step) - above_constants(terms, mix - step)
        expected = np.exp(coefficients @ (mix + step)) - np.exp(coefficients @ (mix - step))
        np.testing.assert_allclose(rise, expected, rtol=1e-4)
