"""What the mixing library promises, measured in one run on one core.

    python tests/benchmarks/library.py [--published DIR]

DIR is the folder of the authors' DCLM swarm (ratios.csv, metrics.csv, best_known_huber_loss.csv);
without it a generated swarm of the same shape stands in, and the lines that need the real one say
so. The reference fit is a straightforward one: one task at a time, SciPy's L-BFGS with numerical
gradients, from five starts as ours. It is timed on one task and multiplied by their number.
"""

import os

# One core, whatever the machine has: set before numpy is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import csv  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import minimize  # noqa: E402

from olmix.mix import Mix  # noqa: E402
from olmix.proposers.exact import propose_exact  # noqa: E402
from olmix.proposers.proposal import Request, kl_divergence  # noqa: E402
from olmix.regressors import regressor_from_dict  # noqa: E402
from olmix.regressors.least_squares import huber  # noqa: E402
from olmix.regressors.log_linear import LogLinear  # noqa: E402
from olmix.regressors.surrogate import Surrogate, fit_surrogate, pearson_by_output  # noqa: E402
from olmix.tables import SwarmTable, read_swarm  # noqa: E402
from olmix.tasks import fold_mmlu, outside_suite  # noqa: E402

REPOSITORY = Path(__file__).parents[2]
REFERENCE_STARTS = 5


def row(what: str, value: str, promised: str = "") -> None:
    """One line of the report."""
    sys.stdout.write(f"{what:<58} {value:>12}  {promised}\n")


def timed(work, repeats: int = 3):
    """The result and the shortest of several wall times."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def published_swarm(folder: Path) -> SwarmTable:
    """The real swarm on the paper's 52 tasks."""
    swarm = read_swarm(folder / "ratios.csv", folder / "metrics.csv")
    swarm = swarm.drop_tasks(outside_suite(swarm.tasks))
    return fold_mmlu(swarm, REPOSITORY / "config" / "tasks" / "mmlu_subjects.csv")


def generated_swarm(runs: int = 127, domains: int = 24, tasks: int = 52) -> SwarmTable:
    """A sparse log-linear swarm of the published one's shape, with its noise."""
    rng = np.random.default_rng(0)
    mixes = rng.dirichlet(np.full(domains, 0.15), size=runs)
    law = np.exp(mixes @ rng.normal(-0.5, 0.8, (domains, tasks)))
    metrics = rng.uniform(0.5, 1.5, tasks) + law + 0.03 * rng.standard_normal((runs, tasks))
    names = tuple(f"d{j}" for j in range(domains))
    return SwarmTable(
        tuple(map(str, range(runs))), names, mixes, tuple(f"t{i}" for i in range(tasks)), metrics
    )


def reference_seconds(swarm: SwarmTable) -> tuple[float, float]:
    """Seconds for one task of the reference fit, and its loss there."""
    rng = np.random.default_rng(0)
    mixes, y = swarm.mixes, swarm.metrics[:, 0]

    def loss(theta: np.ndarray) -> float:
        return huber(theta[-1] + np.exp(np.minimum(mixes @ theta[:-1], 50)) - y, 0.02).sum()

    bounds = [(None, None)] * mixes.shape[1] + [(0, None)]
    start, losses = time.perf_counter(), []
    for _ in range(REFERENCE_STARTS):
        guess = np.append(rng.normal(0, 0.3, mixes.shape[1]), rng.uniform(0, 1) * y.min())
        losses.append(
            minimize(loss, guess, method="L-BFGS-B", bounds=bounds, options={"maxfun": 200_000}).fun
        )
    return time.perf_counter() - start, min(losses)


def report_fit(swarm: SwarmTable, known_losses: Path | None) -> None:
    """Speed and quality of the log-linear fit."""
    tasks = len(swarm.tasks)
    model, seconds = timed(lambda: LogLinear(ridge=0.0).fit(swarm.mixes, swarm.metrics))
    _, default_seconds = timed(lambda: LogLinear().fit(swarm.mixes, swarm.metrics))
    reference, reference_loss = reference_seconds(swarm)
    row(f"log-linear fit of {tasks} tasks, weakest regularisation", f"{seconds:.2f} s", "<= 3 s")
    row(f"log-linear fit of {tasks} tasks, defaults", f"{default_seconds:.2f} s", "<= 3 s")
    row(f"reference fit of {tasks} tasks (one timed, {REFERENCE_STARTS} starts)",
        f"{reference * tasks:.0f} s")  # fmt: skip
    row("reference / ours", f"{reference * tasks / seconds:.0f} x")
    row("Huber loss of the first task, ours / reference's",
        f"{model.loss_[0] / reference_loss:.4f}", "<= 1")  # fmt: skip
    if known_losses and known_losses.exists():
        with known_losses.open(newline="") as file:
            known = sum(float(line["huber_loss"]) for line in csv.DictReader(file))
        row("total Huber loss / best known", f"{model.loss_.sum() / known:.5f}", "<= 1.01")


def report_held_out(swarm: SwarmTable) -> None:
    """Fit on held-out runs, as the paper measures it."""
    per_task, average = [], []
    for seed in range(3):
        train, test = swarm.split(10, seed)
        predicted = fit_surrogate(train).predict(test.mixes)
        per_task.append(pearson_by_output(predicted, test.metrics).mean())
        means = np.column_stack([predicted.mean(1), test.metrics.mean(1)])
        average.append(np.corrcoef(means.T)[0, 1])
    row("held-out Pearson per task, mean of 3 seeds", f"{np.mean(per_task):.3f}", ">= 0.80")
    row("held-out Pearson of the average BPB, worst of 3 seeds", f"{min(average):.3f}", ">= 0.80")


def report_proposal(domains: int = 64, tasks: int = 52) -> None:
    """Speed of the exact proposal, and how far it is from an independent solver's."""
    rng = np.random.default_rng(1)
    learned = {
        "coef_": rng.normal(-0.3, 1.5, (tasks, domains)).tolist(),
        "constant_": rng.uniform(0.3, 1.5, tasks).tolist(),
        "loss_": [0.0] * tasks,
        "converged_": [1.0] * tasks,
    }
    record = {"family": "log_linear", "settings": {}, "domains": domains, "learned": learned}
    names = tuple(f"d{j}" for j in range(domains))
    outputs = tuple(f"t{i}" for i in range(tasks))
    surrogate = Surrogate(
        names, outputs, np.full(tasks, 1 / tasks), "task", regressor_from_dict(record)
    )
    prior = rng.dirichlet(np.full(domains, 2.0))
    request = Request(Mix(names, prior), 0.05, prior * 1e12, 3.0, 1e12)
    propose_exact(surrogate, request)  # start-up: CVXPY's first problem
    proposal, seconds = timed(lambda: propose_exact(surrogate, request))
    coef = surrogate.regressor.coef_

    def value(p: np.ndarray) -> float:
        return surrogate.average(p[None])[0] + 0.05 * kl_divergence(p, prior)

    def slope(p: np.ndarray) -> np.ndarray:
        return np.exp(coef @ p) @ coef / tasks + 0.05 * (np.log(p / prior) + 1)

    other = minimize(
        lambda p: value(np.maximum(p, 1e-300)), prior, method="SLSQP",
        jac=lambda p: slope(np.maximum(p, 1e-300)),
        bounds=[(0.0, cap) for cap in np.minimum(request.caps, 1.0)],
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}],
        options={"maxiter": 1000, "ftol": 1e-15},
    )  # fmt: skip
    row(f"exact proposal, {domains} domains x {tasks} tasks", f"{seconds:.3f} s", "< 1 s")
    row("its objective minus SLSQP's", f"{proposal.objective - other.fun:.1e}", "<= 1e-7")
    row("largest excess over a cap", f"{(proposal.mix.weights - request.caps).max():.1e}",
        "<= 1e-9")  # fmt: skip


def main() -> None:
    """Print every measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--published", type=Path, default=os.environ.get("OLMIX_PUBLISHED", "."), metavar="DIR",
        help="folder of the released swarms (default: $OLMIX_PUBLISHED)",
    )  # fmt: skip
    folder = parser.parse_args().published / "dclm_swarm"
    real = (folder / "ratios.csv").exists()
    swarm = published_swarm(folder) if real else generated_swarm()
    kind = "published" if real else "generated (no published one found)"
    row("swarm", f"{len(swarm)} runs", f"{len(swarm.domains)} domains, {kind}")
    report_fit(swarm, folder / "best_known_huber_loss.csv" if real else None)
    report_held_out(swarm)
    report_proposal()


if __name__ == "__main__":
    main()
