"""The shape of the package: its size, its public names, no circles of imports, names used once."""

import ast
import importlib
import inspect
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

DOORS = {
    ("bochner.tables.table_model", "bochner.report.page"),
    ("bochner.tables.sensitivity", "bochner.plot"),
    ("bochner.series.forecaster", "bochner.plot"),
}
"""Modules that ``report()`` and ``plot()`` import from a higher room when they are called."""


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


def lines_below(folder: Path) -> int:
    """Return the number of lines of the Python files below a folder."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))


LINES, FILES_AT_MOST, TEST_LINES = 72_600, 340, 58_600
"""Lines and files of the package and lines of its tests: what one person can know."""

LONGEST = 450
"""Lines of a file: what is read in one sitting."""

LONGEST_RULE = 150
"""Lines of a file with a rule for columns of files."""

PUBLIC_NAMES, PARAMETERS, OWN_CLASSES = 170, 150, 4
"""Names in all ``__all__``, constructor parameters of all estimators, our classes that one is."""


def test_the_package_is_small():
    assert lines_below(ROOT) <= LINES
    assert len(FILES) <= FILES_AT_MOST


def test_tests_are_shorter_than_what_they_test():
    assert lines_below(Path(__file__).parent) <= TEST_LINES


def test_a_file_is_read_in_one_sitting():
    lengths = {name: path.read_bytes().count(b"\n") for name, path in FILES.items()}
    assert not {name: length for name, length in lengths.items() if length > LONGEST}


def test_a_rule_of_reading_is_a_screen_or_two():
    lengths = {name: path.read_bytes().count(b"\n") for name, path in FILES.items()
               if path.stem.endswith("_rule")}  # fmt: skip
    assert len(lengths) > 1
    assert max(lengths.values()) <= LONGEST_RULE


def test_a_file_name_occurs_once():
    places: dict[str, list[str]] = {}
    for module, path in FILES.items():
        if not path.name.startswith("__"):
            places.setdefault(path.name, []).append(module)
    assert not {name: modules for name, modules in places.items() if len(modules) > 1}


def public_names() -> set[tuple[str, str]]:
    """Return the names in ``__all__`` of the modules that can be imported here."""
    found = set()
    for module in FILES:
        try:
            names = getattr(importlib.import_module(module), "__all__", [])
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("bochner"):
                raise
            continue  # Of an extra that is not installed
        found |= {(module, name) for name in names if name != "__version__"}
    return found


def estimators() -> list[type]:
    """Return the public estimators."""
    values = (getattr(bochner, name) for name in bochner.__all__)
    return [value for value in values if inspect.isclass(value) and hasattr(value, "get_params")]


def test_public_names_and_parameters_are_few():
    assert len(public_names()) <= PUBLIC_NAMES
    assert sum(len(inspect.signature(cls).parameters) for cls in estimators()) <= PARAMETERS


def test_estimators_are_few_classes():
    ours = {
        cls.__name__: [base.__name__ for base in cls.__mro__ if "bochner" in base.__module__]
        for cls in estimators()
    }
    assert not {name: classes for name, classes in ours.items() if len(classes) > OWN_CLASSES}


def test_dir_shows_public_names():
    assert {name for name in dir(bochner) if not name.startswith("_")} <= set(bochner.__all__)
