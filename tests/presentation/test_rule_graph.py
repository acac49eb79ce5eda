"""Jobs as Snakemake prints them, and the rules drawn from them."""

from itertools import pairwise

import pytest

from olmix.errors import OlmixError
from olmix.presentation.rule_graph import COLOURS, mermaid, read_arrows

# Two rounds: data, then train and fit twice; the second training needs the first fit.
RULES = ("data", "train", "fit", "train", "fit", "tables", "report")
ARROWS = ((0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (3, 4), (2, 4), (0, 5), (4, 6), (5, 6))
FILES = {"data": "data", "train": "swarms", "fit": "models", "tables": "models"}


def dot(rules=RULES, arrows=ARROWS) -> str:
    nodes = [
        f'\t{job}[label = "{rule}\\nshard: 0", color = "0 0 0"];' for job, rule in enumerate(rules)
    ]
    edges = [f"\t{before} -> {after}" for before, after in arrows]
    return "\n".join(["digraph snakemake_dag {", *nodes, *edges, "}"])


def test_what_follows_from_other_arrows_is_left_out_among_jobs():
    """Among the rules fit -> train -> fit is a circle, of which nothing may be left out."""
    assert read_arrows(dot()) == {
        ("data", "train"), ("train", "fit"), ("fit", "train"), ("data", "tables"),
        ("fit", "report"), ("tables", "report"),
    }  # fmt: skip


def test_a_rule_is_a_box_in_the_colour_of_its_file_and_arrows_back_are_dotted():
    lines = mermaid(read_arrows(dot()), FILES).splitlines()
    assert lines[:2] == ["```mermaid", "flowchart TB"]
    fills = list(COLOURS.values())
    assert f"  classDef swarms fill:{fills[1]},stroke:#555,color:#222" in lines
    assert '  train["train"]:::swarms' in lines
    assert [line for line in lines if ">" in line] == [
        "  data --> train", "  data --> tables", "  train --> fit", "  fit -.-> train",
    ]  # fmt: skip
    assert not any("report" in line for line in lines)


def test_rules_of_a_file_with_the_same_arrows_share_a_box():
    rules = ("data", "rq1", "rq2", "figure")
    arrows = read_arrows(dot(rules, ((0, 1), (0, 2), (1, 3), (2, 3))))
    files = {"data": "data", "rq1": "questions", "rq2": "questions", "figure": "figures"}
    lines = mermaid(arrows, files).splitlines()
    assert '  rq1["rq1<br>rq2"]:::questions' in lines
    assert [line for line in lines if "-->" in line] == ["  data --> rq1", "  rq1 --> figure"]


def test_more_files_than_colours_still_have_one_each():
    names = [f"r{number}" for number in range(len(COLOURS) + 1)]
    text = mermaid(pairwise(names), {name: name for name in names})
    assert text.count("classDef") == len(names)


def test_what_is_no_graph_is_refused():
    with pytest.raises(OlmixError, match="no job in 'Building DAG'; expected snakemake --dag dot"):
        read_arrows("Building DAG")
