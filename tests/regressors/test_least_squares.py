import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear
from scipy.special import huber as scipy_huber

from olmix.regressors.least_squares import Problem, huber, minimise


def line(X):
    """Predictions and Jacobian of X·θ."""

    def curve(theta):
        return theta @ X.T, np.tile(X, (len(theta), 1, 1))

    return curve


def problem(X, targets, *, low=-np.inf, high=np.inf, penalty=0.0, **more):
    shape = (len(targets), X.shape[1])
    return Problem(
        line(X),
        targets,
        np.full(shape, low),
        np.full(shape, high),
        penalty * np.eye(X.shape[1]),
        **more,
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)), rng.normal(size=(5, 30))


def test_huber_is_scipys(data):
    residuals = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(huber(residuals, 0.5), scipy_huber(0.5, residuals))
    np.testing.assert_allclose(huber(residuals, np.inf), 0.5 * residuals**2)


def test_plain_least_squares_has_the_closed_form(data):
    X, targets = data
    solution = minimise(problem(X, targets), np.zeros((5, 4)))
    np.testing.assert_allclose(solution.theta, np.linalg.lstsq(X, targets.T)[0].T, atol=1e-6)
    assert solution.converged.all()


def test_ridge_has_the_closed_form_around_its_centre(data):
    X, targets = data
    centre = np.random.default_rng(1).normal(size=(5, 4))
    solution = minimise(problem(X, targets, penalty=0.7, centre=centre), centre)
    # Σ½r² + 0.7‖θ−θ₀‖²  ⇒  (XᵀX + 1.4·I)θ = Xᵀy + 1.4·θ₀
    expected = np.linalg.solve(X.T @ X + 1.4 * np.eye(4), X.T @ targets.T + 1.4 * centre.T).T
    np.testing.assert_allclose(solution.theta, expected, atol=1e-6)


def test_bounds_are_scipys(data):
    X, targets = data
    solution = minimise(problem(X, targets, low=-0.05, high=0.1), np.zeros((5, 4)))
    for theta, y in zip(solution.theta, targets, strict=True):
        assert ((theta >= -0.05) & (theta <= 0.1)).all()
        np.testing.assert_allclose(theta, lsq_linear(X, y, bounds=(-0.05, 0.1)).x, atol=1e-5)


def test_huber_fit_is_scipys(data):
    X, targets = data
    targets = targets.copy()
    targets[:, 0] += 50
    solution = minimise(problem(X, targets, delta=0.3), np.zeros((5, 4)))
    for loss, y in zip(solution.loss, targets, strict=True):
        own = least_squares(lambda t, y=y: X @ t - y, np.zeros(4), loss="huber", f_scale=0.3)
        assert loss == pytest.approx(own.cost, rel=1e-5)


def test_weights_are_repeated_rows(data):
    X, targets = data
    counts = np.random.default_rng(2).integers(0, 4, size=30)
    weighted = minimise(
        problem(X, targets, delta=0.3, weights=np.tile(counts, (5, 1)).astype(float)),
        np.zeros((5, 4)),
    )
    rows = np.repeat(np.arange(30), counts)
    repeated = minimise(problem(X[rows], targets[:, rows], delta=0.3), np.zeros((5, 4)))
    np.testing.assert_allclose(weighted.theta, repeated.theta, atol=1e-6)


def test_a_batch_is_its_problems_one_by_one(data):
    X, targets = data
    together = minimise(problem(X, targets, delta=0.3), np.zeros((5, 4)))
    for row in range(5):
        alone = minimise(problem(X, targets[row : row + 1], delta=0.3), np.zeros((1, 4)))
        np.testing.assert_allclose(together.theta[row], alone.theta[0], atol=1e-9)


def test_unconverged_is_said():
    X = np.random.default_rng(3).normal(size=(30, 4))
    hard = minimise(
        problem(X, np.ones((1, 30)), delta=1e-3), np.full((1, 4), 9.0), max_iterations=1
    )
    assert not hard.converged.any()
