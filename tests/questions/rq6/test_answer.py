"""RQ6 on proposals computed exactly from a known law, with caps."""

import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.files import read_json
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import Request
from olmix.questions.answer import Answer
from olmix.questions.rq6.answer import answer
from olmix.questions.rq6.plan import APPROACHES
from olmix.tables import SwarmTable

FACTORS = [2, 3, "inf"]
DOMAINS = DomainSet.from_token_counts({"web:small": 10, "web:middle": 30, "web:large": 60})
REQUESTED = 100.0


@pytest.fixture
def answered(question, world_of, tmp_path):
    # One task, to which the smallest domain helps most and the largest least.
    world = world_of(DOMAINS, np.array([[-2.0, -1.0, 0.0]]), np.array([0.5]))

    def propose(k: float) -> dict:
        request = Request.for_domains(DOMAINS, kl=0.0, repetition=k, requested=REQUESTED)
        return propose_exact(world.surrogate, request).to_dict()

    records = {f"k{k}": propose(float(k)) for k in FACTORS}
    records |= {
        "constrained-swarm": propose(5.0),
        "constrained-optimization": propose(4.0),
        "constrained-both": propose(4.0),
    }
    targets = SwarmTable(
        tuple(APPROACHES), DOMAINS.names, np.full((3, 3), 1 / 3), ("task0",),
        np.array([[0.70], [0.76], [0.75]]),
    )  # fmt: skip
    settings = {"repetition": 4, "rq6": {"factors": FACTORS}}
    planned = {"target": ["rq6-target"], "approaches": list(APPROACHES)}
    data = question(settings, {"rq6-target": targets}, {"rq6": records}, planned=planned)
    answer(data, Answer(tmp_path / "rq6", "rq6", data))
    return tmp_path / "rq6"


def test_the_constraint_counts_how_often_the_scarcest_domain_is_seen(answered):
    table = pd.read_csv(answered / "repetition_constraints.csv").set_index("approach")
    # The best domain fills its cap k·N/R: it is seen exactly k times.
    assert table["largest_repetition"].tolist() == pytest.approx([5.0, 4.0, 4.0], rel=1e-6)
    assert table["satisfied"].tolist() == [False, True, True]
    assert set(table["most_repeated"]) == {"web:small"}
    assert table["target_bpb"].tolist() == pytest.approx([0.70, 0.76, 0.75])
    summary = read_json(answered / "summary.json")
    assert summary["lowest_target_bpb"] == "constrained-swarm"
    assert summary["lowest_target_bpb_satisfied"] == "constrained-both"


def test_weights_follow_the_caps_as_k_grows(answered):
    table = pd.read_csv(answered / "weights.csv").pivot(
        index="factor", columns="domain", values="weight"
    )
    # k = 2: 0.2 of small, 0.6 of middle, the rest; k = 3: 0.3 and 0.7; no cap: all on small.
    assert table.loc[2.0, ["web:small", "web:middle", "web:large"]].tolist() == pytest.approx(
        [0.2, 0.6, 0.2], abs=1e-6
    )
    assert table.loc[3.0, ["web:small", "web:middle", "web:large"]].tolist() == pytest.approx(
        [0.3, 0.7, 0.0], abs=1e-6
    )
    assert table.loc[np.inf, "web:small"] == pytest.approx(1.0, abs=1e-5)
    summary = read_json(answered / "summary.json")
    assert summary["weights_that_only_grow_with_k"] == ["web:small"]
    assert summary["weights_that_only_shrink_with_k"] == ["web:large"]
    assert summary["total_variation_from_smallest_to_largest_k"] == pytest.approx(0.8, abs=1e-5)
