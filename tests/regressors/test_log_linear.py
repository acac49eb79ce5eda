import csv

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

from olmix.regressors.log_linear import LogLinear
from olmix.regressors.surrogate import fit_surrogate, pearson_by_output


def simplex_probes(domains, seed=0):
    """Every corner, and sparse to dense random mixes."""
    rng = np.random.default_rng(seed)
    inside = [rng.dirichlet(np.full(domains, a), size=2000) for a in (0.02, 0.2, 1.0, 20.0)]
    return np.vstack([np.eye(domains), *inside])


def test_the_law_is_recovered_without_ridge(make_world):
    world = make_world(8, 12, seed=1)
    swarm = world.swarm(64, seed=2)
    model = LogLinear(ridge=0.0).fit(swarm.mixes, swarm.metrics)
    # c and a common level of A trade off against each other, which costs digits.
    np.testing.assert_allclose(model.coef_, world.coef, atol=2e-3)
    np.testing.assert_allclose(model.constant_, world.constant, atol=1e-3)
    probes = simplex_probes(8)
    np.testing.assert_allclose(model.predict(probes), world.bpb(probes), rtol=1e-4)


def test_the_law_is_nearly_recovered_with_the_default_ridge(make_world):
    world = make_world(8, 12, seed=1)
    swarm = world.swarm(64, seed=2)
    model = LogLinear().fit(swarm.mixes, swarm.metrics)
    held_out = world.swarm(200, seed=3)
    errors = np.abs(model.predict(held_out.mixes) - held_out.metrics)
    assert errors.mean() < 0.005
    assert pearson_by_output(model.predict(held_out.mixes), held_out.metrics).min() > 0.999


def test_recovered_from_as_many_runs_as_unknowns(make_world):
    world = make_world(6, 5, seed=4)
    swarm = world.swarm(7, seed=5)
    model = LogLinear(ridge=0.0, max_iterations=2000).fit(swarm.mixes, swarm.metrics)
    np.testing.assert_allclose(model.predict(swarm.mixes), swarm.metrics, atol=1e-4)


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_finite_over_the_whole_simplex_with_few_runs_and_outliers(make_world, ridge):
    """K = m+1 sparse mixes, one of which is off by a factor of ten."""
    world = make_world(24, 6, seed=6)
    swarm = world.swarm(25, seed=7, noise=0.05, concentration=0.1)
    metrics = swarm.metrics.copy()
    metrics[3] *= 10.0
    metrics[11] /= 10.0
    model = LogLinear(ridge=ridge).fit(swarm.mixes, metrics)
    predicted = model.predict(simplex_probes(24))
    assert np.isfinite(predicted).all()
    assert (predicted >= 0).all()
    ceiling = model.constant_ + model.ceiling * metrics.max(0)
    assert (predicted <= ceiling * (1 + 1e-12)).all()


def test_an_outlier_hardly_moves_a_robust_fit(make_world):
    world = make_world(5, 4, seed=8)
    swarm = world.swarm(60, seed=9)
    metrics = swarm.metrics.copy()
    metrics[0] += 5.0
    robust = LogLinear().fit(swarm.mixes, metrics)
    squares = LogLinear(delta=np.inf).fit(swarm.mixes, metrics)
    probes = simplex_probes(5)
    robust_error = np.abs(robust.predict(probes) - world.bpb(probes)).mean()
    squares_error = np.abs(squares.predict(probes) - world.bpb(probes)).mean()
    assert robust_error < 0.02
    assert squares_error > 5 * robust_error


def objective(theta, X, y, model):
    """The documented loss of one task, written out again, with its gradient."""
    A, c = theta[:-1], theta[-1]
    growth = np.exp(X @ A)
    residual = c + growth - y
    size, delta = np.abs(residual), model.delta
    loss = np.where(size <= delta, 0.5 * residual**2, delta * (size - 0.5 * delta)).sum()
    pull = np.clip(residual, -delta, delta)
    centred = A - A.mean()
    gradient = np.append(X.T @ (pull * growth) + 2 * model.ridge * centred, pull.sum())
    return loss + model.ridge * (centred**2).sum(), gradient


def noisy_swarm(make_world):
    return make_world(7, 6, seed=10).swarm(40, seed=11, noise=0.03, concentration=0.5)


@pytest.mark.parametrize("ridge", [0.0, 1e-4, 1e-2])
def test_the_solution_is_a_local_optimum_of_the_documented_loss(make_world, ridge):
    swarm = noisy_swarm(make_world)
    model = LogLinear(ridge=ridge).fit(swarm.mixes, swarm.metrics)
    assert model.converged_.all()
    for task, y in enumerate(swarm.metrics.T):
        found = np.append(model.coef_[task], model.constant_[task])
        loss, _ = objective(found, swarm.mixes, y, model)
        assert loss == pytest.approx(model.loss_[task], rel=1e-9)
        upper = np.log(model.ceiling * y.max())
        polished = minimize(
            objective, found, args=(swarm.mixes, y, model), jac=True, method="L-BFGS-B",
            bounds=[(None, upper)] * 7 + [(0, None)], options={"maxiter": 5000, "ftol": 1e-15},
        )  # fmt: skip
        assert loss <= polished.fun * (1 + 1e-4)


def test_as_good_as_scipys_least_squares_task_by_task(make_world):
    """The batched solver against scipy's own Huber loss from the truth and from zero."""
    swarm = noisy_swarm(make_world)
    model = LogLinear(ridge=0.0).fit(swarm.mixes, swarm.metrics)
    for task, y in enumerate(swarm.metrics.T):

        def residuals(theta, y=y):
            return theta[-1] + np.exp(np.minimum(swarm.mixes @ theta[:-1], 50)) - y

        upper = np.append(np.full(7, np.log(10 * y.max())), np.inf)
        lower = np.append(np.full(7, -np.inf), 0.0)
        costs = [
            least_squares(
                residuals, start, bounds=(lower, upper), loss="huber", f_scale=0.02, max_nfev=3000
            ).cost
            for start in (np.append(np.zeros(7), 0.1), np.append(np.zeros(7), 0.8 * y.min()))
        ]
        assert model.loss_[task] <= min(costs) * (1 + 1e-3)


def test_box_constraints_hold(make_world):
    """BPB that falls below zero growth: c wants to be negative, and corners above the ceiling."""
    rng = np.random.default_rng(12)
    X = rng.dirichlet(np.ones(4), size=30)
    steep = np.exp(X @ np.array([9.0, -2.0, 0.0, 0.0])) * 0.01
    falling = 1.0 - 0.9 * X[:, 1] - 0.05 * rng.random(30)
    Y = np.column_stack([steep, falling])
    model = LogLinear(ridge=0.0, ceiling=2.0).fit(X, Y)
    assert (model.constant_ >= 0).all()
    assert (model.coef_ <= np.log(2.0 * Y.max(0))[:, None] + 1e-12).all()
    assert (model.coef_ >= np.log(2.0 * Y.max(0))[:, None] - 1e-9).any(), "no bound was active"


def test_run_weights_equal_repeated_rows(make_world):
    swarm = noisy_swarm(make_world)
    counts = np.random.default_rng(13).integers(0, 3, size=40)
    # The ceiling depends on the largest BPB: keep every task's largest run in the sample.
    counts[swarm.metrics.argmax(0)] = np.maximum(counts[swarm.metrics.argmax(0)], 1)
    base = LogLinear(ridge=1e-3).fit(swarm.mixes, swarm.metrics)
    (weighted,) = base.refit(swarm.mixes, swarm.metrics, counts[None].astype(float))
    rows = np.repeat(np.arange(40), counts)
    repeated = LogLinear(ridge=1e-3).fit(swarm.mixes[rows], swarm.metrics[rows])
    np.testing.assert_allclose(weighted.loss_, repeated.loss_, rtol=1e-4)
    np.testing.assert_allclose(
        weighted.predict(swarm.mixes), repeated.predict(swarm.mixes), atol=2e-3
    )


def test_many_refits_are_each_their_own(make_world):
    swarm = noisy_swarm(make_world)
    base = LogLinear(ridge=1e-3).fit(swarm.mixes, swarm.metrics)
    weights = np.random.default_rng(14).multinomial(40, np.full(40, 1 / 40), size=3).astype(float)
    together = base.refit(swarm.mixes, swarm.metrics, weights)
    for model, row in zip(together, weights, strict=True):
        (alone,) = base.refit(swarm.mixes, swarm.metrics, row[None])
        np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-9)


def test_a_flat_task_is_fitted(make_world):
    X = np.random.default_rng(15).dirichlet(np.ones(4), size=20)
    model = LogLinear().fit(X, np.column_stack([np.full(20, 0.7), np.zeros(20)]))
    np.testing.assert_allclose(model.predict(np.eye(4))[:, 0], 0.7, atol=1e-3)
    assert np.isfinite(model.predict(np.eye(4))).all()


def test_published_swarm_reaches_the_best_known_loss(published, published_swarm):
    """Within 1 % of the lowest total Huber loss known, at the weakest regularisation."""
    with (published / "best_known_huber_loss.csv").open(newline="") as file:
        known = {row["task"]: float(row["huber_loss"]) for row in csv.DictReader(file)}
    assert len(published_swarm.tasks) == 52
    model = LogLinear(ridge=0.0).fit(published_swarm.mixes, published_swarm.metrics)
    assert model.loss_.sum() <= 1.01 * sum(known.values())
    for task, loss in zip(published_swarm.tasks, model.loss_, strict=True):
        assert loss <= 1.05 * known[task] + 1e-6, task


@pytest.mark.slow
def test_published_swarm_held_out(published_swarm):
    """117 runs to train, 10 to test, three seeds: the paper reports 0.80 per task."""
    per_task, average = [], []
    for seed in range(3):
        train, test = published_swarm.split(10, seed)
        assert (len(train), len(test)) == (117, 10)
        surrogate = fit_surrogate(train)
        predicted = surrogate.predict(test.mixes)
        per_task.append(pearson_by_output(predicted, test.metrics).mean())
        means = np.column_stack([predicted.mean(1), test.metrics.mean(1)])
        average.append(np.corrcoef(means.T)[0, 1])
    assert np.mean(per_task) >= 0.80, per_task
    assert min(average) >= 0.80, average


@pytest.mark.parametrize("unit", [1e-4, 0.01, 100.0, 1e5])
def test_the_unit_of_a_task_does_not_matter(make_world, unit):
    """Perplexities in the hundreds or shares of a percent: the same law, only scaled."""
    swarm = noisy_swarm(make_world)
    in_bpb = swarm.metrics / np.median(swarm.metrics, axis=0)
    reference = LogLinear().fit(swarm.mixes, in_bpb)
    scaled = LogLinear().fit(swarm.mixes, unit * in_bpb)
    probes = simplex_probes(7)
    np.testing.assert_allclose(scaled.predict(probes) / unit, reference.predict(probes), rtol=1e-6)
    np.testing.assert_allclose(scaled.loss_ / unit**2, reference.loss_, rtol=1e-6)
    weights = np.ones((1, len(swarm)))
    (again,) = scaled.refit(swarm.mixes, unit * in_bpb, weights)
    np.testing.assert_allclose(again.predict(probes), scaled.predict(probes), rtol=2e-3)


def test_units_are_per_task(make_world):
    swarm = noisy_swarm(make_world)
    mixed = swarm.metrics.copy()
    mixed[:, 1] *= 1000
    plain, other = (LogLinear(ridge=1e-4).fit(swarm.mixes, y) for y in (swarm.metrics, mixed))
    np.testing.assert_allclose(other.coef_[0], plain.coef_[0], atol=1e-9)
    correlation = pearson_by_output(other.predict(swarm.mixes), mixed)
    assert correlation[1] == pytest.approx(
        pearson_by_output(plain.predict(swarm.mixes), swarm.metrics)[1], abs=0.02
    )
