"""The HTML report: its categories, its tables as pages, its landing text."""
