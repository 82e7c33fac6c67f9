"""Parameters that take an object or its name."""

from collections.abc import Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def resolved(parameter: str, value: "str | Kind", kind: Any, choices: Mapping[str, Kind]) -> Kind:
    """Return the choice with the given name, or an object of the class ``kind`` unchanged.

    Raises ``ValueError``, which names the ``parameter``, for anything else.
    """
    if isinstance(value, kind):
        instance: Kind = value
        return instance
    if isinstance(value, str) and value in choices:
        return choices[value]
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise ValueError(
        f"{parameter} must be one of {', '.join(map(repr, choices))} or {article} {kind.__name__}, "
        f"got {value!r}."
    )
