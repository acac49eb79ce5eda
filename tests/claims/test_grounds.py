"""Claims on other grounds: over replicas of a law, kept as tables, told in words on one page."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from olmix.__main__ import main
from olmix.claims.board import judge
from olmix.claims.grounds import ground_board, over_replicas, read_ground, write_ground
from olmix.claims.headlines import GROUNDS, HEADLINES, found_in_words
from olmix.claims.page import LABELS, decided, ground_counts, refresh_page, where_it_holds
from olmix.claims.rules import NOT_DECIDABLE, NOT_MEASURED, NOT_REPRODUCED, REPRODUCED
from olmix.claims.settings import load_claims
from olmix.commands import board as board_command
from olmix.errors import OlmixError
from olmix.paths import CONFIG

SETTINGS = load_claims(CONFIG / "claims.yaml")
ONE = SETTINGS.only("C13")
KEPT = {"share_kept": 0.97, "fewer_runs": 0.67, "full_gains": 12.0}


def replica(**values):
    """The estimates of one replica of C13, with intervals that no verdict over replicas reads."""
    rows = [
        {"id": "C13", "part": part, "of": "", "value": value, "low": -np.inf, "high": np.inf}
        for part, value in (KEPT | values).items()
    ]
    return pd.DataFrame(rows)


def test_an_interval_over_replicas_is_their_spread():
    shares = [0.96, 0.97, 0.99, 1.0]
    found = over_replicas([replica(share_kept=share) for share in shares], ONE)
    row = found[found["part"] == "share_kept"].iloc[0]
    half = stats.t.ppf(0.95, 3) * np.std(shares, ddof=1)
    assert row["value"] == pytest.approx(np.mean(shares))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half)
    assert row["replicas"] == 4


def test_more_replicas_do_not_make_a_landscape_better_known():
    few = over_replicas([replica(share_kept=s) for s in (0.9, 1.0) * 2], ONE)
    many = over_replicas([replica(share_kept=s) for s in (0.9, 1.0) * 50], ONE)
    widths = [(found["high"] - found["low"]).iloc[0] for found in (few, many)]
    assert widths[1] > 0.6 * widths[0]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [((0.97, 0.98, 0.99), REPRODUCED), ((0.7, 0.71, 0.72), NOT_REPRODUCED)],
)
def test_the_rule_is_that_of_every_scale(shares, verdict):
    found = over_replicas([replica(share_kept=share) for share in shares], ONE)
    assert ground_board(ONE, found, {})["verdict"].tolist() == [verdict]


def test_what_some_replicas_lack_is_open():
    found = over_replicas([replica(), replica().iloc[1:], replica()], ONE)
    assert found.set_index("part").loc["share_kept", "says"] == "open"
    with pytest.raises(OlmixError, match="1 replica: expected 2 or more"):
        over_replicas([replica()], ONE)


def test_a_whole_board_over_equal_replicas_says_what_each_says(results):
    board, estimates = judge(SETTINGS, results.evidence)
    exact = board.set_index("id")["verdict"]
    pooled = ground_board(SETTINGS, over_replicas([estimates] * 3, SETTINGS), {})
    pooled = pooled.set_index("id")["verdict"]
    decided = exact.isin((REPRODUCED, NOT_REPRODUCED))
    assert (pooled[decided] == exact[decided]).all()


def test_verdicts_are_kept_and_shown(tmp_path):
    found = over_replicas([replica(share_kept=s) for s in (0.97, 0.98, 0.99)], SETTINGS)
    board = ground_board(SETTINGS, found, {"C01": "one size only"})
    write_ground(tmp_path / "measured.csv", board, "3 replicas: snakemake claims")
    kept = read_ground(tmp_path / "measured.csv")
    assert kept.set_index("id").loc["C01", "verdict"] == NOT_MEASURED
    page = tmp_path / "claims.md"
    page.write_text("before\n<!-- grounds -->\nold\n<!-- /grounds -->\nafter\n")
    refresh_page(page, SETTINGS, {"measured": kept})
    text = page.read_text()
    assert text.startswith("before\n<!-- grounds -->\n| ground |")
    assert text.endswith("<!-- /grounds -->\nafter\n")
    assert "in place of training | 1 | 0 | 0 | 22 |" in text
    assert "0.98 [0.951, 1.01]: **reproduced** | It holds under the measured law." in text
    with pytest.raises(OlmixError, match="are by other rules"):
        refresh_page(page, SETTINGS, {"measured": kept.assign(rules="older")})
    assert ground_counts({"measured": kept}).loc["measured", REPRODUCED] == 1


def test_a_line_says_where_a_claim_holds():
    found = {"tiny": REPRODUCED, "tiny-seed1": NOT_REPRODUCED, "measured": REPRODUCED}
    assert where_it_holds(found) == (
        "holds in the first trained world and under the measured law; "
        "fails in the second trained world"
    )
    alike = {"tiny": NOT_REPRODUCED, "tiny-seed1": NOT_REPRODUCED, "published": NOT_DECIDABLE}
    assert where_it_holds(alike) == "fails in both trained worlds; is open on the released runs"
    assert where_it_holds({"tiny": NOT_MEASURED}) == "is measured nowhere"


def test_a_cell_says_what_decides_where_its_number_does_not(tmp_path):
    """C13 keeps its share and not its runs; C12 fails by the share that is shown."""
    found = over_replicas([replica(share_kept=s) for s in (0.97, 0.98, 0.99)], SETTINGS)
    kept = ground_board(SETTINGS, found, {}).set_index("id", drop=False)
    columns = ["verdict", "part", "reason", "value", "low", "high"]
    kept.loc["C13", columns] = [
        NOT_REPRODUCED, "share_kept", "contradicted by: fewer runs 0.5, wanted ≥ 0.57; more",
        1.0, 0.99, 1.01,
    ]  # fmt: skip
    kept.loc["C12", columns] = [
        NOT_REPRODUCED, "share_kept", "contradicted by: share kept 0.8, wanted ≥ 0.9",
        0.8, 0.7, 0.85,
    ]  # fmt: skip
    page = tmp_path / "claims.md"
    page.write_text("<!-- grounds -->\n<!-- /grounds -->\n")
    refresh_page(page, SETTINGS, {"measured": kept.reset_index(drop=True)})
    text = page.read_text()
    assert "| 1 [0.99, 1.01]: **not reproduced** (fewer runs 0.5, wanted ≥ 0.57) |" in text
    assert "| 0.8 [0.7, 0.85]: **not reproduced** |" in text


@pytest.mark.parametrize(
    ("found", "so"),
    [
        ({"measured": REPRODUCED}, True),
        ({"measured": NOT_DECIDABLE, "published": NOT_REPRODUCED}, True),
        ({"tiny": REPRODUCED, "tiny-seed1": REPRODUCED}, True),
        ({"tiny": REPRODUCED, "tiny-seed1": NOT_REPRODUCED}, False),
        ({"tiny": NOT_DECIDABLE, "tiny-seed1": NOT_DECIDABLE}, False),
        ({"tiny": REPRODUCED}, False),
        ({"measured": NOT_MEASURED}, False),
    ],
)
def test_a_claim_is_decided_on_real_data_or_in_both_worlds_alike(found, so):
    assert decided(found) == so


def verdicts(folder, scale, **found):
    """A scale's verdicts as `snakemake claims` writes them."""
    rows = [{"id": name, "verdict": verdict} for name, verdict in found.items()]
    (folder / scale).mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows).assign(value=1.0, rules=SETTINGS.fingerprint)
    table.to_csv(folder / scale / "verdicts.csv", index=False)


def test_claims_asked_again_have_the_later_verdict(tmp_path, capsys):
    results, grounds, readme = tmp_path / "results", tmp_path / "grounds", tmp_path / "README.md"
    page = tmp_path / "claims.md"
    page.write_text("<!-- grounds -->\n<!-- /grounds -->\n")
    readme.write_text("<!-- grounds:summary -->\n<!-- /grounds:summary -->\n")

    def board():
        folders = ["--results", str(results), "--grounds", str(grounds)]
        picture = ["--picture", str(tmp_path / "claims.png")]
        main(["board", *folders, "--page", str(page), "--summary", str(readme), *picture])
        return read_ground(grounds / "tiny.csv").set_index("id")

    every = {claim.name: NOT_DECIDABLE for claim in SETTINGS.claims}
    verdicts(results, "tiny", **every)
    assert (board()["by"] == "tiny").all()
    verdicts(results, "tiny-again", C01=REPRODUCED, C12=NOT_DECIDABLE)
    found = board()
    assert list(found.index) == list(every)
    assert found.loc[["C01", "C02", "C12"], "by"].tolist() == ["tiny-again", "tiny", "tiny-again"]
    assert found.loc["C01", "verdict"] == REPRODUCED

    # Asked another time for other claims, without the results of the first: nothing is lost.
    verdicts(results, "tiny-again", C18=REPRODUCED)
    (results / "tiny" / "verdicts.csv").unlink()
    found = board()
    assert (found["by"] == "tiny-again").sum() == 3
    assert (found["verdict"] == REPRODUCED).sum() == 2
    assert list(found.index) == list(every)
    assert "README.md: 23 claims on 1 grounds" in capsys.readouterr().out

    text = readme.read_text()
    assert "23 claims of the paper were judged" in text and "0 are decided" in text
    assert "| trained here | small models, trained in a synthetic world | 2 | 0 | 21 | 0 |" in text
    assert "Of these, 2 hold on every ground that decides them, 0 fail on every one" in text
    assert "the grounds differ about 0, and 21 are open on all." in text
    kept = "The share of the gain that is kept is 100 % trained here, **not decidable**."
    assert f"| {HEADLINES['C12'].claim} (C12) | {kept} {SETTINGS.why['C12']} |" in text
    assert "C18" not in text and "| C18 |" in page.read_text()


def row(verdict, value=np.nan, low=np.nan, high=np.nan):
    return pd.Series({"verdict": verdict, "value": value, "low": low, "high": high})


def test_a_headline_says_every_number_with_its_verdict():
    found = {
        "tiny": row(NOT_REPRODUCED, 0.817, 0.7998, 0.834),
        "tiny-seed1": row(NOT_REPRODUCED, 0.8, -0.05, 0.86),
        "measured": row(NOT_DECIDABLE, 0.92, 0.54, 1.288),
        "published": row(NOT_MEASURED),
    }
    assert found_in_words(HEADLINES["C12"], found) == (
        "The share of the gain that is kept is 82 % (80 to 83) trained here and 80 % (−5 to 86) in "
        "the second world, **not reproduced**; 92 % (54 to 129) by the measured law, "
        "**not decidable**."
    )
    exact = {"elsewhere": row(REPRODUCED, 3.05, 3.05, 3.05)}
    assert found_in_words(HEADLINES["C16"], exact) == (
        "The steps are fewer by a factor of 3.05 on elsewhere, **reproduced**."
    )
    assert "nowhere" in found_in_words(HEADLINES["C16"], {"tiny": row(NOT_MEASURED)})


def test_headlines_are_claims_and_every_ground_has_its_words():
    assert set(HEADLINES) <= {claim.name for claim in SETTINGS.claims}
    assert set(GROUNDS) == set(LABELS)


@pytest.mark.parametrize("name", ["README.md", "docs/claims.md"])
def test_the_pages_are_what_the_kept_verdicts_render(repository, tmp_path, name):
    kept = {path.stem: read_ground(path) for path in sorted((CONFIG / "grounds").glob("*.csv"))}
    text = (repository / name).read_text(encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    refresh_page(page, SETTINGS, kept)
    assert page.read_text(encoding="utf-8") == text, "python -m olmix board writes it again"


def test_a_sentence_says_why_wherever_a_claim_fails():
    for path in Path(CONFIG / "grounds").glob("*.csv"):
        table = read_ground(path)
        failed = set(table.loc[table["verdict"] == NOT_REPRODUCED, "id"])
        assert failed <= set(SETTINGS.why), path


def test_the_kept_verdicts_are_by_todays_rules():
    for path in Path(CONFIG / "grounds").glob("*.csv"):
        assert (read_ground(path)["rules"] == SETTINGS.fingerprint).all(), path


def test_a_board_of_nothing_leaves_the_pages_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- grounds -->\nwhat stood here\n<!-- /grounds -->\n")
    empty, parser = tmp_path / "nowhere", argparse.ArgumentParser()
    board_command.add_arguments(parser)
    given = ["--results", empty, "--grounds", empty, "--page", page, "--summary", page]
    with pytest.raises(OlmixError, match="nowhere: no verdicts are kept there, and none found in"):
        board_command.run(parser.parse_args([str(word) for word in given]))
    assert "what stood here" in page.read_text()
