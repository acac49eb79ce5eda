"""The kinds of algorithms: what each is asked, and what it answers."""
