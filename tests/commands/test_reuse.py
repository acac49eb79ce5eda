"""`reuse` on updates whose true law is known: every call a person makes, with simulated runs."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olmix.domains import DomainSet
from olmix.mix import Mix
from olmix.proposers.exact import propose_exact
from olmix.proposers.proposal import read_mix
from olmix.simulation.law import Law, random_law
from olmix.tables import read_mixes, write_table
from olmix.updates.collapse import Collapse
from olmix.updates.operators import full_reuse, infer_update
from olmix.updates.planning import swarm_size

BEFORE = {"web:news": 4000, "web:sport": 3000, "web:code": 1000, "books": 1500, "pdf": 600}
ADDED = BEFORE | {"code:python": 400, "code:rust": 200}
PARTS = {"pdf:maths": 350, "pdf:law": 250}
PARTITIONED = {name: n for name, n in BEFORE.items() if name != "pdf"} | PARTS
EXISTING = {"web:news": 0.3, "web:sport": 0.1, "web:code": 0.3, "books": 0.2, "pdf": 0.1}
TASKS = tuple(f"task{number}" for number in range(6))

pytestmark = pytest.mark.usefixtures("no_figures")


def law_over(names: dict[str, int], seed: int = 5) -> Law:
    return random_law(DomainSet.from_token_counts(names), TASKS, seed=seed, noise=0.0)


def measure(law: Law, ratios: Path, metrics: Path) -> Path:
    """Write what the law says of every mix in a table: the training of these runs."""
    runs, names, mixes = read_mixes(ratios)
    assert set(names) == set(law.domains)
    columns = [names.index(name) for name in law.domains]
    write_table(metrics, runs, law.tasks, law.bpb(mixes[:, columns]))
    return metrics


@pytest.fixture
def files(tmp_path):
    """``files(after)``: the options that describe an update from BEFORE, as files."""

    def make(after):
        for name, content in (("old", BEFORE), ("new", after)):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps({"token_counts": content}))
        (tmp_path / "mix.json").write_text(json.dumps(EXISTING))
        old, new, mix = (tmp_path / f"{name}.json" for name in ("old", "new", "mix"))
        return ["--from", old, "--to", new, "--mix", mix]

    return make


def collapse_of(after: dict[str, int], partitions=None) -> Collapse:
    before = DomainSet.from_token_counts(BEFORE)
    updated = infer_update(before, DomainSet.from_token_counts(after), partitions).apply(before)
    return Collapse(updated, full_reuse(before, updated), Mix.from_dict(EXISTING))


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def ratios_kept(mix: Mix, names) -> bool:
    kept = mix.restricted(names).weights
    return kept == pytest.approx(Mix.from_dict(EXISTING).restricted(names).weights, abs=1e-9)


def test_full_reuse_in_two_calls(olmix, files, tmp_path, capsys):
    given, out, law = files(ADDED), tmp_path / "out", law_over(ADDED)
    assert olmix("reuse", *given, "--out", out) == 0
    assert "3 weights to recompute: train 8 proxies" in capsys.readouterr().out
    runs, names, mixes = read_mixes(out / "ratios.csv")
    assert len(runs) == swarm_size(3, 3) == 8
    assert names == tuple(ADDED)
    assert all(ratios_kept(Mix(names, mix), BEFORE) for mix in mixes)
    _, collapsed, weights = read_mixes(out / "collapsed_ratios.csv")
    assert collapsed == ("existing", "code:python", "code:rust")
    np.testing.assert_allclose(weights[:, 1:], mixes[:, 5:], atol=1e-12)
    split = json.loads((out / "split.json").read_text())
    assert split == {"frozen": {"existing": list(BEFORE)}, "recomputed": list(ADDED)[5:]}

    metrics = measure(law, out / "ratios.csv", tmp_path / "metrics.csv")
    request = ["--target-tokens", 10_000, "--repetition", 4]
    measured = ["--ratios", out / "ratios.csv", "--metrics", metrics]
    assert olmix("reuse", *given, *measured, *request, "--out", tmp_path / "answer") == 0
    mix = read_mix(tmp_path / "answer" / "mix.json")
    assert mix.names == tuple(ADDED)
    assert ratios_kept(mix, BEFORE)
    assert (mix.weights <= 4 * np.array(list(ADDED.values())) / 10_000 + 1e-9).all()
    assert [float(row["weight"]) for row in rows(tmp_path / "answer" / "mix.csv")] == (
        mix.weights.tolist()
    )
    text = capsys.readouterr().out
    assert "frozen: existing (5); recomputed: 2 domains" in text
    # The best of all mixes that keep the ratios, by the law over the collapsed domains.
    collapse = collapse_of(ADDED)
    exact = Law(collapse.names, TASKS, law.coefficients @ collapse.expansion.T, law.constants,
                law.noise)  # fmt: skip
    wanted = collapse.request(kl=0.05, repetition=4, requested=10_000)
    best = collapse.expand(propose_exact(exact.surrogate(), wanted).mix)
    assert law.bpb(mix.weights).mean() == pytest.approx(law.bpb(best.weights).mean(), abs=0.005)
    assert mix.total_variation(best) < 0.03


def test_the_collapsed_ratios_are_as_good(olmix, files, tmp_path):
    given, out, law = files(ADDED), tmp_path / "out", law_over(ADDED)
    assert olmix("reuse", *given, "--out", out) == 0
    metrics = measure(law, out / "ratios.csv", tmp_path / "metrics.csv")
    for name in ("ratios", "collapsed_ratios"):
        swarm = ["--ratios", out / f"{name}.csv", "--metrics", metrics]
        assert olmix("reuse", *given, *swarm, "--out", tmp_path / name) == 0
    first, second = (
        read_mix(tmp_path / name / "mix.json").weights for name in ("ratios", "collapsed_ratios")
    )
    # Two tables that differ in their last digits: the fit ends within 1e-7 of its loss on each.
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_a_removal_needs_no_swarm(olmix, files, tmp_path, capsys):
    kept = {name: n for name, n in BEFORE.items() if name != "books"}
    assert olmix("reuse", *files(kept), "--out", tmp_path / "out") == 0
    mix = read_mix(tmp_path / "out" / "mix.json")
    assert mix.to_dict() == pytest.approx({name: EXISTING[name] / 0.8 for name in kept})
    record = json.loads((tmp_path / "out" / "mix.json").read_text())
    assert record["status"] == "reused"
    assert record["average"] is None
    assert "frozen: existing (4); recomputed: 0 domains" in capsys.readouterr().out


def test_a_partition_must_be_said(olmix, files, tmp_path, capsys):
    given, out = files(PARTITIONED), tmp_path / "out"
    assert olmix("reuse", *given, "--partition", "pdf=pdf:maths,pdf:law", "--out", out) == 0
    runs, names, _ = read_mixes(out / "ratios.csv")
    # The parts stand where the whole was.
    assert names == ("web:news", "web:sport", "web:code", "books", "pdf:maths", "pdf:law")
    assert len(runs) == 8
    metrics = measure(law_over(PARTITIONED), out / "ratios.csv", tmp_path / "metrics.csv")
    swarm = ["--ratios", out / "ratios.csv", "--metrics", metrics]
    partition = ["--partition", "pdf=pdf:maths,pdf:law"]
    assert olmix("reuse", *given, *swarm, *partition, "--out", tmp_path / "answer") == 0
    mix = read_mix(tmp_path / "answer" / "mix.json")
    assert set(mix.names) == set(PARTITIONED)
    assert ratios_kept(mix, [name for name in BEFORE if name != "pdf"])


def test_wrong_partitions_are_refused(refused, files, tmp_path):
    given = ("reuse", *files(PARTITIONED), "--out", tmp_path / "out", "--partition")
    assert "expected WHOLE=PART,PART" in refused(*given, "pdf")
    assert "no domain 'pdf:art'" in refused(*given, "pdf=pdf:art,pdf:law")
    wrong = PARTITIONED | {"pdf:law": 251}
    given = ("reuse", *files(wrong), "--out", tmp_path / "out", "--partition")
    assert "hold 601 tokens, expected the 600" in refused(*given, "pdf=pdf:maths,pdf:law")


def test_recompute_is_partial_reuse(olmix, refused, files, tmp_path, capsys):
    given, out, law = files(ADDED), tmp_path / "out", law_over(ADDED)
    partial = ["--recompute", "web:code", "books", "--c", 2]
    assert olmix("reuse", *given, *partial, "--out", out) == 0
    runs, names, mixes = read_mixes(out / "ratios.csv")
    assert len(runs) == swarm_size(5, 2)
    frozen = ["web:news", "web:sport", "pdf"]
    assert all(ratios_kept(Mix(names, mix), frozen) for mix in mixes)
    assert not all(ratios_kept(Mix(names, mix), BEFORE) for mix in mixes)
    metrics = measure(law, out / "ratios.csv", tmp_path / "metrics.csv")
    swarm = ["--ratios", out / "ratios.csv", "--metrics", metrics]
    assert olmix("reuse", *given, *partial, *swarm, "--out", tmp_path / "answer") == 0
    mix = read_mix(tmp_path / "answer" / "mix.json")
    assert ratios_kept(mix, frozen)
    # The same runs do not keep the ratios that full reuse freezes.
    line = refused("reuse", *given, *swarm, "--out", tmp_path / "full")
    assert "does not keep the frozen ratios of the existing mix (a weight is off by" in line
    assert "'web:sprot' is not an unaffected domain (no such domain)" in refused(
        "reuse", *given, "--recompute", "web:sprot", "--out", out
    )


def test_reuse_within_sources(olmix, files, tmp_path, capsys):
    options = ["--reuse-within", "web", "--out", tmp_path / "out"]
    assert olmix("reuse", *files(ADDED), *options) == 0
    split = json.loads((tmp_path / "out" / "split.json").read_text())
    assert split["frozen"] == {"web": ["web:news", "web:sport", "web:code"]}
    assert split["recomputed"] == ["books", "pdf", "code:python", "code:rust"]


def test_family_granularity_reaches_the_fit(olmix, files, tmp_path):
    given, out = files(ADDED), tmp_path / "out"
    assert olmix("reuse", *given, "--out", out) == 0
    metrics = measure(law_over(ADDED), out / "ratios.csv", tmp_path / "metrics.csv")
    families = tmp_path / "families.json"
    families.write_text(json.dumps({"first": list(TASKS[:2]), "rest": list(TASKS[2:])}))
    swarm = ["--ratios", out / "ratios.csv", "--metrics", metrics]
    options = ["--granularity", "family", "--families", families, "--out", tmp_path / "answer"]
    assert olmix("reuse", *given, *swarm, *options) == 0
    record = json.loads((tmp_path / "answer" / "mix.json").read_text())
    assert set(record["predicted"]) == {"first", "rest"}


@pytest.fixture
def old_swarm(tmp_path):
    """Thirty runs over the domains before the update, by the same law."""
    law = law_over(ADDED)
    mixes = np.random.default_rng(0).dirichlet(np.ones(5), size=30)
    names = [f"old-{number}" for number in range(30)]
    write_table(tmp_path / "old_ratios.csv", names, tuple(BEFORE), mixes)
    padded = np.column_stack([mixes, np.zeros((30, 2))])
    write_table(tmp_path / "old_metrics.csv", names, TASKS, law.bpb(padded))
    return [
        "--old-ratios", tmp_path / "old_ratios.csv", "--old-metrics", tmp_path / "old_metrics.csv"
    ]  # fmt: skip


def test_auto_in_three_calls(olmix, files, old_swarm, tmp_path, capsys):
    given, out, law = files(ADDED), tmp_path / "out", law_over(ADDED)
    auto = ["--auto", *old_swarm, "--budget", 16, "--out", out]
    # First the probe: m+1 runs over the virtual domain and the two new ones.
    assert olmix("reuse", *given, *auto) == 0
    probe, names, mixes = read_mixes(out / "probe_ratios.csv")
    assert len(probe) == 4
    assert all(ratios_kept(Mix(names, mix), BEFORE) for mix in mixes)
    metrics = measure(law, out / "probe_ratios.csv", tmp_path / "probe_metrics.csv")
    # Then the choice, and the runs beyond the probe's.
    capsys.readouterr()
    swarm = ["--ratios", out / "probe_ratios.csv", "--metrics", metrics]
    assert olmix("reuse", *given, *auto, *swarm) == 0
    text = capsys.readouterr().out
    assert "Reusing all unaffected domains: κ =" in text
    split = json.loads((out / "split.json").read_text())
    extra = [name for name in split["recomputed"] if name in BEFORE]
    assert extra, "the law couples nothing: the test would show nothing"
    assert f"on probe and new runs together: --recompute {' '.join(extra_order(text))}" in text
    assert sorted(extra_order(text)) == sorted(extra)
    runs, _, _ = read_mixes(out / "ratios.csv")
    assert len(probe) + len(runs) == swarm_size(1 + len(split["recomputed"]), 3) <= 16
    assert split["why"] == text.splitlines()[: len(split["why"])]
    # Last the answer, from both swarms together.
    both = pd.concat([pd.read_csv(out / f"{name}.csv") for name in ("probe_ratios", "ratios")])
    both.to_csv(tmp_path / "both.csv", index=False)
    metrics = measure(law, tmp_path / "both.csv", tmp_path / "both_metrics.csv")
    swarm = ["--ratios", tmp_path / "both.csv", "--metrics", metrics, "--recompute", *extra]
    assert olmix("reuse", *given, *swarm, "--out", tmp_path / "answer") == 0
    mix = read_mix(tmp_path / "answer" / "mix.json")
    assert ratios_kept(mix, [name for name in BEFORE if name not in extra])
    # More freedom than full reuse: at least as good, by the law, as the mix before the update.
    full = Mix.from_dict(EXISTING).aligned(mix.names)
    assert law.bpb(mix.weights).mean() < law.bpb(full.weights).mean()


def extra_order(text: str) -> list[str]:
    """The domains in the order in which they were chosen."""
    lines = [line for line in text.splitlines() if line.startswith("Recompute ")]
    return [line.removeprefix("Recompute ").split(": κ falls")[0] for line in lines]


def test_auto_reads_both_swarms_alike(olmix, files, old_swarm, tmp_path, capsys):
    """Grouped, dropped and scaled tasks hold for the old swarm as for the probe."""
    given, out, law = files(ADDED), tmp_path / "out", law_over(ADDED)
    auto = ["--auto", *old_swarm, "--budget", 16, "--out", out]
    assert olmix("reuse", *given, *auto) == 0
    metrics = measure(law, out / "probe_ratios.csv", tmp_path / "probe_metrics.csv")
    swarm = ["--ratios", out / "probe_ratios.csv", "--metrics", metrics]
    tasks = ["--group-tasks", "pair=task0,task1", "--drop-task", "task2", "--scale-metrics"]
    assert olmix("reuse", *given, *auto, *swarm, *tasks) == 0
    assert "the final call is without --auto" in capsys.readouterr().out


def test_auto_says_what_it_needs(refused, files, old_swarm, tmp_path):
    given = ("reuse", *files(ADDED), "--out", tmp_path / "out", "--auto")
    assert "--auto needs --old-ratios" in refused(*given)
    assert "--auto needs --budget" in refused(*given, *old_swarm)
    line = refused(*given, *old_swarm, "--budget", 16, "--recompute", "books")
    assert "--auto chooses what to recompute" in line
    kept = {name: n for name, n in BEFORE.items() if name != "books"}
    given = ("reuse", *files(kept), "--out", tmp_path / "out", "--auto", *old_swarm)
    assert "leave out --auto" in refused(*given, "--budget", 16)


def test_a_budget_too_small_for_full_reuse(olmix, refused, files, old_swarm, tmp_path):
    given, out = files(ADDED), tmp_path / "out"
    auto = ["--auto", *old_swarm, "--budget", 7, "--out", out]
    assert olmix("reuse", *given, *auto) == 0
    metrics = measure(law_over(ADDED), out / "probe_ratios.csv", tmp_path / "metrics.csv")
    swarm = ["--ratios", out / "probe_ratios.csv", "--metrics", metrics]
    assert "already needs 8 runs, the budget is 7" in refused("reuse", *given, *auto, *swarm)


def test_a_swarm_over_other_domains(refused, files, tmp_path):
    mixes = np.tile([0.6, 0.4], (4, 1))
    write_table(tmp_path / "ratios.csv", list("abcd"), ("books", "radio"), mixes)
    write_table(tmp_path / "metrics.csv", list("abcd"), TASKS, np.ones((4, 6)))
    swarm = ["--ratios", tmp_path / "ratios.csv", "--metrics", tmp_path / "metrics.csv"]
    line = refused("reuse", *files(ADDED), *swarm, "--out", tmp_path / "out")
    assert "neither the updated ones nor existing, code:python" in line
    assert "(unknown: 'radio')" in line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"web:news": 0.5, "web:sport": 0.5}, "'web:code' of the virtual domain 'existing' has no"),
        ({"web:news": 0.5, "web:sport": 0.4}, "mix.json: mix: weights over 2 domains sum to 0.9"),
        ([0.5, 0.5], "mix.json: holds list, expected {domain: weight}"),
        ({"web:news": "half"}, "weight of 'web:news' is 'half'"),
    ],
)
def test_a_wrong_existing_mix(refused, files, tmp_path, content, message):
    given = files(ADDED)
    (tmp_path / "mix.json").write_text(json.dumps(content))
    assert message in refused("reuse", *given, "--out", tmp_path / "out")


def test_other_mistakes(refused, files, tmp_path):
    out = ["--out", tmp_path / "out"]
    given = files(BEFORE)
    assert "the two domain sets are the same" in refused("reuse", *given, *out)
    given = files(ADDED)
    assert "--ratios and --metrics go together" in refused(
        "reuse", *given, "--ratios", tmp_path / "r.csv", *out
    )
    assert "multiplier c is 0" in refused("reuse", *given, "--c", 0, *out)
    nowhere = [*given[:-1], tmp_path / "nowhere.json"]
    assert "nowhere.json: no such file" in refused("reuse", *nowhere, *out)
    assert "cannot be read" in refused("reuse", *given[:-1], tmp_path, *out)
    assert not (tmp_path / "out").exists()


def test_a_removal_that_lifts_a_domain_over_its_cap(olmix, refused, files, tmp_path, capsys):
    """web:code holds 1000 tokens; after the removal it would be 0.375 of 8000 seen twice."""
    kept = {name: n for name, n in BEFORE.items() if name != "books"}
    request = ["--target-tokens", 8000, "--repetition", 2]
    assert olmix("reuse", *files(kept), *request, "--out", tmp_path / "out") == 0
    mix = read_mix(tmp_path / "out" / "mix.json")
    assert mix["web:code"] == pytest.approx(0.25)
    rest = {"web:news": 0.3, "web:sport": 0.1, "pdf": 0.1}
    assert mix.to_dict() == pytest.approx(
        {name: 0.75 * rest[name] / 0.5 if name in rest else 0.25 for name in kept}
    )
    assert "reused, cut to the caps" in capsys.readouterr().out
    # Where all tokens together do not suffice, nothing can be cut.
    request = ["--target-tokens", 20_000, "--repetition", 1]
    line = refused("reuse", *files(kept), *request, "--out", tmp_path / "none")
    assert "sum to 0.43, expected at least 1" in line


def test_caps_that_cannot_be_met_are_refused_before_anything_is_trained(refused, files, tmp_path):
    line = refused("reuse", *files(ADDED), "--target-tokens", 1e6, "--out", tmp_path / "out")
    assert "expected at least 1 (largest: existing" in line
    assert not (tmp_path / "out").exists()


def test_a_domain_prior_is_read(olmix, files, tmp_path):
    """A strong KL term pulls to the relative sizes of the new domain file."""
    given = files(ADDED)
    sizes = dict.fromkeys(BEFORE, 1) | {"code:python": 2, "code:rust": 3}
    (tmp_path / "new.json").write_text(json.dumps({"token_counts": ADDED, "relative_sizes": sizes}))
    assert olmix("reuse", *given, "--out", tmp_path / "out") == 0
    ratios = tmp_path / "out" / "ratios.csv"
    metrics = measure(law_over(ADDED), ratios, tmp_path / "metrics.csv")
    swarm = ["--ratios", ratios, "--metrics", metrics, "--kl", 1e4]
    assert olmix("reuse", *given, *swarm, "--out", tmp_path / "answer") == 0
    mix = read_mix(tmp_path / "answer" / "mix.json")
    assert [mix["code:python"], mix["code:rust"]] == pytest.approx([0.2, 0.3], abs=1e-3)


def test_a_revision_takes_the_best_run(olmix, files, tmp_path):
    """Over two collapsed domains there is nothing to regress (App. D.2)."""
    revised = BEFORE | {"pdf": 700}
    given, out = files(revised), tmp_path / "out"
    assert olmix("reuse", *given, "--out", out) == 0
    runs, _, mixes = read_mixes(out / "ratios.csv")
    law = law_over(revised)
    metrics = measure(law, out / "ratios.csv", tmp_path / "metrics.csv")
    swarm = ["--ratios", out / "ratios.csv", "--metrics", metrics]
    assert olmix("reuse", *given, *swarm, "--out", tmp_path / "answer") == 0
    record = json.loads((tmp_path / "answer" / "mix.json").read_text())
    best = law.bpb(mixes).mean(1).argmin()
    assert record["solver"]["run"] == runs[best]
    assert record["weights"] == pytest.approx(mixes[best].tolist())
