"""Where a result stands in the report: categories in the order a reviewer reads them."""

from string import ascii_uppercase

from olmix.questions.catalogue import load_questions

__all__ = ["categories", "category"]


def categories() -> dict[str, str]:
    """Every result with a place in the report, by name, and what its category is called."""
    return {
        "claims": "Scoreboard of the paper's claims",
        "explorer": "Explore the mix",
        **{name: question.title for name, question in load_questions().items()},
        "tables": "Domains, tasks, models, costs",
        "published": "The paper's numbers from released swarms",
        "overview": "Runtimes and provenance",
    }


def category(name: str) -> str:
    """A result's category: the report sorts by its name, so each starts with a letter."""
    known = categories()
    return f"{ascii_uppercase[list(known).index(name)]}. {known[name]}"
