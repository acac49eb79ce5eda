"""A fitted world of the paper's size, laws of the general form, and the page's solver in Node."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.presentation.explorer.content import Exploration, packed_law
from olmix.presentation.explorer.page import SOLVER, resource
from olmix.proposers.proposal import Request
from olmix.regressors.surrogate import Surrogate
from olmix.regressors.terms import Term

RUN = """
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
const law = decodeLaw(asked.law, "float64");
const answers = asked.requests.map((request) => {
  request.caps = request.caps.map((cap) => cap ?? Infinity);
  const answer = propose(law, request, asked.names);
  const [weights, active] = [answer.weights ?? [], answer.active ?? []].map((a) => Array.from(a));
  return { ...answer, weights, active };
});
process.stdout.write(JSON.stringify(answers));
"""


@pytest.fixture(scope="session")
def solve() -> Callable[..., list[dict[str, Any]]]:
    """``solve(terms, [request, ...])``: the answers of the page's solver, run by Node."""
    node = shutil.which("node")
    if not node:
        pytest.skip("node is not installed")
    code = "\n".join([*map(resource, SOLVER), RUN])

    def run(terms: Sequence[Term], requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        domains = terms[0].linear.shape[1]
        names = [f"d{j}" for j in range(domains)]
        asked = {"law": packed_law(terms, "<f8"), "requests": requests, "names": names}
        done = subprocess.run(
            [node, "-e", code], input=json.dumps(asked), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def asked() -> Callable[..., dict[str, Any]]:
    """A library's request as the page's solver is asked it."""

    def convert(request: Request, shares: np.ndarray, held: dict[int, float] | None = None):
        return {
            "shares": shares.tolist(),
            "kl": request.kl,
            "prior": request.prior.weights.tolist(),
            "caps": [float(cap) if np.isfinite(cap) else None for cap in request.caps],
            "held": [(held or {}).get(j) for j in range(len(request.caps))],
        }

    return convert


@pytest.fixture
def general_law() -> tuple[Term, Term]:
    """A log-linear and a curved member over 12 domains and 8 tasks, weighed differently by task."""
    rng = np.random.default_rng(7)
    share = rng.uniform(0, 1, 8)
    plain = Term(
        "log_linear",
        share,
        rng.uniform(0.3, 1, 8),
        rng.normal(0, 0.2, 8),
        rng.normal(0, 1, (8, 12)),
    )
    curved = Term(
        "diminishing", 1 - share, rng.uniform(0.3, 1, 8), rng.normal(0.5, 0.2, 8),
        rng.normal(0, 0.5, (8, 12)), rng.uniform(0, 2, (8, 12)), rng.uniform(1e-3, 0.1, 12),
    )  # fmt: skip
    return plain, curved


def families(tasks: Sequence[str]) -> dict[str, list[str]]:
    """Three families of a quarter, a quarter and a half of the tasks."""
    cut = len(tasks) // 4
    return {
        "math": list(tasks[:cut]),
        "code": list(tasks[cut : 2 * cut]),
        "qa": list(tasks[2 * cut :]),
    }


def noisy(surrogate: Surrogate, count: int) -> list[Surrogate]:
    """Replicates of a log-linear surrogate: its coefficients with noise."""
    rng, found = np.random.default_rng(1), []
    for _ in range(count):
        record = surrogate.regressor.to_dict()
        coef = np.array(record["learned"]["coef_"])
        record["learned"]["coef_"] = (coef + rng.normal(0, 0.1, coef.shape)).tolist()
        found.append(replace(surrogate, regressor=type(surrogate.regressor).from_dict(record)))
    return found


@pytest.fixture
def exploration(make_world) -> Callable[..., Exploration]:
    """An exploration of a random world: ``exploration(domains, tasks, kl=..., ...)``."""

    def build(
        domains: int, tasks: int, *, kl: float = 0.05, repetition: float = 4.0,
        requested: float | None = None, replicates: int = 20, names: Sequence[str] = (),
        **more: Any,
    ) -> Exploration:  # fmt: skip
        world = make_world(domains, tasks, seed=5)
        surrogate, known = world.surrogate, world.domains
        if names:
            known = DomainSet.from_token_counts(
                dict(zip(names, known.tokens.tolist(), strict=True))
            )
            surrogate = replace(surrogate, domains=known.names)
        request = Request.for_domains(
            known, kl=kl, repetition=repetition, requested=requested or float(known.tokens.sum())
        )
        return Exploration(
            surrogate, request, known.natural(), known, families(surrogate.outputs),
            noisy(surrogate, replicates), **more,
        )  # fmt: skip

    return build


@pytest.fixture
def with_terms() -> Callable[..., Surrogate]:
    """A surrogate of a law that is only known by its terms."""

    def build(terms: Sequence[Term], names: Sequence[str]) -> Surrogate:
        tasks = len(terms[0].weight)
        law = SimpleNamespace(family="ensemble", terms=lambda: tuple(terms))
        outputs = tuple(f"task{i}" for i in range(tasks))
        return Surrogate(tuple(names), outputs, np.full(tasks, 1 / tasks), "task", law)

    return build
