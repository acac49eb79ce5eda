"""Every law on every swarm, and the authors' proposed mixes, on swarms whose law is known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from olmix.errors import OlmixError
from olmix.published.laws import fit_by_multiplier, summarised
from olmix.published.proposed import errors_by_multiplier, judged

FAMILIES = {"log_linear": {}, "search": {}}
SETTINGS = {"multipliers": [1, 2, 5], "held_out": 4, "splits": 2}


@pytest.fixture
def catalogue(make_world):
    swarms = {"small": make_world(3, 2, seed=0).swarm(12, seed=1)}
    return SimpleNamespace(
        found=("small",), get=lambda name: SimpleNamespace(table=swarms[name], tokens=None)
    )


def test_every_multiplier_that_leaves_enough_runs_is_fitted(catalogue):
    fits = fit_by_multiplier(catalogue, "search", FAMILIES, SETTINGS)
    # 4 and 8 of 12 runs leave four and more; 5 times m + 1 are too many.
    assert fits.groupby("c")["runs"].unique().apply(list).to_dict() == {1: [4], 2: [8]}
    assert fits["split"].tolist() == [0, 1, 0, 1]
    table = summarised(fits)
    assert len(table) == 2
    first = fits[fits["c"] == 1]["fit"]
    assert table["fit"].iloc[0] == pytest.approx(first.mean())
    assert (table["fit_low"].iloc[0], table["fit_high"].iloc[0]) == (first.min(), first.max())


def test_a_proposed_mix_is_judged_by_the_law_of_the_swarm(make_world, tmp_path):
    world = make_world(3, 2, seed=0)
    mixes = np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.2, 0.3, 0.5]])
    frame = pd.DataFrame({"family": "log_linear", "m": [2, 2, 3], "K": [3, 6, 4], "seed": 0})
    frame[list(world.domains.names)] = mixes
    frame.to_csv(tmp_path / "mixes.csv", index=False)
    swarm = SimpleNamespace(table=world.swarm(30, seed=1))
    found = judged(swarm, tmp_path / "mixes.csv", ["log_linear"])
    expected = world.bpb(mixes).mean(1)
    assert found["bpb"].to_numpy() == pytest.approx(expected, rel=1e-3)
    assert found["multiplier"].tolist() == [1, 2, 1]
    assert found["error"].iloc[:2].min() == 0 == found["error"].iloc[2]
    assert errors_by_multiplier(found)["domains"].tolist() == [2, 2, 3]


def test_missing_mixes_give_an_empty_table_and_others_an_error(make_world, tmp_path):
    assert judged(None, None, ["ensemble"]).empty
    swarm = SimpleNamespace(table=make_world(3, 2, seed=0).swarm(8, seed=1))
    (tmp_path / "mixes.csv").write_text("m,K,seed,d0\n2,3,0,1\n")
    with pytest.raises(OlmixError, match="no column 'd1'"):
        judged(swarm, tmp_path / "mixes.csv", ["log_linear"])
