import argparse
import csv
import json
from pathlib import Path

import pytest

from olmix.commands import plan
from olmix.errors import OlmixError

PAPER = Path(__file__).resolve().parents[2] / "config/updates/paper.yaml"


def run(*arguments):
    parser = argparse.ArgumentParser()
    plan.add_arguments(parser)
    plan.run(parser.parse_args([str(argument) for argument in arguments]))


def domain_file(path, token_counts):
    path.write_text(json.dumps({"token_counts": token_counts}))
    return path


@pytest.fixture
def before(tmp_path):
    return domain_file(tmp_path / "old.json", {"web": 1000, "code": 200, "pdf": 100})


@pytest.fixture
def after(tmp_path):
    tokens = {"web": 1000, "code": 200, "pdf:maths": 60, "pdf:law": 40, "wiki": 5}
    return domain_file(tmp_path / "new.json", tokens)


def totals(output):
    return [line.split()[1:] for line in output.splitlines() if line.startswith("  total")]


def test_paper_totals(capsys):
    run("--updates", PAPER)
    assert totals(capsys.readouterr().out) == [
        ["267", "416", "832"], ["77", "140", "268"], ["76", "108", "216"], ["97", "136", "272"]
    ]  # fmt: skip


def test_choice_of_strategy_and_csv(tmp_path, capsys):
    path = tmp_path / "plan.csv"
    run("--updates", PAPER, "--strategy", "swarm_reuse", "--c", 3, "--csv", path)
    assert totals(capsys.readouterr().out) == [["268"]]
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["runs"]) for row in rows] == [64, 64, 6, 6, 5, 123]
    assert rows[1] == {
        "strategy": "swarm_reuse",
        "c": "3",
        "stage": "add_stack_edu",
        "domains_recomputed": "39",
        "runs": "64",
    }


def update_rows(output):
    return [line.split()[1:] for line in output.splitlines() if line.startswith("  update")]


def test_from_two_domain_files(before, after, capsys):
    run("--from", before, "--to", after, "--partition", "pdf=pdf:maths,pdf:law", "--c", 1)
    output = capsys.readouterr().out
    assert "update: partition pdf into 2; add wiki" in output
    # 5 domains; 4 old runs stay usable; one virtual domain, two parts and wiki.
    assert update_rows(output) == [["5", "6"], ["5", "2"], ["4", "5"]]
    assert "partial mixture reuse: same as full" in output


def test_without_partition_it_is_a_removal_and_additions(before, after, capsys):
    run("--from", before, "--to", after, "--c", 1, "--recompute", "code")
    output = capsys.readouterr().out
    assert "add pdf:maths, pdf:law, wiki; remove pdf" in output
    # No old run is usable without pdf; partial: the virtual domain is web alone.
    assert update_rows(output) == [["5", "6"], ["5", "6"], ["4", "5"], ["5", "6"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected either --updates FILE, or both"),
        (["--from", "OLD"], "expected either"),
        (["--updates", PAPER, "--from", "OLD", "--to", "NEW"], "expected either"),
        (["--updates", PAPER, "--recompute", "arxiv"], "go with --from and --to"),
        (["--from", "OLD", "--to", "OLD"], "the two domain sets are the same"),
        (["--from", "OLD", "--to", "NEW", "--partition", "pdf"], "expected WHOLE=PART1,PART2"),
        (["--from", "OLD", "--to", "NEW", "--partition", "pdf=a,b"], "no domain 'a'"),
        (["--updates", PAPER, "--c", "0"], "multiplier c is 0"),
        (["--updates", "missing.yaml"], "missing.yaml: no such file"),
    ],
)
def test_mistakes_are_refused(arguments, message, before, after):
    files = {"OLD": before, "NEW": after}
    with pytest.raises(OlmixError, match=message):
        run(*(files.get(argument, argument) for argument in arguments))
