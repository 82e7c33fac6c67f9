"""Parameters that take an object or its name."""

from collections.abc import Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def resolved(parameter: str, value: "str | Kind", kind: Any, known: Mapping[str, Kind]) -> Kind:
    """Return the object that ``known`` has under a name; an object of ``kind`` is returned as is.

    Raises ``ValueError``, which names the ``parameter``, for anything else.

    Examples
    --------
    >>> resolved("size", "one", int, {"one": 1}), resolved("size", 7, int, {"one": 1})
    (1, 7)
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
