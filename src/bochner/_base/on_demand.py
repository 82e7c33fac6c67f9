"""Public names of a package that are imported when first used (PEP 562), which saves seconds."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType


def on_demand(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a lazily importing package."""
    module_of = {name: module for module, names in homes.items() for name in names}
    submodules = {module.rpartition(".")[2] for module, names in homes.items() if not names}
    version = set() if "." in package else {"__version__"}
    listed = sorted({*module_of, *submodules, *version})

    def attribute(name: str) -> object:
        if name in module_of:
            value = getattr(import_module(module_of[name]), name)
        else:
            value = _submodule(package, name)
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
