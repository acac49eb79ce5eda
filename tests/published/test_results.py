"""The analyses on made-up swarms whose law is known, and with parts of the release missing."""

import importlib.util
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olmix.errors import OlmixError
from olmix.mix import Mix
from olmix.published import figures as plots
from olmix.published.catalogue import Catalogue
from olmix.published.chain import coupling_by_topic, run_chain
from olmix.published.comparison import Findings, comparison_table
from olmix.published.design import trend
from olmix.published.final import final_mixes
from olmix.published.mixes import compare_mixes, read_paper_mixes
from olmix.regressors.surrogate import fit_surrogate
from olmix.updates.collapse import Collapse

REPOSITORY = Path(__file__).parents[2]


def script(name):
    """A script of the workflow as a module: its ``main`` takes plain arguments."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def study(make_release, settings, tmp_path_factory):
    """Run every script on a release; returns (results folder, settings)."""

    def run(**options):
        base = tmp_path_factory.mktemp("study")
        release = make_release(base / "olmix", **options)
        out = base / "results"
        manifest = out / "fetch_published.json"
        script("fetch_published").main("d", "main", str(release.folder), base / "down", manifest)
        swarms = out / "published_swarms"
        script("published_swarms").main(manifest, settings, swarms)
        laws = ("log_linear", "log_linear_plain", "bimix", "lightgbm", "search")
        regression = settings["regression"] | {
            "families": {law: settings["regression"]["families"][law] for law in laws},
            "sizes": [25, 75, 100, 118],
            "splits": 2,
            "seeds": [0],
        }
        fits = []
        for law in laws:
            fits.append(out / "published_regression" / f"{law}.csv")
            script("published_regression").main(swarms, law, regression, fits[-1])
        by_multiplier, proposals = out / "published_laws" / "search.csv", out / "proposed.csv"
        few = settings | {"laws": settings["laws"] | {"multipliers": [1], "splits": 2}}
        script("published_laws").main(swarms, "search", few, by_multiplier)
        script("published_proposed").main(swarms, None, settings["proposed"], proposals)
        answers = [out / "published_design", out / "published_mixes"]
        script("published_design").main(swarms, settings, answers[0])
        script("published_mixes").main(swarms, settings, answers[1])
        script("published_table").main(
            manifest, swarms, fits, [by_multiplier], proposals, answers, settings,
            out / "published_table",
        )  # fmt: skip
        return out, release

    return run


@pytest.fixture(scope="module")
def whole(study):
    return study(runs=80)


@pytest.fixture(scope="module")
def partial(study):
    return study(runs=40, only=("update5",))


def comparison(out):
    return pd.read_csv(out / "published_table" / "comparison.csv").set_index("id")


@pytest.mark.slow
def test_with_everything_there_every_value_is_computed(whole, settings):
    table = comparison(whole[0])
    assert list(table.index) == [entry["id"] for entry in settings["paper"]]
    assert table["ours"].notna().all()
    chain = json.loads((whole[0] / "published_mixes" / "chain.json").read_text())
    assert chain["stops_before"] is None
    assert len(chain["stages"]) == 6
    assert (whole[0] / "published_mixes" / "kappa.csv").exists()
    notes = (whole[0] / "published_table" / "notes.txt").read_text()
    assert "missing:" not in notes


@pytest.mark.slow
def test_without_most_of_it_the_rest_is_computed_and_the_missing_named(partial):
    table = comparison(partial[0])
    assert table.loc["rq4_fit_118", "note"] == "not computed: the DCLM swarm is missing"
    assert table.loc["kappa_largest", "note"].startswith("not computed: no swarm here has both")
    assert "initial: its swarm is missing" in table.loc["mix_chain", "note"]
    assert np.isfinite(float(table.loc["mix_pdf", "ours"]))
    notes = (partial[0] / "published_table" / "notes.txt").read_text()
    assert notes.count("missing:") == 5


@pytest.mark.slow
@pytest.mark.parametrize("figure", plots.__all__)
def test_every_figure_is_drawn_whatever_is_there(whole, partial, figure, tmp_path):
    for number, (out, _) in enumerate((whole, partial)):
        script("published_figure").main(figure, out, tmp_path / f"{figure}{number}.pdf")
        assert (tmp_path / f"{figure}{number}.pdf").read_bytes()[:4] == b"%PDF"
        assert (tmp_path / f"{figure}{number}.png").stat().st_size > 2000


@pytest.fixture(scope="module")
def found(whole, settings, sequence):
    """The analysis of the whole release, and what it was made from."""
    catalogue = Catalogue.load(whole[0] / "published_swarms")
    paper = read_paper_mixes(REPOSITORY / settings["mixes"])
    return final_mixes(catalogue, settings, sequence, paper), whole[1], catalogue


@pytest.mark.slow
def test_the_chain_freezes_the_mix_of_the_stage_before(found, sequence):
    chain = found[0].chain
    stages = list(chain.proposals)
    for before, after in itertools.pairwise(stages):
        split = sequence.full_reuse(after)
        members = split.groups["existing"]
        old = chain.proposals[before].mix.restricted(members).weights
        new = chain.proposals[after].mix.restricted(members).weights
        np.testing.assert_allclose(new, old, atol=1e-9)
    assert set(chain.mix.names) == {d.name for d in sequence.stages()[-1].domains}


@pytest.mark.slow
def test_the_chain_stops_where_a_swarm_is_missing(found, settings, sequence):
    _, _, catalogue = found
    by_stage = {
        entry["stage"]: catalogue.get(name)
        for name, entry in settings["swarms"].items()
        if "stage" in entry and name != "update2"
    }
    chain = run_chain(sequence, by_stage, settings["final"])
    assert list(chain.proposals) == ["initial", "add_stack_edu"]
    assert chain.stopped == "add_more_sources: its swarm is missing"


@pytest.mark.slow
def test_a_stage_meets_the_paper_caps_of_its_virtual_domain(found, settings, sequence):
    """k·N/R of every single domain, the frozen ones included."""
    for stage in sequence.stages():
        mix = found[0].chain.proposals[stage.name].mix
        caps = stage.domains.caps(settings["final"]["repetition"], settings["final"]["requested"])
        assert (mix.aligned(stage.domains.names).weights <= caps * (1 + 1e-6)).all(), stage.name


@pytest.mark.slow
def test_kappa_of_a_known_law(found):
    """On many noiseless runs the drops are those of the law's own coefficients."""
    _, release, catalogue = found
    law, table = release.law, catalogue.get("full_recomputation").table
    rng = np.random.default_rng(5)
    mixes = rng.dirichlet(np.full(len(law.domains), 0.03), size=1500)
    runs = tuple(map(str, range(1500)))
    swarm = type(table)(runs, law.domains, mixes, law.tasks, law.bpb(mixes))
    before, frame = coupling_by_topic(fit_surrogate(swarm))
    sources = np.array([name.partition(":")[0] for name in law.domains])
    inside = (sources == "dclm") | (sources == "stack-edu")
    A, fixed = law.coefficients[:, inside], sources[inside] == "dclm"

    def kappa(mask):
        fix = np.sqrt((A[:, mask] ** 2).sum(1))
        rest = np.sqrt((A[:, ~mask] ** 2).sum(1))
        return np.sqrt((((1 + fix + rest) * fix) ** 2).sum())

    assert before == pytest.approx(kappa(fixed), rel=0.05)
    expected = {}
    names = [name for name, here in zip(law.domains, inside, strict=True) if here]
    for column in np.flatnonzero(fixed):
        without = fixed.copy()
        without[column] = False
        expected[names[column]] = kappa(fixed) - kappa(without)
    found_drops = frame.set_index("domain")["reduction"]
    assert len(found_drops) == 24
    for name, drop in expected.items():
        assert found_drops[name] == pytest.approx(drop, rel=0.2, abs=0.02 * before), name
    assert frame["domain"].iloc[0] == max(expected, key=expected.get)


def test_trend_says_neither_unless_without_exception():
    assert trend([1, 2, 2, 3]) == "rises"
    assert trend([3, 1]) == "falls"
    assert trend([1, 3, 2]) == "neither"


def test_compared_mixes_by_hand():
    paper = Mix(("a", "b", "c"), [0.2, 0.3, 0.5])
    frame = compare_mixes("x", Mix(("a", "b", "c"), [0.5, 0.25, 0.25]), paper, ["a", "b"])
    assert frame["ours"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert frame["paper"].tolist() == pytest.approx([0.4, 0.6])
    assert frame["inside"].isna().all()


def test_the_paper_columns_are_mixes(settings):
    paper = read_paper_mixes(REPOSITORY / settings["mixes"])
    assert all(len(mix) == 64 for mix in paper.values())
    # Its text says 0.067; its own table gives another distance, which the study reports.
    distance = paper["partial_mixture_reuse"].total_variation(paper["full_recomputation"])
    assert distance == pytest.approx(0.316, abs=1e-3)


def test_comparison_by_hand():
    paper = [
        {"id": "a", "where": "w", "what": "x", "value": 0.8, "tolerance": 0.05},
        {"id": "b", "where": "w", "what": "x", "value": "bimix"},
        {"id": "c", "where": "w", "what": "x", "value": 1.0},
        {"id": "d", "where": "w", "what": "x", "value": 0, "tolerance": 0.0},
    ]
    found = Findings()
    found.add("a", 0.86)
    found.add("b", "bimix", "close")
    found.add("d", 0)
    found.lacks(["c"], "no swarm")
    table = comparison_table(paper, found).set_index("id")
    assert table["agrees"].to_dict() == {"a": "no", "b": "yes", "c": "", "d": "yes"}
    assert table.loc["a", "difference"] == pytest.approx(0.06)
    assert table.loc["c", "note"] == "not computed: no swarm"
    with pytest.raises(OlmixError, match="'e': no analysis finds or misses it"):
        comparison_table([{"id": "e", "where": "w", "what": "x", "value": 1}], found)
    with pytest.raises(OlmixError, match="'a' was found twice"):
        Findings.joined([found.to_dict(), found.to_dict()])


def test_collapse_of_the_released_update_has_its_columns(sequence):
    """The last update's 22 columns are what full reuse recomputes."""
    stages = sequence.stages()
    collapse = Collapse(
        stages[-1].domains, sequence.full_reuse(stages[-1].name), stages[-2].domains.natural()
    )
    assert len(collapse.names) == 22
