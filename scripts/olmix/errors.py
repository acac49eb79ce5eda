"""The one exception this library raises on purpose."""


class OlmixError(Exception):
    """A refusal a person can act on.

    The message is one line: what is wrong, the offending value, where it was found, and what
    was expected. Commands print it as ``error: <message>`` and exit with status 2.
    """
