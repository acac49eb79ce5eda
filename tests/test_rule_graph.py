"""The rule graph from a graph of jobs: what is left out, what is drawn together."""

import re
from pathlib import Path

import pytest

from olmix.errors import OlmixError
from olmix.rule_graph import STAGES, RuleNode, read_dot, rule_graph, stage_of

REPOSITORY = Path(__file__).resolve().parents[1]

# data -> sample -> train -> fit, and a second run of train on what fit proposes.
DOT = r"""digraph snakemake_dag {
    node[shape=box];
	0[label = "answer", color = "0.0 0.6 0.85", style="rounded"];
	1[label = "fit\nstudy: a", color = "0.1 0.6 0.85", style="rounded"];
	2[label = "train\nswarm: a\nshard: 0", color = "0.1 0.6 0.85", style="rounded,dashed"];
	3[label = "sample", color = "0.1 0.6 0.85", style="rounded"];
	4[label = "data", color = "0.1 0.6 0.85", style="rounded"];
	5[label = "train\nswarm: b\nshard: 0", color = "0.1 0.6 0.85", style="rounded"];
	1 -> 0
	5 -> 0
	4 -> 0
	2 -> 1
	4 -> 1
	3 -> 2
	4 -> 2
	4 -> 3
	1 -> 5
	4 -> 5
}
"""
WHERE = {"data": "domains", "sample": "swarm", "train": "swarm", "fit": "regression"}


def names(graph):
    return {(graph.nodes[a].rules, graph.nodes[b].rules) for a, b in graph.edges}


def test_dot_is_read_with_rules_and_dependencies():
    jobs = read_dot(DOT)
    assert jobs.rules[2] == jobs.rules[5] == "train"
    assert jobs.needs[0] == {1, 4, 5}
    assert jobs.ancestors([2]) == {2, 3, 4}


def test_arrows_that_follow_from_others_are_left_out_among_the_jobs():
    reduced = read_dot(DOT).reduced()
    assert {job: set(needs) for job, needs in reduced.needs.items()} == {
        0: {5}, 1: {2}, 2: {3}, 3: {4}, 4: set(), 5: {1},
    }  # fmt: skip


def test_a_circle_of_rules_keeps_both_arrows():
    """Among the rules fit -> train -> fit is a circle, of which nothing may be left out."""
    graph = rule_graph(read_dot(DOT), {**WHERE, "answer": "questions"})
    assert names(graph) == {
        (("data",), ("sample",)),
        (("sample",), ("train",)),
        (("train",), ("fit",)),
        (("fit",), ("train",)),
        (("train",), ("answer",)),
    }
    assert graph.stages == ["domains", "swarm", "regression", "questions"]


def test_rules_with_the_same_place_share_a_box():
    text = DOT.replace("}\n", '\t6[label = "other", color = "x"];\n\t5 -> 6\n}\n')
    stages = {**WHERE, "answer": "questions", "other": "questions"}
    graph = rule_graph(read_dot(text), stages)
    assert RuleNode(("answer", "other"), "questions") in graph.nodes


def test_a_rule_without_a_stage_is_refused_by_name():
    with pytest.raises(OlmixError, match="'answer'"):
        rule_graph(read_dot(DOT), WHERE)


def test_text_that_is_no_graph_is_refused():
    with pytest.raises(OlmixError, match="no job"):
        read_dot("Building DAG of jobs...")


def test_every_file_of_rules_is_a_stage_of_the_picture():
    """A new file must be given its place in the order (or be named as a stage is)."""
    known = set(STAGES)
    for path in (REPOSITORY / "workflow" / "rules").glob("*.smk"):
        written = re.findall(r"^(?:rule|use rule \w+ as) (\w+)", path.read_text(), re.MULTILINE)
        for rule in written:
            stage = stage_of(rule, path.stem)
            assert stage in known, f"rule {rule}: olmix.rule_graph.STAGES has no '{stage}'"
