from olmix.corpus.edits import without_references

BODY = "What was found, at some length.\n" * 5


def test_a_list_of_references_is_cut_with_its_heading():
    for heading in ("References", "## References", "7. BIBLIOGRAPHY", "**Works cited**"):
        assert without_references(f"{BODY}{heading}\n[1] A. Uthor.\n") == BODY


def test_a_heading_of_the_contents_page_is_none():
    text = f"Contents\nReferences\n{BODY}"
    assert without_references(text) == text


def test_words_in_a_sentence_are_none():
    text = f"{BODY}References are given below.\n"
    assert without_references(text) == text
