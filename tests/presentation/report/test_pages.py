import base64
import re

import pandas as pd
import pytest

from olmix.errors import OlmixError
from olmix.presentation.report.pages import html_table, table_page, tables_of


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "solvers.csv"
    path.write_text("solver,bpb,note\nexact,0.123456789,\n<b>,2,None\n")
    return path


def test_a_page_holds_caption_rows_provenance_and_the_file_itself(table):
    page = table_page(table, "0.1 < 0.2", {"scale": "smoke", "commit": "abc", "seeds": 3})
    assert "0.1 &lt; 0.2" in page
    assert "2 rows" in page
    assert "scale: smoke · seeds: 3 · commit: abc" in page
    data = re.search(r"base64,([^']+)'", page)[1]
    assert base64.b64decode(data) == table.read_bytes()
    assert "http" not in page.replace("<!doctype html>", "")


def test_cells_are_escaped_numbers_short_and_blanks_blank(table):
    text = html_table(pd.read_csv(table, keep_default_na=False, na_values=[""]))
    assert "<td>0.12346</td>" in text
    assert "&lt;b&gt;" in text
    assert "<td class='text'></td>" in text
    assert "<td class='text'>None</td>" in text


def test_a_folder_gives_its_tables_and_a_table_gives_itself(table):
    assert tables_of(table.parent) == tables_of(table) == [table]


def test_results_without_tables_are_refused(tmp_path):
    with pytest.raises(OlmixError, match="no tables"):
        tables_of(tmp_path)
