"""Names and lists as texts of a report."""

import unicodedata
from collections.abc import Sequence

_NAME = 60
"""Most characters of a name in a sentence: a line of the report has about 90."""

_CELL = 200
"""Most characters of a text in a table: four lines of a cell."""

_ISOLATE, _POP = "\u2068", "\u2069"
"""Marks around a text that may run from right to left, so that its neighbours keep their place."""


def listed(parts: Sequence[str], most: int = 5) -> str:
    """Return the first texts as a list, and how many there are more.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"), 3)
    ('a', 'a, b and c', 'a, b, c and 4 more')
    """
    shown = [*parts[:most], *([f"{len(parts) - most} more"] if len(parts) > most else [])]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def plain(text: object) -> str:
    r"""Return a text whose control characters, and marks of direction, are shown.

    >>> plain("a\x00b\u202ec"), plain("two\nlines")
    ('a\\x00b\\u202ec', 'two lines')
    """
    one_line = str(text).replace("\n", " ").replace("\t", " ")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in one_line
    )


def short(text: object, most: int = _NAME) -> str:
    """Return a text, shown plainly, without its middle if it is long.

    >>> short("x" * 100, 9)
    'xxxxx…xxx'
    """
    shown = plain(text)
    if len(shown) <= most:
        return shown
    tail = (most - 1) * 2 // 5
    return f"{shown[: most - 1 - tail]}…{shown[len(shown) - tail :]}"


def cut(text: object) -> str:
    """Return a text for a cell of a table."""
    return short(text, _CELL)


def quoted(name: object) -> str:
    """Return a name in a sentence: short, in quotation marks, and kept apart if right to left.

    >>> quoted("hour")
    "'hour'"
    """
    shown = short(name)
    to_left = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown)
    return f"'{_ISOLATE}{shown}{_POP}'" if to_left else f"'{shown}'"


def joined(names: str | Sequence[str]) -> str:
    """Return the name of a column, or of a pair of columns, for a table or a picture."""
    return short(names) if isinstance(names, str) else " × ".join(short(name, 30) for name in names)
