"""A small synthetic world whose law is known, and the laws measured on its runs."""

import numpy as np
import pytest

from olmix.domains import DomainSet
from olmix.measured.measure import measure
from olmix.measured.runs import join_swarms
from olmix.tables import SwarmTable

WEB = ("web:a", "web:b", "web:c")
ALL = (*WEB, "code:x", "code:y", "books")
TASKS = ("maths", "facts", "programs")
TOKENS = {"web:a": 300, "web:b": 200, "web:c": 500, "code:x": 60, "code:y": 40, "books": 100}
DEVIATION = np.array([0.02, 0.01, 0.03])
FORM = {"onset": 0.3, "sources": 1.0, "pairs": 0.5, "coupled": 0.0, "alone": 1.0, "width": 0.02}
SETTINGS = {
    "swarms": ["all", "web"],
    "forms": {"pairs": FORM, "additive": FORM | {"pairs": 0.0}},
    "replicas": 3,
    "seed": 0,
    "assumed": {"old": {"like": {"books": 1, "web": 1}, "concentration": 4}},
    "transfer": {"spearman": 0.9, "target_noise": 0.25},
}


def true_bpb(mixes):
    """Diminishing returns of code, a linear part for the rest: no form has exactly this."""
    code = np.log1p(mixes[:, 3:5].sum(1) / 0.05)
    return np.column_stack(
        [
            1.0 + np.exp(-1.5 * mixes[:, 0] + 0.5 * mixes[:, 1] - 0.2 * code),
            0.8 + np.exp(-1.0 * mixes[:, 5] - 0.8 * mixes[:, 2]),
            1.2 + np.exp(0.3 - 0.4 * code - 0.5 * mixes[:, 0]),
        ]
    )


def drawn_swarm(domains, runs, seed):
    """A table of runs of the true law, its noise half shared by the tasks."""
    rng = np.random.default_rng(seed)
    mixes = rng.dirichlet(np.full(len(domains), 0.7), size=runs)
    whole = np.zeros((runs, len(ALL)))
    whole[:, [ALL.index(name) for name in domains]] = mixes
    noise = rng.normal(size=(runs, 1)) + rng.normal(size=(runs, len(TASKS)))
    metrics = true_bpb(whole) + DEVIATION * noise / np.sqrt(2)
    names = tuple(f"run-{number}" for number in range(runs))
    return SwarmTable(names, tuple(domains), mixes, TASKS, metrics)


@pytest.fixture(scope="session")
def runs():
    """Two swarms as one: over all domains, and over the web alone."""
    return join_swarms({"all": drawn_swarm(ALL, 240, 1), "web": drawn_swarm(WEB, 80, 2)})


@pytest.fixture(scope="session")
def measured(runs):
    """The laws measured on them."""
    return measure(runs, SETTINGS, DomainSet.from_token_counts(TOKENS))
