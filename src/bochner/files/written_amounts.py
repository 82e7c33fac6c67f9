"""Numbers with thousands, decimal commas, currencies, units, factors and flags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import brief
from bochner.files.rules import SHARE_READ, Notes

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {".": "points", ",": "commas"}
"""Decimal marks, with their names in notes."""

THOUSANDS = {".": ",", ",": "."}
"""Separator of thousands by decimal mark."""

_SPACES = " \u00a0\u2009\u202f'\u2019"
"""Other separators of thousands: spaces of several widths, and apostrophes."""

_CURRENCIES = "[$€£¥₹₽₩₺₪]|(?:US|R|A|C)[$]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|Fr|kr|zł"

_MEASURES = (
    " % mm cm m km in ft mi m2 km2 m² km² sqm sqft ha ml cl l m3 m³ mg g kg t lb lbs oz ms s sec "
    "min h hr hrs d day week month year Hz kHz MHz GHz kV mV mA kW MW kWh kJ kcal hPa kPa MPa "
    "bar mbar psi °C °F ° mph km/h m/s rpm ppm dB "
)
"""Units that may stand next to a number; other units need a space or decimals before them."""

_TWO_WORDS = r"(?:sq|cu)[.]? (?:ft|feet|in|m|mi|yd)[.]?|(?:per|a|an) (?:hour|day|week|month|year)"
"""Units of two words behind numbers."""

_FACTORS = {
    "k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "Mio": 1e6, "Mio.": 1e6, "B": 1e9, "bn": 1e9,
    "Mrd": 1e9, "Mrd.": 1e9,
}  # fmt: skip
"""Factors that are written after numbers."""

_FLAG = re.compile(r"[*†‡§+?!#^~¹²³]+|[(\[][\w*]{1,2}[)\]]")
"""Flags after numbers: stars, marks of footnotes, letters in brackets, and the plus of 10,000+."""

_STATUS = re.compile(r"[a-z]{1,2}")
"""Letters by which statistical offices mark entries, such as p for provisional."""


def _digits(decimal: str) -> str:
    """Return the pattern of a number without its sign."""
    mark, comma = re.escape(decimal), re.escape(THOUSANDS[decimal])
    groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{some}[0-9]{{3}})+" for some in (comma, f"[{_SPACES}]"))
    groups += "|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}" * (decimal == ".")  # India
    return rf"(?:(?:[0-9]+|{groups})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"


PATTERNS = {decimal: f"^[+-]?{_digits(decimal)}$" for decimal in THOUSANDS}
"""Patterns of numbers by decimal mark, for `re` and for Arrow."""

_ENTRIES = {
    decimal: rf"^[<>≤≥≈~]?[{_SPACES}]?(?P<sign>[+-]?)[{_SPACES}]?(?P<front>(?:{_CURRENCIES})?)"
    rf"[{_SPACES}]?(?P<digits>{_digits(decimal)})"
    rf"(?P<gap>[{_SPACES}]?)(?P<rest>(?:(?:{_TWO_WORDS})|(?:[^0-9.,{_SPACES}][^{_SPACES}]{{0,11}})?))$"
    for decimal in THOUSANDS
}
"""A number with a limit or currency in front of it, and a unit, factor or flag behind it."""


_MINUS = (rf"^({_CURRENCIES})[{_SPACES}]?-()", rf"^({_CURRENCIES}|)[{_SPACES}]?\((.*)\)$",
          "^([^-]*[0-9])()-$")  # fmt: skip
"""Negative amounts: a minus after the currency or the number, or brackets, as in accounting."""


class _End(NamedTuple):
    """What stands around the digits of a number: a currency in front, and what is behind a gap."""

    front: str
    gap: str
    rest: str

    @property
    def factor(self) -> str:
        """The factor, empty if there is none."""
        return self.rest if self.rest in _FACTORS else ""

    @property
    def unit(self) -> str:
        """The currency and the unit, empty if there is none."""
        is_unit = not self.factor and not _FLAG.fullmatch(self.rest)
        return self.front + self.rest * is_unit

    def scale(self, unit: str, factor: str | None) -> float:
        """Return what the number is multiplied by, NaN if it has another unit or lacks a factor."""
        is_status = self.gap and not unit and _STATUS.fullmatch(self.rest)
        here = self.front if is_status else self.unit
        has_unit = here == unit or (not here and _is_currency(unit))
        if not has_unit or (factor != "" and bool(self.factor) != bool(factor)):
            return np.nan
        return _FACTORS.get(self.factor, 1.0) / _FACTORS.get(factor or "", 1.0)


class WrittenNumbers:
    """Distinct texts (k,) that are parsed with one decimal mark, and how often they occur.

    ``numbers`` (k,) are NaN for other texts. ``ends`` are the distinct currencies in front, gaps
    and units behind, and ``end_codes`` (k,) their positions, -1 for other texts.
    """

    def __init__(self, texts: pa.ChunkedArray, decimal: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        counted = pc.value_counts(texts.drop_null())
        self.levels, self.counts = counted.field(0), np.array(counted.field(1))
        levels = pc.replace_substring(self.levels, "\u2212", "-")  # Typographic minus sign
        for pattern in _MINUS:
            levels = pc.replace_substring_regex(levels, pattern, r"-\1\2")
        parts = pc.extract_regex(levels, _ENTRIES[decimal])
        sign, front, self._digits, gap, rest = (pc.struct_field(parts, i) for i in range(5))
        ends = pc.binary_join_element_wise(front, gap, rest, "\n").dictionary_encode()
        names = (re.sub("(?<=[a-z]{3})s$", "", end) for end in ends.dictionary.to_pylist())
        self.ends = [_End(*end.split("\n", 2)) for end in names]  # 1 year, 2 years
        self.end_codes = np.array(ends.indices.fill_null(-1))
        digits = pc.replace_substring_regex(self._digits, f"[{_SPACES}{THOUSANDS[decimal]}]", "")
        digits = pc.replace_substring(digits, decimal, ".")
        numbers = pc.cast(pc.binary_join_element_wise(sign, digits, ""), pa.float64())
        self.numbers = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)

    def share(self, numbers: NDArray[np.float64]) -> float:
        """Return the share of entries whose numbers (k,) are not NaN."""
        return float(self.counts[~np.isnan(numbers)].sum() / max(self.counts.sum(), 1))

    def marks(self) -> dict[str, int]:
        """Return the first text with a point and the first text with a comma, where they exist."""
        import pyarrow.compute as pc

        has_mark = {mark: pc.match_substring(self._digits, mark) for mark in THOUSANDS}
        rows = {mark: pc.index(mask, True).as_py() for mark, mask in has_mark.items()}
        return {mark: row for mark, row in rows.items() if row >= 0}

    def values(self, settings: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the numbers (k,) with a unit and a factor, NaN for other units and texts."""
        unit, factor = settings.get("unit", ""), settings.get("factor")
        scales = [end.scale(unit, factor) for end in self.ends]
        factors: NDArray[np.float64] = np.array([*scales, np.nan])[self.end_codes]
        return self.numbers * factors

    def notes(self, settings: Mapping[str, Any], marks: Mapping[str, int]) -> Notes:
        """Return notes on the first rows with marks, and on the unit and the factor."""
        rows: dict[str, int] = {}
        for mark, row in marks.items():
            is_decimal = mark == settings["decimal"]
            words = f"decimal {MARKS[mark]}" if is_decimal else f"{MARKS[mark]} between thousands"
            rows |= {} if words == "decimal points" else {f"has {words}": row}
        first = int(np.argmax(~np.isnan(self.values(settings))))
        if settings.get("unit") == "%":
            rows["holds percentages"] = first
        elif settings.get("factor") == "":
            rows["has factors such as k and M, which are multiplied"] = first
        elif "unit" in settings or "factor" in settings:
            amount = " ".join(settings[key] for key in ("unit", "factor") if key in settings)
            rows[f"holds amounts in {amount}"] = first
        return [(words, self.example(settings, row)) for words, row in rows.items()]

    def example(self, settings: Mapping[str, Any], row: int) -> str:
        """Return how a text is read, as shown in a note."""
        return f"{brief(self.levels[row])} is read as {self.values(settings)[row]:.15g}"

    def amount(self) -> dict[str, str] | None:
        """Return the unit and the factor, empty for several, of most numbers; None for no unit."""
        units: Counter[str] = Counter()
        factors: Counter[str] = Counter()
        spaced: Counter[str] = Counter()
        is_number = self.end_codes >= 0
        counts = np.bincount(self.end_codes[is_number], self.counts[is_number])
        for end, count in zip(self.ends, counts.astype(int).tolist(), strict=True):
            factors[end.factor] += count
            units[end.unit] += count
            spaced[end.unit] += count * bool(end.gap)
        total = units.total()
        unit = max(units, key=units.__getitem__, default="")
        if _is_currency(unit) or (not unit and any(map(_is_currency, units))):
            unit = next(some for some, _ in units.most_common() if _is_currency(some))
            units[unit] += units[""]
        is_unit = f" {unit} " in _MEASURES or _is_currency(unit) or spaced[unit] == units[unit]
        has_decimals = bool((self.numbers[is_number] % 1.0 > 0.0).any())
        if unit and (units[unit] < SHARE_READ * total or not (is_unit or has_decimals)):
            return None
        some = set(factors) - {""}
        factor = {"factor": some.pop() if len(factors) == 1 else ""} if some else {}
        return ({"unit": unit} if unit else {}) | factor


def _is_currency(unit: str) -> bool:
    """Return whether a unit is a currency, which amounts of money may omit."""
    return re.fullmatch(_CURRENCIES, unit) is not None


def written_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask (n,) of texts that are numbers with the decimal mark that fits most texts."""
    patterns = map(re.compile, PATTERNS.values())
    masks = [[pattern.match(text) is not None for text in texts] for pattern in patterns]
    return np.array(max(masks, key=sum), dtype=bool)
