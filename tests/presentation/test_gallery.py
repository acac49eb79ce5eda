"""The README quotes results: its blocks are what the numbers render, the numbers what was found."""

import re

import numpy as np
import pytest
import yaml
from PIL import Image

from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.presentation import blocks, gallery
from olmix.presentation.blocks import refresh
from olmix.presentation.codecheck import codecheck

ENTRY = {"c": 3, "improvement": 12.0, "low": 11.0, "high": 12.5, "proxy_runs": 272,
         "share_of_full_recomputation": 0.98, "fewer_runs": 0.67}  # fmt: skip
NUMBERS = {
    "scale": "tiny",
    "commit": "abc",
    "notice": None,
    "runs": {"proxy": 1234, "target": 56},
    "seeds": 3,
    "target_repeats": 4,
    "system": "Linux",
    "python": "3.11",
    "versions": {"torch": "2.13"},
    "noise": [{"model": "proxy", "mix": "olmix_base", "seeds": 4, "sd": 0.0123, "percent": 1.2}],
    "time": {"jobs": 1000, "hours": 1.26},
    "updates": {
        "strategies": {
            "full_recomputation-c3": {
                **ENTRY, "strategy": "full_recomputation", "improvement": 12.2, "proxy_runs": 832,
            },
            "partial_mixture_reuse-c3": {**ENTRY, "strategy": "partial_mixture_reuse"},
        },
        "data_efficiency": 3.05,
    },
    "questions": [
        {"question": "rq7", "title": "RQ7 Which solver?", "command": "snakemake results/rq7/",
         "figures": ["solvers"], "hours": 0.0367, "gpu_hours": 1234.5},
        {"question": "rq1", "title": "RQ1", "command": "snakemake results/rq1/",
         "figures": ["proxy_size"], "hours": None, "gpu_hours": None},
    ],
}  # fmt: skip


def block(name: str, inside: str = "old") -> str:
    return f"above\n<!-- gallery:{name} -->\n{inside}\n<!-- /gallery:{name} -->\nbelow\n"


def test_blocks_and_manifest_are_what_the_numbers_render(repository):
    numbers = read_json(repository / "figures" / "gallery" / "numbers.json")
    pages = [repository / "README.md", *(repository / "docs").glob("*.md")]
    shown = set()
    for page in pages:
        text = page.read_text(encoding="utf-8")
        shown |= set(re.findall(r"<!-- gallery:(\w+) -->", text))
        assert refresh(text, numbers, page.name) == text, f"{page.name}: run `make gallery`"
    assert shown == set(blocks.BLOCKS), "every block is on some page"
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    manifest = (repository / "codecheck.yml").read_text(encoding="utf-8")
    assert codecheck(citation, numbers["questions"]) == manifest


def test_numbers_are_those_of_the_results(repository):
    path = repository / "figures" / "gallery" / "numbers.json"
    made = repository / "results" / "updates" / "provenance.json"
    if not path.is_file() or not made.is_file():
        pytest.skip(f"there are no numbers ({path}) or no results ({made.parent}) to compare")
    numbers = read_json(path)
    if read_json(made)["scale"] != numbers["scale"]:
        pytest.skip(f"results/ are of another scale than the gallery's, {numbers['scale']}")
    found = gallery.result_numbers(repository / "results", numbers["findings"])
    for key, value in found.items():
        assert numbers[key] == value, f"{key}: run `make gallery`"


def test_pictures_are_small_and_every_link_has_its_picture(repository):
    folder = repository / "figures" / "gallery"
    for picture in folder.glob("*.png"):
        # The scoreboard is a page of text.
        limit = 600_000 if picture.stem == "claims" else 150_000
        assert picture.stat().st_size < limit, picture
    if (folder / "numbers.json").is_file():
        for entry in read_json(folder / "numbers.json")["questions"]:
            for figure in entry["figures"]:
                assert (folder / f"{figure}.png").is_file(), figure


def test_a_picture_shrinks_and_keeps_its_look(tmp_path):
    colours = np.zeros((400, 600, 3), np.uint8)
    colours[:, 300:] = (0, 114, 178)
    Image.fromarray(colours).save(tmp_path / "large.png")
    gallery.shrink(tmp_path / "large.png", tmp_path / "small" / "large.png")
    with Image.open(tmp_path / "small" / "large.png") as image:
        assert image.size == (600, 400)
        assert image.mode == "RGB", "every colour is its own, none of a palette"
        assert image.getpixel((400, 100)) == (0, 114, 178)


def test_only_the_inside_of_blocks_changes():
    text = refresh(block("main") + block("questions"), NUMBERS)
    assert text.count("above\n") == text.count("below\n") == 2
    assert "old" not in text
    assert blocks.main(NUMBERS) in text
    assert refresh(text, NUMBERS) == text


@pytest.mark.parametrize(
    ("text", "what"),
    [(block("nonsense"), "nonsense"), ("<!-- gallery:main -->\nold", "not closed")],
)
def test_unknown_and_open_blocks_are_refused(text, what):
    with pytest.raises(OlmixError, match=what):
        refresh(text, NUMBERS)


def test_main_states_gains_runs_and_data_efficiency():
    text = blocks.main(NUMBERS)
    assert "1,234 small proxy models and 56 target models were really trained" in text
    assert "by 12.2 % of its bits per byte. It takes 832 proxy runs" in text
    assert "| partial mixture reuse | +12.0 % (11.0 to 12.5) | 98 % | 272 (−67 %) |" in text
    assert "in 3.05 times fewer training steps" in text
    assert "were made up by a law" in blocks.main({**NUMBERS, "notice": "SIMULATED"})


def test_questions_give_command_figures_time_and_gpu_hours():
    lines = blocks.questions(NUMBERS).splitlines()
    assert lines[2] == (
        "| RQ7 Which solver? | `snakemake results/rq7/` | "
        "[solvers](../figures/gallery/solvers.png) | 2 min | 1,234 |"
    )
    assert lines[3].endswith("| – | – |")


def test_what_was_measured_is_told_with_its_scatter_and_its_cost():
    text = blocks.measured(NUMBERS)
    assert (
        "proxy, olmix base mix | standard deviation 0.0123 BPB (1.2 %) over 4 data orders" in text
    )
    assert "| compute spent | 1.3 hours on one core, in 1,000 jobs |" in text
    assert "| software | torch 2.13 |" in text


def test_the_manifest_names_every_figure_and_the_papers_authors(repository):
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    content = yaml.safe_load(codecheck(citation, NUMBERS["questions"]))
    files = [entry["file"] for entry in content["manifest"]]
    assert files[:2] == ["figures/solvers.pdf", "figures/proxy_size.pdf"]
    assert content["paper"]["authors"][0] == {"name": "Mayee F. Chen"}
    assert all(entry["comment"] for entry in content["manifest"])


@pytest.fixture
def results(tmp_path):
    """A results folder with the updates' answer."""
    folder = tmp_path / "results"
    record = {"scale": "smoke", "commit": "abc", "seeds": 3, "target_repeats": 1}
    record |= {"system": "Linux-6.1-x86_64", "python": "3.11", "versions": {}}
    write_json(folder / "updates" / "provenance.json", record)
    write_json(folder / "updates" / "summary.json", NUMBERS["updates"])
    return folder


def test_numbers_come_from_summaries(results):
    numbers = gallery.result_numbers(results, ["updates"])
    assert numbers["scale"] == "smoke"
    assert numbers["updates"] == NUMBERS["updates"]
    assert (numbers["system"], numbers["noise"]) == ("Linux", [])
    assert "+12.2 %" in numbers["findings"]["updates"]


def test_hours_come_from_the_cost_report(tmp_path):
    path = tmp_path / "questions.csv"
    assert gallery.cost_column(path, "device_hours") == {}
    path.write_text("question,device_hours\nrq7,12.5\n")
    assert gallery.cost_column(path, "device_hours") == {"rq7": 12.5}
