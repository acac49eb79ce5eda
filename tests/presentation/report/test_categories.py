from olmix.presentation.report.categories import categories, category


def test_sorting_by_name_gives_the_reading_order_and_the_scoreboard_first():
    names = [category(question) for question in categories()]
    assert names == sorted(names)
    assert names[0].endswith("Scoreboard of the paper's claims")
