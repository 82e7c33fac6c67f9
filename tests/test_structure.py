"""The shape of the package: no circles of imports, few private modules, names used once."""

import ast
from collections.abc import Iterator
from functools import cache
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

DOORS = {("bochner.tables.table_model", "bochner.report.page")}
"""Modules that a method imports from a higher room when it is called: ``.report()``."""


@cache
def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def imports(module: str) -> Iterator[tuple[str, str | None]]:
    """Yield the modules that a file imports anywhere, for types too, and the name it takes.

    The name is ``None`` if it is the whole module.
    """
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, None) if inner in FILES else (node.module, alias.name)


@cache
def imported_names(module: str) -> set[str]:
    """Return the names that a file has from other files of the package."""
    return {
        alias.asname or alias.name
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ImportFrom) and node.module in FILES
        for alias in node.names
    }


def test_imports_have_no_circles():
    graph = {
        module: {other for other, _ in imports(module) if (module, other) not in DOORS} - {module}
        for module in FILES
    }
    TopologicalSorter(graph).prepare()  # CycleError names the files of a circle


def test_names_are_imported_from_where_they_are_defined():
    through = [
        f"{module} takes {name} through {other}"
        for module in FILES
        for other, name in imports(module)
        if FILES[other].name != "__init__.py" and name in imported_names(other)
    ]
    assert not through, "; ".join(through)


def test_no_module_is_imported_by_name():
    """Constants of a file are looked up: `import_module(NAME)` counts as its value."""
    found = set()
    for module in FILES:
        tree = parsed(module)
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
        ]
        texts = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        if calls:
            found |= {(module, text) for text in texts if text in FILES}
    assert not found


def test_private_modules_are_few():
    private = [
        name
        for name in FILES
        if name.rpartition(".")[2].startswith("_") and not name.startswith("bochner._base")
    ]
    assert len([name for name in private if not name.endswith("__main__")]) <= 12, private


def definitions() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the files of classes and of type variables by name, inner and private ones included.

    A file is there once for each definition.
    """
    classes: dict[str, list[str]] = {}
    variables: dict[str, list[str]] = {}
    for module, path in FILES.items():
        place = path.relative_to(ROOT.parent).as_posix()
        for node in ast.walk(parsed(module)):
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
