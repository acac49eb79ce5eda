"""Where a result stands in the report: categories in the order a reviewer reads them."""

from string import ascii_uppercase

__all__ = ["CATEGORIES", "category"]

# question -> what its category is called. The report sorts by name, so each gets a letter.
CATEGORIES = {
    "claims": "Scoreboard of the paper's claims",
    "updates": "Main results: all updates, every strategy",
    "budgets": "Tight repetition caps and low budgets",
    "operators": "Each update operator alone",
    "theory": "Theory: reuse gap, update shift, coupling",
    "rq1": "RQ1 How small can a proxy be?",
    "rq2": "RQ2 How many proxy runs for m domains?",
    "rq3": "RQ3 Which swarm distribution?",
    "rq4": "RQ4 Which regression family?",
    "rq5": "RQ5 Per task, per family, aggregated?",
    "rq6": "RQ6 Where to enforce repetition caps?",
    "rq7": "RQ7 Which solver?",
    "methods": "Mixing methods side by side",
    "noise": "Noise of single runs",
    "tables": "Domains, tasks, models, costs",
    "published": "The paper's numbers from released swarms",
    "overview": "Runtimes and provenance",
}


def category(question: str) -> str:
    """The category of a question's figures and tables; a new question stands at the end."""
    if question not in CATEGORIES:
        return f"Z. {question}"
    letter = ascii_uppercase[list(CATEGORIES).index(question)]
    return f"{letter}. {CATEGORIES[question]}"
