"""Public texts in the graph: `paper` on a fresh clone, and `rehearsal`, the same but small."""

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plans(module_clone):
    clone = module_clone
    return {scale: clone.planned(scale=scale) for scale in ("paper", "rehearsal")}


def test_a_rehearsal_has_the_rules_of_the_paper_and_one_that_gathers_its_text(plans):
    assert set(plans["rehearsal"]) == set(plans["paper"]) | {"gather_text"}


def test_all_at_paper_is_the_papers(plans):
    assert not {"methods", "noise", "claims", "choose_recomputed", "sample_probe"} & set(
        plans["paper"]
    )


@pytest.mark.parametrize("target", ["results/methods", "results/noise", "results/claims.csv"])
def test_ours_is_made_when_asked_for_by_name(module_clone, target):
    jobs = module_clone.planned(target, scale="paper")
    assert target.split("/")[1].removesuffix(".csv") in jobs


def test_ours_is_made_where_the_config_says_so(module_clone):
    done = module_clone.snakemake("-n", "results/updates", scale="paper", config=("ours=true",))
    assert "Choosing what main recomputes" in done.stdout + done.stderr


def test_a_dry_run_lists_download_to_figure_and_ends_with_the_data_plan(module_clone):
    done = module_clone.snakemake("-n", "figures/main_results.pdf", scale="paper")
    text = done.stdout + done.stderr
    for rule in ("list_source", "download_source", "tokenize_source", "join_source", "build_suite",
                 "fetch_tokenizer", "check_data", "train_targets", "draw_figure"):  # fmt: skip
        assert f"\n{rule} " in text
    assert "Data plan: from https://huggingface.co to data/paper" in done.stdout[-3000:]
    assert "licence odc-by; access open" in done.stdout[-3000:]


def test_local_paths_take_the_place_of_a_download(module_clone):
    path = module_clone.folder / "config" / "corpora.yaml"
    before = path.read_text()
    try:
        path.write_text(
            before.replace("  wikipedia:\n", "  wikipedia:\n    paths: [/mine/*.jsonl]\n")
        )
        done = module_clone.snakemake(
            "-n", "results/paper/join_source/wikipedia.json", scale="paper"
        )
        text = done.stdout + done.stderr
        assert "tokenize_source" in text
        assert "download_source" not in text
        assert "its 'paths' in config/corpora.yaml" in text
    finally:
        path.write_text(before)
