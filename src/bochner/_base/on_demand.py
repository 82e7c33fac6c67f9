"""Public names of a package that are imported when first used (PEP 562), which saves seconds."""

import dis
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def on_demand(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of the calling package.

    Its public names are those that its code imports from the library for type checkers.
    """
    homes, home, root = dict[str, str](), "", package.partition(".")[0]
    for step in dis.get_instructions(sys._getframe(1).f_code):
        if step.opname == "IMPORT_NAME":
            home = step.argval
        elif step.opname == "IMPORT_FROM" and home.startswith(root) and home != __name__:
            homes[step.argval] = home
    listed = sorted({*homes, *(() if "." in package else ("__version__",))})

    def attribute(name: str) -> object:
        if (module := homes.get(name, package)) == package:
            value: object = _submodule(package, name)
        else:
            value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # later accesses bypass `attribute`
        return value

    return attribute, listed.copy, listed


def _submodule(package: str, name: str) -> ModuleType:
    """Import a submodule; raise AttributeError if it or one of its imports is missing."""
    missing = AttributeError(f"module {package!r} has no attribute {name!r}")
    if name.startswith("_"):  # Python and other libraries look up many private names
        raise missing
    try:
        return import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        raise missing from (None if error.name == f"{package}.{name}" else error)
