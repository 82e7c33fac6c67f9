"""Objects that parameters may give by name."""

from collections.abc import Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def resolved(parameter: str, value: "str | Kind", kind: Any, known: Mapping[str, Kind]) -> Kind:
    """Return the object of that name; an object is returned as it is.

    Parameters
    ----------
    parameter : str
        What the error calls it.
    value : str or object
    kind : type
        Of the objects.
    known : mapping
        Objects by name.

    Raises
    ------
    ValueError
        If there is none of that name.

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
