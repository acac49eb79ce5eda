import json
import re

import pytest


@pytest.fixture
def model(olmix, simulated, tmp_path, no_figures):
    """The model that `fit` wrote of the simulated swarm."""
    assert olmix("fit", *simulated.swarm_options, "--out", tmp_path, "--explore", 0) == 0
    return tmp_path / "model.json"


def held_in(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])


def test_a_model_becomes_a_page(olmix, model, simulated, tmp_path, capsys):
    page, families = tmp_path / "page.html", tmp_path / "families.json"
    families.write_text(json.dumps({"a": ["task_00", "task_02"], "b": ["task_01", "task_03"]}))
    request = ("--target-tokens", 5e9, "--repetition", 3, "--kl", 0.1, "--families", families)
    given = ("--model", model, "--domains", simulated.counts, "--out", page)
    assert olmix("explore", *given, *request, "--unit", "nats") == 0
    assert "5 domains, 4 tasks" in capsys.readouterr().out
    data = held_in(page)
    assert data["request"] == {"kl": 0.1, "repetition": 3.0, "requested": 5e9}
    assert data["tokens"] == simulated.domains.tokens.tolist()
    assert data["prior"] == data["natural"]
    assert data["families"] == [{"name": "a", "tasks": [0, 2]}, {"name": "b", "tasks": [1, 3]}]
    assert (data["unit"], data["replicates"]) == ("nats", [])
    assert data["law"] == held_in(tmp_path / "explore.html")["law"]


def test_without_a_target_nothing_is_capped_but_can_be(olmix, model, simulated, tmp_path):
    given = ("--model", model, "--domains", simulated.counts, "--out", tmp_path / "page.html")
    assert olmix("explore", *given) == 0
    data = held_in(tmp_path / "page.html")
    assert data["request"]["requested"] is None
    assert data["tokens"] is not None


def test_what_does_not_fit_is_refused(refused, model, simulated, tmp_path):
    fewer = tmp_path / "fewer.json"
    counts = {domain.name: domain.tokens for domain in simulated.domains}
    fewer.write_text(json.dumps({"token_counts": {k: counts[k] for k in list(counts)[:-1]}}))
    page = tmp_path / "page.html"

    def refuse(**options):
        given = {"model": model, "domains": simulated.counts, "out": page} | options
        line = refused("explore", *(x for k, v in given.items() for x in (f"--{k}", v)))
        assert not page.exists()
        return line

    assert "domain 'wiki' has no token count" in refuse(domains=fewer)
    assert "not a fitted model" in refuse(model=simulated.counts)
    assert "caps k·N/R sum to" in refuse(**{"target-tokens": 1e12})
    assert "nowhere.json: no such file" in refuse(model=tmp_path / "nowhere.json")
