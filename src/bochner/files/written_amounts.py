"""Numbers with thousands, decimal commas, currencies, units, factors and flags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.rules import SHARE_READ

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {".": "points", ",": "commas"}
"""Decimal marks, with their names in notes."""

THOUSANDS = {".": ",", ",": "."}
"""Separator of thousands by decimal mark."""

SPACES = " \u00a0\u2009\u202f'\u2019"
"""Other separators of thousands: spaces of several widths, and apostrophes."""

_CURRENCIES = "[$€£¥₹₽₩₺₪]|(?:US|R|A|C)[$]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|Fr|kr|zł"

_MEASURES = frozenset(
    [
        "%",
        "mm",
        "cm",
        "m",
        "km",
        "in",
        "ft",
        "mi",
        "m2",
        "km2",
        "m²",
        "km²",
        "sqm",
        "sqft",
        "ha",
        "ml",
        "cl",
        "l",
        "m3",
        "m³",
        "mg",
        "g",
        "kg",
        "t",
        "lb",
        "lbs",
        "oz",
        "ms",
        "s",
        "sec",
        "min",
        "h",
        "hr",
        "hrs",
        "d",
        "days",
        "weeks",
        "months",
        "years",
        "Hz",
        "kHz",
        "MHz",
        "GHz",
        "kV",
        "mV",
        "mA",
        "kW",
        "MW",
        "kWh",
        "kJ",
        "kcal",
        "hPa",
        "kPa",
        "MPa",
        "bar",
        "mbar",
        "psi",
        "°C",
        "°F",
        "°",
        "mph",
        "km/h",
        "m/s",
        "rpm",
        "ppm",
        "dB",
    ]
)
"""Units that may stand next to a number; other units need a space or decimals before them."""

_FACTORS = {
    "k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "Mio": 1e6, "Mio.": 1e6, "B": 1e9, "bn": 1e9,
    "Mrd": 1e9, "Mrd.": 1e9,
}  # fmt: skip
"""Factors that are written after numbers."""

_FLAG = re.compile(r"[*†‡§+?!#^~]+|\([\w*]{1,2}\)")
"""Flags after numbers: stars, marks of footnotes, letters in brackets, and the plus of 10,000+."""

_STATUS = re.compile(r"[a-z]{1,2}")
"""Letters by which statistical offices mark entries, such as p for provisional."""

NO_UNIT = "?"
"""In place of a unit, where numbers do not share one."""


def _pattern(decimal: str) -> str:
    mark, comma = re.escape(decimal), re.escape(THOUSANDS[decimal])
    groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{some}[0-9]{{3}})+" for some in (comma, f"[{SPACES}]"))
    return rf"^[+-]?(?:(?:[0-9]+|{groups})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


PATTERNS = {decimal: _pattern(decimal) for decimal in THOUSANDS}
"""Patterns of numbers by decimal mark, for `re` and for Arrow."""

_ENTRY = (
    rf"^(?P<limit>(?:[<>≤≥≈~])?)[{SPACES}]?(?P<sign>[+-]?)(?P<front>(?:{_CURRENCIES})?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eE][+-]?[0-9]+)?)"
    rf"(?P<gap>[{SPACES}]?)(?P<rest>(?:[^0-9.,{SPACES}][^{SPACES}]{{0,11}})?)$"
)
"""A number with a limit or currency in front of it, and a unit, factor or flag behind it."""


class Parts:
    """The parts of distinct texts (k,), with their numbers of occurrences."""

    def __init__(self, levels: pa.Array, counts: NDArray[np.int64]) -> None:
        import pyarrow.compute as pc

        self.levels, self.counts = levels, counts
        texts = pc.replace_substring(levels, "\u2212", "-")  # Typographic minus sign
        self.parts = pc.extract_regex(texts, _ENTRY)

    def field(self, name: str) -> list[Any]:
        """Return a part of each text, None for texts that are no numbers."""
        import pyarrow.compute as pc

        return list(pc.struct_field(self.parts, _FIELDS.index(name)).to_pylist())

    @cached_property
    def bodies(self) -> pa.Array:
        """The signs and digits, null for texts that are no numbers."""
        import pyarrow.compute as pc

        sign, body = (pc.struct_field(self.parts, _FIELDS.index(name)) for name in ("sign", "body"))
        return pc.binary_join_element_wise(sign, body, "")

    @cached_property
    def ends(self) -> list[tuple[str, str, str, str] | None]:
        """The limit, the currency in front, the gap and the rest of each text."""
        limits, fronts, gaps, rests = map(self.field, ("limit", "front", "gap", "rest"))
        columns = zip(limits, fronts, gaps, rests, strict=True)
        return [some if some[0] is not None else None for some in columns]

    def fits(self, decimal: str) -> NDArray[np.bool_]:
        """Return the mask (k,) of texts whose digits are a number with a decimal mark."""
        import pyarrow.compute as pc

        return np.array(pc.match_substring_regex(self.bodies, PATTERNS[decimal]).fill_null(False))

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return the share of entries in a mask (k,) of levels."""
        return float(self.counts[mask].sum() / max(self.counts.sum(), 1))


_FIELDS = tuple(re.compile(_ENTRY).groupindex)


@dataclass(frozen=True, slots=True)
class Amounts:
    """The unit and factor that the texts of a column share; ``factor`` None without factors.

    An empty factor is for factors that differ, such as k and M, which are multiplied.
    """

    unit: str = ""
    factor: str | None = None

    def number_factor(self, end: tuple[str, str, str, str] | None) -> float:
        """Return what the number of a text is multiplied by, NaN if the text has another unit."""
        if end is None:
            return np.nan
        _, front, gap, rest = end
        factor = 1.0
        if self.factor is not None:
            if rest in _FACTORS:
                factor, rest = _FACTORS[rest] / _FACTORS.get(self.factor, 1.0), ""
            elif self.factor:
                return np.nan
        is_flag = _FLAG.fullmatch(rest) or (gap and not self.unit and _STATUS.fullmatch(rest))
        unit = front + ("" if is_flag else rest)
        is_right = unit == self.unit or (not unit and is_currency(self.unit))
        return factor if is_right else np.nan


def written_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask (n,) of texts that are numbers with the decimal mark that fits most texts."""
    patterns = map(re.compile, PATTERNS.values())
    masks = [[pattern.match(text) is not None for text in texts] for pattern in patterns]
    return np.array(max(masks, key=sum), dtype=bool)


def is_currency(unit: str) -> bool:
    """Return whether a unit is a currency, which amounts of money may omit."""
    return re.fullmatch(_CURRENCIES, unit) is not None


def either(parts: Parts, decimals: Sequence[str]) -> NDArray[np.bool_]:
    """Return the mask (k,) of texts that are numbers with one of the decimal marks."""
    return np.asarray(np.logical_or.reduce([parts.fits(decimal) for decimal in decimals]))


def parts_of(texts: pa.Array) -> tuple[Parts, NDArray[np.intp]]:
    """Return the parts of the distinct texts, and their positions (n,), -1 where missing."""
    import pyarrow.compute as pc

    counts = pc.value_counts(texts.drop_null())
    levels, numbers = counts.field(0), np.array(counts.field(1))
    codes = np.array(pc.index_in(texts, value_set=levels).fill_null(-1))
    return Parts(levels, numbers), codes.astype(np.intp)


def number_values(
    parts: Parts, decimal: str, amounts: Amounts, fits: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the numbers (k,) of texts, NaN for other texts and other units."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.if_else(pa.array(fits), parts.bodies, pa.scalar(None, pa.string()))
    texts = pc.replace_substring(texts, THOUSANDS[decimal], "")
    texts = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
    texts = pc.replace_substring_regex(texts, f"[{SPACES}]", "")
    values = np.array(pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    factors = {end: amounts.number_factor(end) for end in set(parts.ends)}
    return values * np.array([factors[end] for end in parts.ends], dtype=np.float64)


def shared_amounts(parts: Parts, fits: NDArray[np.bool_]) -> Amounts:
    """Return the unit and the factor that most numbers have."""
    units: Counter[str] = Counter()
    factors: Counter[str] = Counter()
    spaced: Counter[str] = Counter()
    for end, count, is_number in zip(parts.ends, parts.counts.tolist(), fits, strict=True):
        if end is None or not is_number:
            continue
        _, front, gap, rest = end
        if rest in _FACTORS:
            factors[rest] += count
            rest = ""
        rest = "" if _FLAG.fullmatch(rest) else rest
        units[front + rest] += count
        spaced[front + rest] += count * bool(gap)
    total = units.total()
    unit = max(units, key=units.__getitem__, default="")
    if is_currency(unit) or (not unit and any(map(is_currency, units))):
        unit = next(some for some in units.most_common() if is_currency(some[0]))[0]
        units[unit] += units[""]
    is_unit = unit in _MEASURES or is_currency(unit) or spaced[unit] == units[unit]
    if unit and (units[unit] < SHARE_READ * total or not (is_unit or has_decimals(parts, fits))):
        return Amounts(NO_UNIT)
    if not factors:
        return Amounts(unit)
    common = max(factors, key=factors.__getitem__)
    return Amounts(unit, common if factors[common] == total else "")


def has_decimals(parts: Parts, fits: NDArray[np.bool_]) -> bool:
    """Return whether one of the numbers has a point or a comma."""
    import pyarrow.compute as pc

    return bool(
        np.array(pc.match_substring_regex(parts.bodies, "[.,]").fill_null(False))[fits].any()
    )
