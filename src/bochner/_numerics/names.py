"""Parameters that take an object or its name."""

from collections.abc import Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def resolved(parameter: str, value: "str | Kind", kind: Any, known: Mapping[str, Kind]) -> Kind:
    """Return the object that ``known`` has under a name, or an object of ``kind`` as is.

    Raises ``ValueError``, which names the ``parameter``, for anything else.
    """
    if isinstance(value, kind):
        found: Kind = value
        return found
    if isinstance(value, str) and value in known:
        return known[value]
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise ValueError(
        f"{parameter} must be one of {', '.join(map(repr, known))} or {article} {kind.__name__}, "
        f"got {value!r}."
    )
