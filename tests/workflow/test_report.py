"""The HTML report in a browser: categories, figures really drawn, captions with numbers."""

import json
import re

import pytest

from olmix.files import read_json, write_text
from olmix.presentation.report.categories import category
from olmix.presentation.report.landing import landing_text

pytestmark = pytest.mark.slow

FIGURES = ("solvers", "solvers_sources")
TARGETS = [
    *(f"figures/{name}.pdf" for name in FIGURES),
    "results/report/rq7",
    "results/report/tables",
    "results/report/explorer.html",
]


@pytest.fixture(scope="module")
def reported(module_clone):
    """A clone with a report of RQ7 and of the descriptive tables, and a first page of them."""
    for arguments in (("--cores", "2"), ("--report", "report.html")):
        done = module_clone.snakemake(*arguments, *TARGETS)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        write_landing(module_clone.folder)
    return module_clone


def write_landing(folder):
    """The first page, which the workflow writes once all questions are answered."""
    answer, board = folder / "results" / "rq7", folder / "board.csv"
    board.write_text("id,verdict\nC01,reproduced\nC02,not decidable\n")
    made = {"rq7": read_json(answer / "provenance.json")}
    answers = {"rq7": answer, "claims": board}
    figure = folder / "figures" / "solvers.png"
    text = landing_text("smoke", [("proxy", 30)], answers, made, figure)
    write_text(folder / "results" / "report" / "landing.rst", text)


@pytest.fixture
def page(reported, browser):
    browser.get((reported.folder / "report.html").as_uri())
    browser.find_element("css selector", "nav ul")
    return browser


def menu(page) -> list[str]:
    return [entry.text for entry in page.find_elements("css selector", "nav ul li a")]


def click(page, text: str) -> None:
    page.find_element("xpath", f'//nav//a[contains(., "{text}")]').click()


def results(page) -> dict[str, list]:
    """Label -> its two buttons: look at it, read about it."""
    page.find_element("css selector", "nav table tbody tr")
    rows = page.find_elements("css selector", "nav table tbody tr")
    return {
        row.find_element("css selector", "td").text: row.find_elements("css selector", "td a")
        for row in rows
    }


def test_opens_with_what_it_is_and_a_category_per_question(page):
    assert "data mixing throughout LM development" in page.find_element("tag name", "body").text
    assert menu(page)[-2:] == [category("rq7"), category("tables")]


def test_the_first_page_has_a_figure_the_counts_and_then_the_findings(page):
    image = page.find_element("css selector", "main img[src^='data:image/png'], .prose img")
    assert page.execute_script("return arguments[0].naturalWidth", image) > 500
    counts = page.find_element("css selector", ".prose table")
    assert "reproduced" in counts.text
    finding = page.find_element("xpath", "//*[contains(text(), 'predicts the lowest BPB')]")
    assert image.location["y"] < counts.location["y"] < finding.location["y"]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_drawn_and_captions_state_numbers(page, figure):
    click(page, category("rq7"))
    look, about = results(page)[f"Figure: {figure}"]
    look.click()
    image = page.find_element("css selector", "img[src^='data:image/png']:not(nav img)")
    assert page.execute_script("return arguments[0].naturalWidth", image) > 500
    about.click()
    caption = page.find_element("css selector", "nav .prose").text
    assert len(re.findall(r"\d\.\d{3}", caption)) >= 8, caption


def test_every_table_opens_with_its_caption_and_rows(page, reported):
    for question in ("rq7", "tables"):
        page.refresh()
        click(page, category(question))
        wanted = {path.stem for path in (reported.folder / "results" / question).glob("*.csv")}
        shown = {label.removeprefix("Table: ") for label in results(page) if "Table" in label}
        assert shown == wanted
        for table in wanted:
            results(page)[f"Table: {table}"][0].click()
            page.switch_to.frame(page.find_element("css selector", "iframe"))
            try:
                assert page.find_element("tag name", "h2").text == table
                assert re.search(r"\d", page.find_element("tag name", "p").text)
                assert page.find_elements("css selector", "tbody tr")
            finally:
                page.switch_to.default_content()


def test_the_explorer_works_inside_the_report(page):
    from selenium.webdriver.common.keys import Keys

    click(page, category("explorer"))
    results(page)["Explorer"][0].click()
    page.switch_to.frame(page.find_element("css selector", "iframe"))
    try:
        shown, before = (
            page.find_element("id", "gain").text,
            page.find_element("id", "gain-bpb").text,
        )
        assert re.fullmatch(r"[+−]\d+\.\d %", shown)
        slider = page.find_element("css selector", "input[aria-label='KL weight λ, slider']")
        slider.send_keys(Keys.ARROW_LEFT * 10)
        page.find_element("xpath", f"//*[@id='gain-bpb' and not(text()='{before}')]")
    finally:
        page.switch_to.default_content()


def test_runtimes_are_drawn(page):
    click(page, "Statistics")
    assert page.find_element("css selector", "#runtimes canvas, #runtimes svg").size["width"] > 100


def test_nothing_is_fetched_from_outside(page):
    fetched = page.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert [name for name in fetched if name.startswith("http")] == []
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_captions_are_those_beside_the_files(reported):
    text = (reported.folder / "report.html").read_text(encoding="utf-8")
    found = json.loads(
        re.search(r"(?:var|let|const) results = (\{.*?\});?\s*</script>", text, re.S)[1]
    )
    for figure in FIGURES:
        beside = (reported.folder / "figures" / f"{figure}.rst").read_text(encoding="utf-8")
        assert beside.split(". ")[0] in found[f"figures/{figure}.png"]["caption"]


def test_a_report_of_missing_results_says_which(clone):
    done = clone.snakemake("--report", "report.html", "figures/solvers.pdf")
    assert done.returncode != 0
    assert "figures/solvers.png" in done.stdout + done.stderr
    assert not (clone.folder / "report.html").exists()
