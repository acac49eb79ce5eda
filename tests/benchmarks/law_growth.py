"""How the cost of fitting and proposing grows with domains, runs and tasks, on one core.

    python tests/benchmarks/law_growth.py [--largest]

Swarms are drawn from a law with diminishing returns and noise, with sparse mixes as the paper's. A
row is a swarm: seconds of processor time to choose all regularisation and fit the ensemble of
`config/methods/olmix_ensemble.yaml`, to propose a mix with caps and a KL term, and the memory that
the process has needed so far. The largest, 500 domains, 2,000 runs and 100 tasks, takes minutes.
"""

import os

# One core, whatever the machine has: set before numpy is imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

from olmix.mix import Mix  # noqa: E402
from olmix.proposers.exact import propose_exact  # noqa: E402
from olmix.proposers.proposal import Request  # noqa: E402
from olmix.regressors.surrogate import fit_surrogate  # noqa: E402
from olmix.regressors.terms import Term  # noqa: E402
from olmix.tables import SwarmTable  # noqa: E402

SIZES = ((24, 127, 52), (64, 384, 52), (64, 384, 100), (128, 512, 100), (200, 800, 100))
LARGEST = (500, 2000, 100)


def generated(domains: int, runs: int, tasks: int) -> SwarmTable:
    """A swarm of sparse mixes whose tasks follow a law with diminishing returns, and noise."""
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(domains))
    strengths = np.exp(rng.uniform(np.log(0.5), np.log(5), runs))
    mixes = np.array([rng.dirichlet(np.maximum(s * prior * 10, 1e-3)) for s in strengths])
    mixes = np.where(mixes < 1e-4, 0, mixes)
    mixes /= mixes.sum(1, keepdims=True)
    helps = rng.random((tasks, domains)) < 0.3
    law = Term(
        "diminishing", np.ones(tasks), rng.uniform(0.3, 1, tasks), np.zeros(tasks),
        rng.normal(0, 0.3, (tasks, domains)), helps * rng.exponential(0.1, (tasks, domains)), prior,
    )  # fmt: skip
    metrics = law.predict(mixes) * np.exp(rng.normal(0, 0.01, (runs, tasks)))
    names = [tuple(f"{what}{i}" for i in range(n)) for what, n in
             (("run", runs), ("domain", domains), ("task", tasks))]  # fmt: skip
    return SwarmTable(names[0], names[1], mixes, names[2], metrics)


def measured(size: tuple[int, int, int]) -> tuple[float, float, float]:
    """Seconds of the fit, seconds of the proposal, and peak memory in GB."""
    swarm = generated(*size)
    start = time.process_time()
    surrogate = fit_surrogate(swarm, family="ensemble")
    fitted = time.process_time()
    prior = swarm.mixes.mean(0) + 1e-6
    tokens = prior / prior.sum()
    request = Request(Mix(swarm.domains, tokens), 0.05, tokens, 4.0, 1.0)
    propose_exact(surrogate, request)
    proposed = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return fitted - start, proposed - fitted, memory


def main() -> None:
    """Print a row per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", action="store_true", help="measure the largest size too")
    sizes = [*SIZES, LARGEST] if parser.parse_args().largest else SIZES
    sys.stdout.write("domains   runs  tasks   fit (s)  proposal (s)  memory (GB)\n")
    for size in sizes:
        fit, proposal, memory = measured(size)
        line = f"{size[0]:>7} {size[1]:>6} {size[2]:>6} {fit:>9.1f} {proposal:>13.1f}"
        sys.stdout.write(f"{line} {memory:>12.2f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
