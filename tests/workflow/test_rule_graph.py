"""The pictures of the rule graph, made by the workflow of itself."""

import pytest

pytestmark = pytest.mark.slow

NEW = """

rule novelty:
    input:
        "results/rq7",
    output:
        "results/novelty.txt",
    shell:
        "touch {output}"
"""


def described(clone) -> dict[str, str]:
    """What the log says is on each picture."""
    text = (clone.folder / "results" / "smoke" / "logs" / "draw_rule_graph.log").read_text()
    lines = [line for line in text.splitlines() if "figures/rule_graph" in line]
    return {line.split(": ")[0].split()[-1]: line for line in lines}


def test_every_picture_is_drawn_and_a_new_rule_appears_by_itself(clone):
    done = clone.snakemake("rule_graph", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = clone.folder / "figures"
    shown = described(clone)
    assert {"figures/rule_graph.pdf", "figures/rule_graph/rq1.pdf"} <= set(shown)
    for name in shown:
        assert (clone.folder / name).stat().st_size > 5000
        assert (clone.folder / name).with_suffix(".png").stat().st_size > 5000
    assert "updates: sample_probe" in shown["figures/rule_graph.pdf"]
    assert "update_mixes" not in shown["figures/rule_graph/rq1.pdf"]
    assert shown["figures/rule_graph/rq1.pdf"].endswith("questions: rq1; figures: draw_figure")
    assert clone.planned("rule_graph") == {}
    before = (figures / "rule_graph.pdf").read_bytes()

    tables = clone.folder / "workflow" / "rules" / "tables.smk"
    tables.write_text(tables.read_text() + NEW)
    contents = clone.folder / "Snakefile"
    contents.write_text(contents.read_text() + '        "results/novelty.txt",\n')
    done = clone.snakemake("figures/rule_graph.pdf", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tables: make_tables, novelty" in described(clone)["figures/rule_graph.pdf"]
    assert (figures / "rule_graph.pdf").read_bytes() != before
