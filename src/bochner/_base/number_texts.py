"""Formatting of numbers, amounts of memory and times, for terminals, reports and plots."""

import re
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.names import shown

PLAIN = (1e-4, 1e6)
"""Sizes of numbers that are written without a power of ten: at most eight characters."""

PLAIN_ENTRIES = (PLAIN[0], 1e12)
"""Sizes of entries without a power of ten: codes of parcels have ten digits and more."""

_YEARS = (1_000.0, 3_000.0)
"""Numbers from the first to below the second may be years, and have no comma as entries."""

_TWO_DIGITS = 354
"""Largest first three digits of a standard error with two digits, the rule of the Particle Data
Group: the rounding of others to one digit is small."""

_MOST_DECIMALS = 3
"""Largest difference of the decimals of numbers in a column that have equally many."""


def number(value: float, digits: int = 4, plain: tuple[float, float] = PLAIN) -> str:
    """Format a number with ``digits`` significant digits and commas between thousands.

    Absolute values outside of ``plain`` are written with a power of ten. All digits of the integer
    part are shown.

    >>> number(1234.56), number(-0.01234), number(3.0), number(2.5e9), number(2.864e-08)
    ('1,235', '-0.01234', '3', '2.5e9', '2.864e-8')
    """
    if not np.isfinite(value):
        return "–"
    size = abs(value)
    if size and not plain[0] <= size < plain[1]:
        mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(power)}"
    decimals = max(0, digits - 1 - (int(np.floor(np.log10(size))) if size else 0))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_error(value: float, error: float) -> str:
    """Format a number and its standard error with the same number of decimals.

    >>> with_error(42.1267, 0.8123), with_error(0.5, float("nan")), with_error(52311.0, 1234.0)
    ('42.1 ± 0.8', '0.5', '52,311 ± 1,234')
    """
    if not (np.isfinite(error) and np.isfinite(value) and error > 0.0):
        return number(value)
    size = max(abs(value), error)
    if not PLAIN[0] <= size < PLAIN[1]:
        power = int(np.floor(np.log10(size)))
        text = with_error(value / 10.0**power, error / 10.0**power)
        return f"({text})e{power}"
    decimals = max(0, _decimals_of_error(error))
    return f"{value:,.{decimals}f} ± {error:,.{decimals}f}"


def _decimals_of_error(error: float) -> int:
    """Return the decimals of the last digit of an error, negative for digits before the point."""
    digits, _, power = f"{error:.2e}".partition("e")
    return (float(digits) * 100.0 <= _TWO_DIGITS) - int(power)


def with_errors(values: Sequence[float], errors: Sequence[float]) -> list[str]:
    """Format numbers of a column and their standard errors with the same number of decimals.

    >>> with_errors([0.9401, 1.7312, 3.2], [0.0903, 0.1523, 0.1411])
    ['0.94 ± 0.09', '1.73 ± 0.15', '3.20 ± 0.14']
    """
    alone = [with_error(*pair) for pair in zip(values, errors, strict=True)]
    sizes = [_decimals_of_error(e) for e in errors if np.isfinite(e) and e > 0.0]
    if not sizes or max(sizes) - min(sizes) > _MOST_DECIMALS or any("e" in text for text in alone):
        return alone
    pairs = zip(values, errors, strict=True)
    decimals = max(0, *sizes)
    texts = [f"{value:,.{decimals}f} ± {error:,.{decimals}f}" for value, error in pairs]
    return [t if "nan" not in t else plain for t, plain in zip(texts, alone, strict=True)]


def aligned_numbers(values: Sequence[float], digits: int = 3) -> list[str]:
    """Format numbers of a column with the same number of decimals.

    The largest number has ``digits`` digits or more, the smallest one two or more.

    >>> aligned_numbers([1.153, 12.0, 0.5423]), aligned_numbers([0.0012, 5300.0])
    (['1.15', '12.00', '0.54'], ['0.0012', '5,300'])
    """
    sizes = np.abs([value for value in values if np.isfinite(value) and value])
    powers = np.floor(np.log10(sizes)) if len(sizes) else np.zeros(1)
    if np.ptp(powers) > _MOST_DECIMALS or not (-4 <= powers.min() <= powers.max() < 6):
        return [number(value, digits) for value in values]
    decimals = max(0, digits - 1 - int(powers.max()), 1 - int(powers.min()))
    return [f"{value:,.{decimals}f}" if np.isfinite(value) else "–" for value in values]


def percents(shares: Sequence[float]) -> list[str]:
    """Format shares of a column in per cent with the same number of decimals.

    >>> percents([0.994, 0.98]), percents([0.5, 0.25])
    (['99.4 %', '98.0 %'], ['50 %', '25 %'])
    """
    digits = int(any("." in percent(share) for share in shares))
    return [percent(share, digits=digits) for share in shares]


def percent(share: float, error: float = float("nan"), *, digits: int | None = None) -> str:
    """Format a share in per cent, with a decimal below 10 % and close to 100 %.

    >>> percent(0.583), percent(0.0312), percent(0.9934), percent(0.583, 0.031), percent(1.0)
    ('58 %', '3.1 %', '99.3 %', '58.3 ± 3.1 %', '100 %')
    """
    if not np.isfinite(share):
        return "–"
    if np.isfinite(error):
        return f"{100.0 * share:.1f} ± {100.0 * error:.1f} %"
    size = abs(share)
    if digits is None:
        digits = 0 if size in (0.0, 1.0) or 0.1 <= size < 0.985 or size > 2.0 else 1
    text = f"{100.0 * share:.{digits}f}"
    if 0.0 < size < 1.0 and text.lstrip("-") in ("0.0", "100.0"):
        return "less than 0.1 %" if size < 0.5 else "more than 99.9 %"
    return f"{text} %"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Round shares to whole per cents with a consistent sum, by the largest-remainder method.

    >>> whole_percents([0.767, 0.217, 0.016]), whole_percents([1.0]), whole_percents([0.5, 0.5])
    ([77, 22, 1], [100], [50, 50])
    """
    exact = 100.0 * np.asarray(shares, dtype=np.float64)
    whole = np.floor(exact).astype(int)
    missing = round(float(exact.sum())) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return [int(share) for share in whole]


def may_be_years(values: ArrayLike) -> bool:
    """Return whether all numbers look like years, which are printed without a comma.

    >>> may_be_years([1872.0, 2010.0]), may_be_years([1470.0, 7440.0]), may_be_years([0.0, 2000.0])
    (True, False, False)
    """
    numbers = np.asarray(values, dtype=np.float64)
    low, high = _YEARS
    return bool(numbers.size and ((numbers >= low) & (numbers < high)).all()
                and (numbers == np.round(numbers)).all())  # fmt: skip


def entries(values: Sequence[float], digits: int = 4) -> list[str]:
    """Format the entries of a column, with thousands commas unless all look like years.

    >>> entries([1872.0, 2010.0]), entries([1470.0, 7440.0])
    (['1872', '2010'], ['1,470', '7,440'])
    """
    texts = [number(value, digits, PLAIN_ENTRIES) for value in values]
    return [text.replace(",", "") for text in texts] if may_be_years(values) else texts


def entry(value: float, digits: int = 4) -> str:
    """Format one entry of a column, without a comma if it looks like a year.

    >>> entry(1999.0), entry(12345.0), entry(0.123456), entry(526301100.0, 9)
    ('1999', '12,345', '0.1235', '526,301,100')
    """
    return entries([value], digits)[0]


def counted(count: int, noun: str, plural: str = "") -> str:
    """Format a count with its noun, such as "1 row" or "3 rows".

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


# Bytes per decimal and binary unit.
_UNITS = {"": 1} | {
    f"{p}{b}": n**k for b, n in (("", 1000), ("I", 1024)) for k, p in enumerate("KMGT", 1)
}


def as_bytes(limit: object) -> int | None:
    """Convert a positive integer, ``"1GB"`` or ``"512MiB"`` to bytes; ``None`` stays ``None``."""
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]I?)?B?\s*", limit.upper())
        if match is not None and match[1].count(".") <= 1 and match[1] != ".":
            limit = int(float(match[1]) * _UNITS[match[2] or ""])
    if isinstance(limit, Integral) and not isinstance(limit, bool) and int(limit) > 0:
        return int(limit)
    raise ValueError(
        f"memory_limit must be a number of bytes such as 10**9, a text such as '1GB' or '512MiB', "
        f"or None; got {shown(limit)}."
    )


def in_words(n_bytes: float) -> str:
    """Return the amount with a unit, such as ``2.5 MB``."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def duration(seconds: float) -> str:
    """Return a time in words, such as "40 s", "3 min" or "7 h"."""
    if seconds < 100.0:
        return f"{seconds:.0f} s" if seconds >= 10.0 else f"{seconds:.2g} s"
    for unit, factor in (("min", 60.0), ("h", 3600.0)):
        if seconds < 100.0 * factor:
            return f"{seconds / factor:.0f} {unit}"
    return f"{seconds / 86400.0:.0f} days"
