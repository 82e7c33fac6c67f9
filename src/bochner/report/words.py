"""Numbers, names and lists as texts of a report."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from bochner.comparison.shown import PLAIN
from bochner.comparison.shown import number as in_ascii
from bochner.comparison.shown import percent as percent_in_ascii

_NAME = 60
"""Most characters of a name in a sentence: a line of the report has about 90."""

_CELL = 200
"""Most characters of a text in a table: four lines of a cell."""

_DIGITS = 2
"""Digits of a standard error: a third one would be noise below some 5,000 rows."""

_ISOLATE, _POP = "\u2068", "\u2069"
"""Marks around a text that may run from right to left, so that its neighbours keep their place."""


def number(value: float, digits: int = 4) -> str:
    """Format a number with ``digits`` significant digits and commas between thousands.

    Examples
    --------
    >>> number(1234.56), number(-0.01234), number(3.0), number(2.5e9)
    ('1,235', '−0.01234', '3', '2.5e9')
    """
    return in_ascii(value, digits).replace("-", "−")


def with_error(value: float, error: float) -> str:
    """Return a number and its standard error, both with as many decimals as the error has.

    Examples
    --------
    >>> with_error(42.1267, 0.8123), with_error(0.5, float("nan")), with_error(52311.0, 1234.0)
    ('42.13 ± 0.81', '0.5', '52,311 ± 1,234')
    """
    if not (np.isfinite(error) and np.isfinite(value) and error > 0.0):
        return number(value)
    size = max(abs(value), error)
    if not PLAIN[0] <= size < PLAIN[1]:
        power = int(np.floor(np.log10(size)))
        text = with_error(value / 10.0**power, error / 10.0**power)
        return f"({text})e{power}".replace("e-", "e−")
    decimals = max(0, _DIGITS - 1 - int(np.floor(np.log10(error))))
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}".replace("-", "−")


def percent(share: float, error: float = float("nan"), *, digits: int | None = None) -> str:
    """Return a share in per cent, by default with a decimal below ten and next to a hundred.

    Examples
    --------
    >>> percent(0.583), percent(-0.0312), percent(0.9934), percent(0.583, 0.031)
    ('58 %', '−3.1 %', '99.3 %', '58.3 ± 3.1 %')
    """
    return percent_in_ascii(share, error, digits=digits).replace("-", "−")


def listed(parts: Sequence[str], most: int = 5) -> str:
    """Return the first texts as a list, and how many there are more.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"), 3)
    ('a', 'a, b and c', 'a, b, c and 4 more')
    """
    shown = [*parts[:most], *([f"{len(parts) - most} more"] if len(parts) > most else [])]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def plain(text: object) -> str:
    r"""Return a text whose control characters, and marks of direction, are shown.

    Examples
    --------
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

    Examples
    --------
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

    Examples
    --------
    >>> quoted("hour")
    "'hour'"
    """
    shown = short(name)
    to_left = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in shown)
    return f"'{_ISOLATE}{shown}{_POP}'" if to_left else f"'{shown}'"


def joined(names: str | Sequence[str]) -> str:
    """Return the name of a column, or of a pair of columns, for a table or a picture."""
    return short(names) if isinstance(names, str) else " × ".join(short(name, 30) for name in names)
