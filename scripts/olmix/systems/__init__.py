"""The mixing systems that are algorithms: a module each, by the name that config/methods/ uses.

What they have in common, and what the rest of the library knows of them, is in `kinds`.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from olmix.errors import OlmixError

__all__ = ["algorithm", "algorithm_names", "lacks", "with_settings"]


def algorithm_names() -> list[str]:
    """The names of all algorithms, sorted."""
    return sorted(module.name for module in iter_modules(__path__) if not module.ispkg)


def algorithm(name: str) -> Any:
    """The class of an algorithm: the ``ALGORITHM`` of its module, of one of the `kinds`."""
    return _module(name).ALGORITHM


def lacks(name: str) -> str:
    """What an algorithm needs that is not installed, in words; empty if nothing."""
    said = getattr(_module(name), "lacks", None)
    return said() if said else ""


def _module(name: str) -> Any:
    names = algorithm_names()
    if name not in names:
        raise OlmixError(f"no algorithm {name!r}; expected one of {', '.join(names)}")
    return import_module(f"olmix.systems.{name}")


def with_settings(name: str, *arguments: Any, settings: dict[str, Any]) -> Any:
    """An algorithm made with ``settings``; one that it does not have is refused by name."""
    try:
        return algorithm(name)(*arguments, **settings)
    except TypeError as error:
        raise OlmixError(f"algorithm '{name}': {error}") from None
