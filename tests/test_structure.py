"""The house as its imports show it: no cycles, no package on the commands, one class per name."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from olmix.paths import REPOSITORY

SCRIPTS = REPOSITORY / "scripts"


def module_name(path: Path) -> str:
    parts = path.relative_to(SCRIPTS).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((SCRIPTS / "olmix").rglob("*.py"))
}


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All that may run, inside functions too; what is for type checkers alone is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_time_nodes(child)


def imported(tree: ast.Module, modules=MODULES) -> set[str]:
    """The library's modules that a module imports."""
    found = set()
    for node in run_time_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # What is imported may be a module itself; a package then only holds it.
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
            found |= inside or {str(node.module)}
    return found & set(modules)


def cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_in_a_circle():
    graph = {name: imported(tree) - {name} for name, tree in MODULES.items()}
    assert len(graph) > 100
    assert cycle(graph) == []


def test_no_package_imports_from_the_commands():
    for name, tree in MODULES.items():
        if name.startswith("olmix.commands") or name == "olmix.__main__":
            continue
        assert not [module for module in imported(tree) if module.startswith("olmix.commands")], (
            name
        )


def test_a_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("from olmix.b import x", "def f():\n    import olmix.a", True),
        ("from olmix import b", "from olmix.a import y", True),
        ("import olmix.b", "if TYPE_CHECKING:\n    import olmix.a", False),
        ("import olmix.b", "import numpy", False),
    ],
)
def test_the_test_sees_a_circle(first, second, found):
    modules = {"olmix": ast.parse(""), "olmix.a": ast.parse(first), "olmix.b": ast.parse(second)}
    assert bool(cycle({name: imported(tree, modules) for name, tree in modules.items()})) == found
