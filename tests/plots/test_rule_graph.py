"""The picture of the rule graph shows every rule and every stage."""

from olmix.plots.rule_graph import draw_rule_graph
from olmix.plots.style import save, style
from olmix.rule_graph import RuleGraph, RuleNode

GRAPH = RuleGraph(
    (
        RuleNode(("build_domains",), "domains"),
        RuleNode(("sample_swarm",), "swarm"),
        RuleNode(("train_proxies",), "swarm"),
        RuleNode(tuple(f"rq{n}" for n in range(1, 8)), "questions"),
        RuleNode(("novel",), "a_new_stage"),
    ),
    frozenset({(0, 1), (1, 2), (2, 3), (3, 1), (2, 4)}),
)


def test_every_rule_and_stage_is_written(tmp_path):
    with style():
        figure = draw_rule_graph(GRAPH, "a note")
        texts = [text.get_text() for text in figure.axes[0].texts]
        assert " ".join(texts).split().count("rq4") == 1
        assert {"build_domains", "novel", "domains", "a_new_stage", "a note"} <= set(texts)
        save(figure, tmp_path / "graph.pdf")
    assert (tmp_path / "graph.png").stat().st_size > 5000


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    with style():
        for name in ("one", "two"):
            save(draw_rule_graph(GRAPH), tmp_path / f"{name}.pdf")
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()
