"""Formats names and lists as texts of a report."""

import unicodedata
from collections.abc import Sequence

_NAME = 60
"""Largest number of characters of a name in a sentence; a line has about 90 characters."""

_CELL = 200
"""Largest number of characters of a text in a table cell: four lines."""

_ISOLATE, _POP = "\u2068", "\u2069"
"""Unicode isolates around right-to-left text, so that the surrounding text keeps its order."""


def plain(text: object) -> str:
    """Return a text on one line, with control characters and direction marks escaped."""
    one_line = str(text).replace("\n", " ").replace("\t", " ")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in one_line
    )


def short(text: object, most: int = _NAME) -> str:
    """Return a text with control characters escaped, and shortened in the middle if it is long."""
    shown = plain(text)
    if len(shown) <= most:
        return shown
    tail = (most - 1) * 2 // 5
    return f"{shown[: most - 1 - tail]}…{shown[len(shown) - tail :]}"


def cut(text: object) -> str:
    """Return a text shortened for a table cell."""
    return short(text, _CELL)


def quoted(name: object) -> str:
    """Return a name for a sentence: shortened, quoted, and isolated if right to left."""
    shown = short(name)
    to_left = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown)
    return f"'{_ISOLATE}{shown}{_POP}'" if to_left else f"'{shown}'"


def joined(names: str | Sequence[str]) -> str:
    """Return the name of a column, or of a pair of columns, for a table or a picture."""
    return short(names) if isinstance(names, str) else " × ".join(short(name, 30) for name in names)
