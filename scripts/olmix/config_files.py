"""Read the YAML and JSON files people write, strictly.

Both formats let a repeated key silently replace the earlier one. In a list of domains or updates
that would lose data without a word, so here it is an error, as is a key nobody reads.
"""

import json
import re
from collections.abc import Collection, Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from olmix.errors import OlmixError

__all__ = ["check_keys", "check_name", "read_config"]

try:  # the parser in C where PyYAML has it: the workflow reads twenty files each time it starts
    from yaml import CSafeLoader as _SafeLoader
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]  # does the same


class _StrictLoader(_SafeLoader):
    """Safe YAML that refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise OlmixError(f"line {key_node.start_mark.line + 1}: key '{key}' appears twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise OlmixError(f"key '{key}' appears twice")
        found[key] = value
    return found


def read_config(path: str | Path) -> dict[str, Any]:
    """The mapping a ``.json``, ``.yaml`` or ``.yml`` file holds."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            value = json.loads(text, object_pairs_hook=_unique_pairs)
        elif path.suffix in (".yaml", ".yml"):
            value = yaml.load(text, Loader=_StrictLoader)
        else:
            raise OlmixError(f"ends in '{path.suffix}', expected .json, .yaml or .yml")
    except OlmixError as error:
        raise OlmixError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise OlmixError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise OlmixError(f"{path}: cannot be read ({reason})") from None
    if not isinstance(value, dict):
        raise OlmixError(f"{path}: holds {type(value).__name__}, expected a mapping of keys")
    return value


def check_keys(
    mapping: Mapping[str, Any],
    allowed: Collection[str],
    required: Collection[str] = (),
    where: str = "",
) -> None:
    """Refuse keys outside ``allowed`` and the absence of any of ``required``."""
    for key in mapping:
        if key not in allowed:
            raise OlmixError(f"{where}: unknown key '{key}', expected one of {', '.join(allowed)}")
    for key in required:
        if key not in mapping:
            raise OlmixError(f"{where}: key '{key}' is missing")


def check_name(name: Any, where: str) -> str:
    """A name that ends up in paths, patterns and commands: plain letters, digits, ``_`` and ``-``.

    The schemas of the workflow hold names to the same.
    """
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise OlmixError(
            f"{where}: name {name!r}, expected letters, digits, '_' and '-', the first of them a "
            "letter or digit"
        )
    return name
