"""Every link of the pages leads somewhere, and every command on them is one that there is."""

import argparse
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
README = REPOSITORY / "README.md"
PAGES = sorted(
    {
        README,
        REPOSITORY / "CONTRIBUTING.md",
        REPOSITORY / "CHANGELOG.md",
        *(REPOSITORY / "docs").glob("*.md"),
        *REPOSITORY.glob("[ce]*/README.md"),
    }
)
# What stands for something of the reader's own, and what a test takes in its place.
STANDS_FOR = {
    "results/NAME/": "results/rq7/",
    "figures/NAME.pdf": "figures/solvers.pdf",
    "TARGET": "results/rq7/",
    "scale=NAME": "scale=smoke",
    "scale=MY_SCALE": "scale=smoke",
}
# What looks at what is there rather than makes something has no dry run; scales of somebody's own
# text have tests of their own (test_own_text.py).
NO_DRY_RUN = ("--unlock", "--archive", "--report", "--rulegraph", "scale=mine", "snakemake mix")


def links(page: Path) -> list[tuple[str, str]]:
    """(path, anchor) of every link to something in the repository, and of every picture."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)", text)
    found += [(path, "") for path in re.findall(r'<img src="([^"]+)"', text)]
    return [(path, anchor) for path, anchor in found if "://" not in path]


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_somewhere(page):
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: nothing at {path}"
        assert not anchor or anchor in anchors(target), f"{page.name}: no heading {anchor}"


def test_every_page_can_be_reached_from_the_readme():
    reached, left = {README}, [README]
    while left:
        page = left.pop()
        found = {(page.parent / path).resolve() for path, _ in links(page) if path.endswith(".md")}
        left += found - reached
        reached |= found
    assert {page for page in PAGES if page.parent.name == "docs"} <= reached


def fenced(page: Path) -> list[str]:
    """The lines of the page's blocks of commands, without their comments."""
    blocks = re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.M)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.partition(" #")[0].strip() for line in lines]


def inline(page: Path) -> list[str]:
    """What stands in the text as code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    return re.findall(r"`([^`\n]+)`", text)


def commands(program: str) -> set[str]:
    """Every command of a program on the pages."""
    found = {line for page in PAGES for line in (*fenced(page), *inline(page))}
    return {line for line in found if re.match(rf"{program}(\s|$)", line)}


def test_every_make_target_is_there():
    targets = {line.split()[1] for line in commands("make") if len(line.split()) > 1}
    assert {"tiny", "test", "demo", "report"} <= targets
    done = subprocess.run(
        ["make", "-n", *sorted(targets)], cwd=REPOSITORY, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def parser_of(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, allow_abbrev=False)
    import_module(f"olmix.commands.{name}").add_arguments(parser)
    return parser


@pytest.mark.parametrize("line", sorted(commands("python -m olmix [a-z]+")))
def test_every_command_of_the_library_takes_its_options(line):
    name, *rest = shlex.split(line)[3:]
    parser = parser_of(name)
    if any(line in fenced(page) for page in PAGES):
        parser.parse_args(rest)  # refuses what it does not know, and what is missing
    known = parser._option_string_actions
    assert [word for word in rest if word.startswith("--") and word not in known] == []


def dry_runs() -> dict[tuple[str, ...], set[str]]:
    """Options of Snakemake -> all targets that the pages ask for with them."""
    found: dict[tuple[str, ...], set[str]] = {}
    for line in commands("snakemake"):
        if any(word in line for word in NO_DRY_RUN):
            continue
        for words, example in STANDS_FOR.items():
            line = line.replace(words, example)
        line = re.sub(r"^snakemake( -n)?| -n\b", "", line)
        given = " ".join(re.findall(r"--profile \S+|--config .*", line))
        targets = re.sub(r"--profile \S+|--config .*", "", line).split()
        found.setdefault(tuple(given.split()), set()).update(targets)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("options", sorted(dry_runs()), ids=" ".join)
def test_every_target_of_snakemake_can_be_made(clone, options):
    targets = sorted(dry_runs()[options])
    for part in ("README.md", "CITATION.cff", "docs"):
        (clone.folder / part).symlink_to(REPOSITORY / part)
    scale = next((word for word in options if word.startswith("scale=")), "scale=smoke")
    profile = options[: options.index("--config")] if "--config" in options else options
    command = clone.command("-n", *targets, *profile, "--quiet", "--config", scale)
    done = subprocess.run(
        command, cwd=clone.folder, env=clone.environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
