"""The shape of the package: no circles of imports, few private modules, names used once."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import bochner

ROOT = Path(bochner.__file__).parent
FILES = {
    ".".join(("bochner", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(ROOT.rglob("*.py"))
}

OPENED = {("bochner.estimators.table_base", "bochner.report.notebook")}
"""Imports up the list of rooms, made when a method is called; pyproject.toml has the reason."""


def imports(module: str) -> Iterator[str]:
    """Yield the modules of the package that a file imports anywhere, but for types alone."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    for_types = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else node.module


def test_imports_have_no_circles():
    graph = {module: set(imports(module)) - {module} for module in FILES}
    for module, opened in OPENED:
        graph[module].remove(opened)
    TopologicalSorter(graph).prepare()  # CycleError names the files of a circle


def test_private_modules_are_few():
    private = [
        name
        for name in FILES
        if name.rpartition(".")[2].startswith("_") and not name.startswith("bochner._numerics")
    ]
    assert len([name for name in private if not name.endswith("__main__")]) <= 12, private


def definitions() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the files of classes and of type variables by name, inner and private ones included.

    A file is there once for each definition.
    """
    classes: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    for path in FILES.values():
        place = path.relative_to(ROOT.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.ClassDef(name=name):
                    classes.setdefault(name, []).append(place)
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Name(id="TypeVar" | "ParamSpec")),
                ):
                    variables.setdefault(name, []).append(place)
    return classes, variables


def test_a_class_name_is_defined_once():
    classes, variables = definitions()
    twice = [
        f"{name} is a class in {' and in '.join(places)}"
        for name, places in classes.items()
        if len(places) > 1
    ]
    twice += [
        f"{name} is a class in {classes[name][0]} and a type variable in {' and in '.join(places)}"
        for name, places in variables.items()
        if name in classes
    ]
    assert not twice, "; ".join(twice)
