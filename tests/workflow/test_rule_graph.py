"""The page of the rules and the README's graph are what the workflow says of itself today."""

import shutil

import pytest

pytestmark = pytest.mark.slow

NEW = """

rule novelty:
    input:
        "results/rq7",
    output:
        "results/novelty.txt",
    script:
        "../../scripts/novelty.py"
"""


def test_the_page_is_up_to_date_and_a_new_rule_appears_by_itself(clone, repository):
    shutil.copy(repository / "README.md", clone.folder)
    done = clone.snakemake("rule_graph", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    page, readme = clone.folder / "docs" / "rule_graph.md", clone.folder / "README.md"
    for made in (page, readme):
        kept = repository / made.relative_to(clone.folder)
        assert made.read_text() == kept.read_text(), "run `snakemake rule_graph --force`"
    assert '  update_mixes["update_mixes"]:::updates' in readme.read_text()
    assert "novelty" not in page.read_text()

    tables = clone.folder / "workflow" / "rules" / "tables.smk"
    tables.write_text(tables.read_text() + NEW)
    contents = clone.folder / "Snakefile"
    contents.write_text(contents.read_text() + '        "results/novelty.txt",\n')
    done = clone.snakemake("docs/rule_graph.md", "--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert '  novelty["novelty"]:::tables' in page.read_text()
