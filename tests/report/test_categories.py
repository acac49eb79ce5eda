from olmix.report.categories import CATEGORIES, category


def test_sorting_by_name_gives_the_reading_order_and_the_scoreboard_first():
    names = [category(question) for question in CATEGORIES]
    assert names == sorted(names)
    assert names[0].endswith("Scoreboard of the paper's claims")


def test_a_new_question_stands_at_the_end():
    assert category("brand_new") > category(list(CATEGORIES)[-1])
