"""Tight R and low budgets on measurements made by hand."""

import numpy as np
import pandas as pd
import pytest

from olmix.files import read_json
from olmix.questions.answer import Answer
from olmix.questions.budgets.answer import answer
from olmix.study.chain import Chain
from olmix.tables import SwarmTable

DOMAINS = ("web", "code", "books")


def test_budgets_compare_with_the_natural_mix_of_their_own_group(question, tmp_path):
    def table(natural, other, chain):
        metrics = np.array([[natural], [other]])
        return SwarmTable(("natural", chain.name), DOMAINS, np.eye(3)[:2], ("x",), metrics)

    loose, tight = Chain("swarm_reuse", 3, "relaxed", 0), Chain("swarm_reuse", 3, "tight", 0)
    data = question(
        {},
        {"main-target": table(2.0, 1.5, loose), "tight-target": table(1.0, 0.9, tight)},
        planned={
            "groups": {
                "main": {"chains": [(loose.to_dict(), 30)], "target": "main-target"},
                "tight": {"chains": [(tight.to_dict(), 30)], "target": "tight-target"},
            }
        },
    )
    answer(data, Answer(tmp_path / "budgets", "budgets", data))
    found = read_json(tmp_path / "budgets" / "summary.json")["strategies"]
    assert found["swarm_reuse-c3-relaxed"]["improvement"] == pytest.approx(25)
    assert found["swarm_reuse-c3-tight"]["improvement"] == pytest.approx(10)
    assert pd.read_csv(tmp_path / "budgets" / "budgets.csv")["group"].tolist() == ["main", "tight"]
