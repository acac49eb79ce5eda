"""The embedded world: a small synthetic corpus and task suite made from a seed.

`words` invents the vocabulary, `skills` turns the grammar into sentences, `design` is what
config/world.yaml says (which domain holds which skill, which task needs which), `tasks` writes
prompts with gold continuations, and `build` writes everything to disk.
"""
