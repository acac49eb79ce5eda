"""What no rule makes, asked for by name: the answer is the nearest that there is."""

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("figures/main_result.pdf", "figures/main_results.pdf"),
        ("results/rq77/", "results/rq7"),
        ("claim", "claims"),
        ("results/claim.csv", "results/claims.csv"),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_the_nearest(module_clone, asked, nearest):
    done = module_clone.snakemake("-n", asked)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    line = next(line for line in text.splitlines() if "nothing makes it; nearest: " in line)
    assert line.strip().startswith(asked.rstrip("/"))
    assert nearest in line


@pytest.mark.parametrize(
    ("asked", "made_by"),
    [
        ("results/rq7/summary.json", "`snakemake results/rq7/`"),
        ("results/rq4/fit_by_domain.csv", "results/rq4/fit_by_domains.csv"),
    ],
)
def test_a_file_in_a_questions_folder_is_answered_with_what_makes_it(module_clone, asked, made_by):
    done = module_clone.snakemake("-n", asked)
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert made_by in next(line for line in text.splitlines() if line.strip().startswith(asked))
