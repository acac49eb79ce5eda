import json

import numpy as np
import pandas as pd
import pytest

from olmix.errors import OlmixError
from olmix.published.catalogue import ReleasedSwarm, find_swarms, read_released


@pytest.fixture
def release(make_release, tmp_path):
    return make_release(tmp_path / "olmix", runs=12)


@pytest.fixture
def read(release, settings, topics):
    def read(name, **changes):
        known = settings["swarms"][name]
        return read_released(
            release.folder / known["folder"], settings | changes, known | {"runs": 12}, topics
        )

    return read


def edit(folder, file, change):
    """Rewrite one table of a swarm through a function of its text."""
    path = folder / file
    path.write_text(change(path.read_text()))


def test_all_known_swarms_are_found_by_name(release, settings):
    found = find_swarms(release.folder, settings["swarms"])
    assert list(found) == list(settings["swarms"])


def test_a_nested_or_a_single_folder_is_found_too(release, settings):
    single = release.folder / settings["swarms"]["dclm"]["folder"]
    assert find_swarms(single, settings["swarms"]) == {"dclm": single}
    assert "dclm" in find_swarms(release.folder.parent, settings["swarms"])


def test_unlisted_folders_keep_their_names(release, settings):
    source = release.folder / settings["swarms"]["dclm"]["folder"]
    for other in ("other_swarm", "deep/dclm_swarm"):
        target = release.folder / other
        target.mkdir(parents=True)
        for file in source.iterdir():
            (target / file.name).write_bytes(file.read_bytes())
    found = find_swarms(release.folder, settings["swarms"])
    assert found["other_swarm"] == release.folder / "other_swarm"
    # Two folders of a listed name: both are there, told apart by their paths.
    assert found["dclm"] == release.folder / "dclm_swarm"
    assert found["deep-dclm_swarm"] == release.folder / "deep" / "dclm_swarm"
    assert len(found) == len(settings["swarms"]) + 2


def test_nothing_there(tmp_path, settings):
    with pytest.raises(OlmixError, match=r"no ratios\.csv in or below"):
        find_swarms(tmp_path, settings["swarms"])
    with pytest.raises(OlmixError, match="no folder"):
        find_swarms(tmp_path / "none", settings["swarms"])


def test_names_become_ours(read):
    assert all(name.startswith("dclm:") for name in read("dclm").table.domains)
    for name, count in (("update5", 21), ("full_recomputation", 21)):
        assert sum(n.startswith("pdf:") for n in read(name).table.domains) == count
    assert "pdf" in read("update2").table.domains
    assert set(read("update3").table.domains) == {"existing", "pdf"}
    # The first update calls its virtual domain dclm.
    first = read("update1")
    assert "existing" in first.table.domains
    assert "dclm" not in first.table.domains
    assert first.prior.names == first.table.domains


def test_extra_metrics_are_left_out_and_said(read):
    swarm = read("dclm")
    assert len(swarm.table.tasks) == 6
    notes = " | ".join(swarm.table.notes)
    assert "2 metrics outside the 52 left out" in notes
    assert "wildchat_masked_ppl" in notes
    assert "6 of the paper's 52 tasks" in notes
    assert "24 domains renamed" in notes


def test_a_broken_extra_metric_does_no_harm(read, release, settings):
    folder = release.folder / settings["swarms"]["dclm"]["folder"]
    frame = pd.read_csv(folder / "metrics.csv", index_col=0)
    frame.loc[3, "wildchat_masked_ppl"] = np.nan
    frame.to_csv(folder / "metrics.csv")
    assert len(read("dclm").table) == 12


def test_missing_values_are_refused_or_left_out(read, release, settings):
    folder = release.folder / settings["swarms"]["dclm"]["folder"]
    frame = pd.read_csv(folder / "metrics.csv", index_col=0)
    frame.loc[3, "lambada"] = np.nan
    frame.to_csv(folder / "metrics.csv")
    with pytest.raises(OlmixError, match=r"metrics\.csv: line 5, column 'lambada': ''"):
        read("dclm")
    swarm = read("dclm", missing="drop-runs")
    assert len(swarm.table) == 11
    assert any("1 runs left out, values missing" in note for note in swarm.table.notes)
    assert any("11 runs, 12 were released" in note for note in swarm.table.notes)
    assert "lambada" not in read("dclm", missing="drop-tasks").table.tasks


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text[:-40],
            r"metrics\.csv: line 13 has \d+ values, expected the header's 12",
        ),
        (lambda text: text.replace("lambada", "coqa:rc::gen2mc", 1), "appears more than once"),
        (lambda text: "", r"metrics\.csv: not a CSV table"),
        (lambda text: "version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (lambda text: "\x00\x01" + text[50:], r"metrics\.csv"),
    ],
)
def test_damage_ends_in_one_line(read, release, settings, change, message):
    edit(release.folder / settings["swarms"]["dclm"]["folder"], "metrics.csv", change)
    with pytest.raises(OlmixError, match=message) as error:
        read("dclm")
    assert "\n" not in str(error.value)


def test_two_columns_for_one_domain_are_refused(read, release, settings):
    folder = release.folder / settings["swarms"]["update5"]["folder"]
    edit(folder, "ratios.csv", lambda t: t.replace("s2pdfv1:adult", "s2pdf:games", 1))
    with pytest.raises(OlmixError, match="both stand for 'pdf:games'"):
        read("update5")


def test_without_meta_the_mean_mix_stands_in(read, release, settings):
    (release.folder / settings["swarms"]["dclm"]["folder"] / "meta.json").unlink()
    swarm = read("dclm")
    assert swarm.tokens is None
    np.testing.assert_allclose(swarm.prior.weights, swarm.table.mixes.mean(0))
    assert any("no meta.json" in note for note in swarm.table.notes)


def test_meta_must_know_every_domain(read, release, settings):
    path = release.folder / settings["swarms"]["dclm"]["folder"] / "meta.json"
    meta = json.loads(path.read_text())
    del meta["token_counts"]["games"]
    path.write_text(json.dumps(meta))
    with pytest.raises(OlmixError, match=r"token_counts has no 'dclm:games' \(1 such\)"):
        read("dclm")


def test_saved_and_loaded_is_the_same(read, tmp_path):
    swarm = read("update2")
    swarm.save(tmp_path / "update2")
    again = ReleasedSwarm.load(tmp_path / "update2")
    assert again.table.domains == swarm.table.domains
    np.testing.assert_allclose(again.table.mixes, swarm.table.mixes, atol=1e-12)
    np.testing.assert_array_equal(again.table.metrics, swarm.table.metrics)
    np.testing.assert_array_equal(again.tokens, swarm.tokens)
    np.testing.assert_allclose(again.prior.weights, swarm.prior.weights, atol=1e-12)


def test_the_real_files(published, settings, topics):
    swarm = read_released(published, settings, settings["swarms"]["dclm"], topics)
    assert (len(swarm.table), len(swarm.table.domains), len(swarm.table.tasks)) == (127, 24, 52)
    assert swarm.prior["dclm:health"] == pytest.approx(0.10085821548021548)
    assert not any("were released" in note for note in swarm.table.notes)
