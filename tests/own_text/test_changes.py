"""What changed in a folder is seen from what its domains hold."""

from olmix.own_text.changes import Changes, find_changes
from olmix.own_text.prints import ContentPrint, document_prints


def holding(*texts: str) -> ContentPrint:
    content = ContentPrint()
    for text in texts:
        content += ContentPrint(1, document_prints(text).exact)
    return content


BEFORE = {"web": holding("a", "b", "c", "d"), "code": holding("e"), "old": holding("f")}


def test_added_removed_and_revised_domains_are_told_apart():
    after = {"web": holding("a", "b"), "code": holding("e"), "new": holding("g")}
    assert find_changes(BEFORE, after) == Changes(
        unchanged=("code",), added=("new",), removed=("old",), revised=("web",)
    )


def test_a_split_is_seen_even_beside_new_domains():
    after = {
        "news": holding("a", "c"),
        "blogs": holding("d", "b"),
        "code": BEFORE["code"],
        "old": BEFORE["old"],
        "more": holding("x"),
    }
    found = find_changes(BEFORE, after)
    assert found.split == {"web": ("news", "blogs")}
    assert found.added == ("more",) and not found.removed


def test_a_new_name_for_the_same_text_is_no_change():
    after = {"site": BEFORE["web"], "code": BEFORE["code"], "old": BEFORE["old"]}
    found = find_changes(BEFORE, after)
    assert found.renamed == {"site": "web"} and not found
    assert found.lines() == ["web: now called site, the same text"]


def test_a_part_that_lost_a_document_is_no_split():
    after = {"news": holding("a", "c"), "blogs": holding("d")} | {
        name: BEFORE[name] for name in ("code", "old")
    }
    found = find_changes(BEFORE, after)
    assert (found.added, found.removed, dict(found.split)) == (("news", "blogs"), ("web",), {})
