"""Numbers that are written with text: 6.37 kg, 1.5k, (1200), <0.5, 1,00,000 and 1.0D+03."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner.tables.local_numbers import (
    CURRENCIES,
    SHARE_READ,
    SPACES,
    LocalNumbers,
    find_numbers,
    numbers_among,
)
from bochner.tables.times_of_day import find_times

_SAMPLE_SIZE = 1000
"""Entries that are looked at first: columns of other text fail within them at little cost."""

_MOST_UNITS = 8
"""Most units of a column of quantities; the words after house numbers are more."""

_DIMENSIONS = (
    "mm|cm|dm|m|km|in|ft|yd|mi|nm|µm|μm|mm2|cm2|m2|km2|mm²|cm²|m²|km²|sqm|sqft|sq|ha|acres?|"
    "ml|cl|dl|l|hl|ML|L|mL|m3|cm3|m³|cm³|gal|oz|floz|pt|qt|"
    "ng|µg|μg|mcg|mg|g|kg|t|lb|lbs|st|"
    "ns|µs|μs|ms|s|sec|secs|min|mins|h|hr|hrs|d|days?|weeks?|wk|wks|months?|mo|mos|mths|years?|yrs?|"
    "Hz|kHz|MHz|GHz|V|mV|kV|A|mA|W|kW|MW|GW|kWh|MWh|Wh|J|kJ|MJ|cal|kcal|N|kN|Nm|Pa|hPa|kPa|MPa|GPa|"
    "bar|mbar|psi|atm|K|C|F|°C|°F|°|deg|rad|dB|mol|mmol|M|mM|µM|nM|ppm|ppb|lx|lm|cd|Ω|ohms?|kΩ|"
    "km/h|kmh|kph|mph|m/s|ft/s|kn|rpm|bpm|g/l|mg/l|mg/dl|mg/dL|mmol/l|mmol/L|g/dl|g/dL|g/L|mg/L|"
    "µg/l|µg/L|µg/m3|µg/m³|mg/kg|kg/m2|kg/m²|kg/m3|kg/m³|t/ha|kg/ha|l/100km|mpg|kmpl|km/l|km/kg|"
    "bhp|hp|PS|cc|ccm|CC|rooms?|pcs|px|mmHg|"
    "B|kB|KB|MB|GB|TB|PB|bit|Mbit|Gbit|Mbps|Gbps|pct|percent|bp|bps|x"
)
"""Units that are known even without a space before them. Letters such as the A of 12A are units
only if nearly all entries have the same one."""

_MAGNITUDES: Mapping[str, int] = {
    "k": 3, "K": 3, "thousand": 3, "Tsd": 3, "tsd": 3,
    "M": 6, "mn": 6, "Mn": 6, "mln": 6, "Mio": 6, "mio": 6, "million": 6, "millions": 6,
    "B": 9, "bn": 9, "Bn": 9, "Mrd": 9, "mrd": 9, "billion": 9, "billions": 9,
    "tn": 12, "trillion": 12, "lakh": 5, "lakhs": 5, "lac": 5, "crore": 7, "crores": 7,
}  # fmt: skip
"""Powers of ten that are written as a word or a letter."""

_LONGEST_LETTER = 1
"""Letters of magnitudes that stand directly after the number: 5 K is a temperature, 5K is 5000."""

_NO_UNITS = frozenset(("st", "nd", "rd", "th", "am", "pm", "a.m.", "p.m.", "AM", "PM", "bc", "ad"))
"""Words after a number that make it an order, a time or a year."""

_KNOWN = frozenset(
    part.removesuffix("?") for part in _DIMENSIONS.replace("yrs?", "yr|yrs").split("|")
)
_CURRENCY_SIGNS = frozenset((
    "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "US$", "R$", "A$", "C$", "USD", "EUR", "GBP",
    "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "Fr", "kr", "zł", "Rs",
))  # fmt: skip
"""Units of money, as `CURRENCIES` matches them."""


_PATTERN = (
    rf"^(?P<limit>(?:[<>≤≥~≈]=?)?)[{SPACES}]?(?P<open>\(?)[{SPACES}]?(?P<sign>[+-]?)"
    rf"(?P<front>(?:{CURRENCIES}|Rs\.?)?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eEdD][+-]?[0-9]+)?)"
    r"(?P<plus>(?:\+| or more| or less| or fewer| or over| and over| and more| and under)?)"
    rf"(?P<back>(?:[{SPACES}]*[\p{{L}}°%‰€£¥₹₽₩₺₪$][^\s()<>+]{{0,19}})?)"
    r"(?P<mark>(?:\.?-|\+)?)(?P<close>\)?)$"
)
"""A number in an account, with a limit, a currency, a magnitude and a unit, for Arrow."""

_INDIAN = r"^[+-]?[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?$"
_GROUPED = r"^[+-]?(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{2})*,[0-9]{3})(?:\.[0-9]*)?$"
_FORTRAN = r"^([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+))[dD]([+-]?[0-9]{1,3})$"


@dataclass(frozen=True, slots=True, eq=False)
class Quantities:
    """Numbers (n,) with a unit, and the entries (n,) that the rules do not read.

    ``rules`` has the first row of each rule that the column needs, by the words of a note.
    """

    numbers: LocalNumbers
    unit: str
    rules: Mapping[str, int]
    unread: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class MixedUnits:
    """Quantities with several units, or with and without one; ``rows`` has the first of each."""

    rows: Mapping[str, int]


def find_quantities(
    texts: Any, decimals: Sequence[str], *, is_recorded: bool = False
) -> Quantities | MixedUnits | None:
    """Return texts (n,), null where missing, as quantities if the rules read nearly all of them.

    A column that ``is_recorded`` held quantities in an earlier file.
    """
    sample = texts.drop_null().slice(0, _SAMPLE_SIZE)
    if not len(sample) or not _reads(sample):
        return None
    if found := _with_one_unit(texts, sample, decimals):
        return found
    if not _reads(texts.drop_null()):
        return None
    parts = _Parts.of(texts)
    suffixes = _suffixes(parts.back)
    if suffixes is None:
        return None
    powers, units = suffixes
    units = np.where(parts.front != "", parts.front, units)
    matched = parts.matched & np.array([unit is not None for unit in units], dtype=bool)
    counts = {unit: int(np.sum(units[matched] == unit)) for unit in set(units[matched])}
    main = max(counts, key=lambda unit: (unit != "", counts[unit]), default="")
    is_main = matched & (units == main)
    if main in _CURRENCY_SIGNS:
        is_main |= matched & (units == "")
    if not is_recorded and _are_classes(texts, parts, is_main):
        return None
    bodies, rules = _bodies(parts, powers, is_main)
    is_number = matched & numbers_among(bodies, tuple(decimals))
    n_present = len(texts) - texts.null_count
    if np.sum(is_number) < SHARE_READ * n_present:
        return None
    if mixed := {unit or "none": int(np.argmax(is_number & (units == unit))) for unit in counts
                 if np.any(is_number & ~is_main & (units == unit))}:  # fmt: skip
        return _mixed(mixed, main, int(np.argmax(is_number & is_main)))
    if not main and not rules:
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    read = pc.if_else(pa.array(is_number & is_main), bodies, pa.scalar(None, pa.string()))
    numbers = find_numbers(read, decimals)
    if numbers is None:
        return None
    unread = np.array(texts.is_valid()) & ~(is_number & is_main)
    return Quantities(numbers, str(main), rules, unread)


def _with_one_unit(texts: Any, sample: Any, decimals: Sequence[str]) -> Quantities | None:
    """Return plain numbers before the same unit in every row: the parts of each cost much more."""
    import pyarrow.compute as pc

    back = _Parts.of(sample.slice(0, 1)).back[0].as_py()
    suffix = _suffix(back)
    if suffix is None or suffix[0] or not suffix[1]:
        return None
    if not pc.all(pc.ends_with(texts, back)).as_py():
        return None
    bodies = pc.utf8_slice_codeunits(texts, 0, stop=-len(back))
    numbers = find_numbers(_typed(bodies), decimals)
    if numbers is None or numbers.unit:
        return None
    return Quantities(numbers, suffix[1], {}, np.zeros(len(texts), dtype=bool))


def are_quantities(texts: Sequence[str]) -> bool:
    """Tell whether texts are numbers with a unit, or times of day, as `read_table` reads them."""
    try:
        import pyarrow as pa
    except ImportError:  # An extra, without which no file is read either
        return False
    found = pa.array(texts, pa.string())
    are_times = find_times(found) is not None
    return are_times or isinstance(find_quantities(found, (".", ",")), Quantities)


def is_currency(unit: str) -> bool:
    """Tell whether a unit is one of money, which amounts may lack."""
    return unit in _CURRENCY_SIGNS


def _reads(texts: Any) -> bool:
    """Tell whether nearly all texts (k,) have the pattern, as far as one can see without parts."""
    import pyarrow.compute as pc

    matched = pc.match_substring_regex(_typed(texts), _PATTERN)
    return bool((pc.sum(matched).as_py() or 0) >= SHARE_READ * len(texts))


def _typed(texts: Any) -> Any:
    """Return texts with the minus sign of keyboards."""
    import pyarrow.compute as pc

    return pc.replace_substring(texts, "\u2212", "-")


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Parts (n,) of texts; empty where a text has no such part, or no part at all."""

    matched: NDArray[np.bool_]
    limit: NDArray[Any]
    sign: NDArray[Any]
    front: NDArray[Any]
    body: Any
    back: Any
    mark: NDArray[Any]
    is_bracketed: NDArray[np.bool_]

    @classmethod
    def of(cls, texts: Any) -> _Parts:
        import pyarrow.compute as pc

        found = pc.extract_regex(_typed(texts), _PATTERN)
        names = ("limit", "open", "sign", "front", "body", "plus", "back", "mark", "close")
        fields = {name: pc.struct_field(found, i).fill_null("") for i, name in enumerate(names)}
        array = {name: _objects(fields[name]) for name in names if name not in ("body", "back")}
        brackets = array["open"] != "", array["close"] != ""
        matched = np.array(found.is_valid()) & (brackets[0] == brackets[1])
        front = np.where(array["front"] == "Rs.", "Rs", array["front"])
        return cls(
            matched,
            array["limit"],
            array["sign"],
            front,
            fields["body"],
            fields["back"],
            np.where(array["plus"] != "", array["plus"], array["mark"]),
            brackets[0] & brackets[1],
        )


def _objects(texts: Any) -> NDArray[Any]:
    """Return texts (n,) as objects, each distinct one made once."""
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(texts.combine_chunks() if hasattr(texts, "chunks") else texts)
    levels = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return levels[np.asarray(encoded.indices)] if len(levels) else np.empty(0, dtype=object)


def _suffixes(back: Any) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
    """Return powers of ten and units (n,), None for other suffixes, or None if there are many."""
    import pyarrow.compute as pc

    levels = pc.unique(back).to_pylist()
    known = {level: _suffix(level) for level in levels}
    units = {unit for _, unit in filter(None, known.values())}
    if len(units) > _MOST_UNITS:
        return None
    if units == {"", "m"} and any(power for power, _ in filter(None, known.values())):
        known |= {level: (6, "") for level, some in known.items() if some == (0, "m")}
    singular = {f"{unit}s": unit for unit in units if f"{unit}s" in units and unit}
    texts = _objects(back)
    table = {level: (0, None) if some is None else (some[0], singular.get(some[1], some[1]))
             for level, some in known.items()}  # fmt: skip
    powers = np.array([table[text][0] for text in texts], dtype=np.int64)
    return powers, np.array([table[text][1] for text in texts], dtype=object)


def _suffix(text: str) -> tuple[int, str] | None:
    """Return the power of ten and the unit of what stands after a number, or None."""
    word = text.strip(SPACES)
    is_apart = word != text
    if not word or word in _NO_UNITS:
        return None if word else (0, "")
    power = _MAGNITUDES.get(word.removesuffix("."))
    if power is not None and not (is_apart and len(word) == _LONGEST_LETTER):
        return power, ""
    if word in _KNOWN or word in _CURRENCY_SIGNS or word in "%‰":
        return 0, word
    if word[1:] in _CURRENCY_SIGNS and word[0] in _MAGNITUDES:  # k€
        return _MAGNITUDES[word[0]], word[1:]
    return (0, word) if is_apart else None


def _bodies(
    parts: _Parts, powers: NDArray[np.int64], rows: NDArray[np.bool_]
) -> tuple[Any, dict[str, int]]:
    """Return the numbers (n,) as text with a sign and a power of ten, and the rules they need."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rules: dict[str, int] = {}

    def note(words: str, where: NDArray[np.bool_]) -> None:
        if np.any(where & rows):
            rules[words] = int(np.argmax(where & rows))

    is_minus = parts.mark == "-"
    negative = is_minus | parts.is_bracketed | (parts.sign == "-")
    bodies = pc.if_else(
        pa.array(negative), pc.binary_join_element_wise("-", parts.body, ""), parts.body
    )
    is_fortran = np.array(pc.match_substring_regex(bodies, _FORTRAN))
    if np.any(is_fortran & rows):
        bodies = pc.replace_substring_regex(bodies, _FORTRAN, r"\1e\2")
    is_indian = np.array(pc.match_substring_regex(bodies, _INDIAN))
    if np.any(is_indian & rows):
        grouped = np.array(pc.match_substring_regex(bodies, _GROUPED))
        bodies = pc.if_else(pa.array(grouped), pc.replace_substring(bodies, ",", ""), bodies)
    if np.any(powers):
        exponents = pa.array([f"e{power}" if power else "" for power in powers])
        bodies = pc.binary_join_element_wise(bodies, exponents, "")
    note("negative numbers in parentheses", parts.is_bracketed)
    note("minus signs after the number", is_minus)
    is_limit = (parts.limit != "") | ~np.isin(parts.mark, ("", "-"))
    note("limits, which are read as the number", is_limit)
    note("exponents with D", is_fortran)
    note("commas in the Indian places", is_indian)
    note("magnitudes", powers != 0)
    return bodies, rules


def _are_classes(texts: Any, parts: _Parts, rows: NDArray[np.bool_]) -> bool:
    """Tell whether signs distinguish entries that would be equal or reversed as numbers.

    Such are the classes <38 and >=38, the classes 1935- and 1940-, and the marks 2- and 3+.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    is_minus, is_limit = parts.mark == "-", (parts.limit != "") | ~np.isin(parts.mark, ("", "-"))
    counts = [len(pc.unique(texts.filter(pa.array(rows & some)))) for some in (is_limit, ~is_limit)]
    if counts[0] > counts[1]:
        return True
    if bool(np.all((is_minus | parts.is_bracketed)[rows])):
        return True
    lengths = np.asarray(pc.utf8_length(parts.body))
    has_plus = bool(np.any((parts.mark == "+") & rows))
    is_signed = is_minus & rows
    return bool(is_signed.any()) and (has_plus or bool(lengths[is_signed].max() == 1))


def _mixed(mixed: Mapping[str, int], main: Any, row: int) -> MixedUnits | None:
    """Return what is mixed, if each of the units is known: the words after 12 Main are not."""
    units = {str(main) or "none": row, **mixed}
    return MixedUnits(units) if all(map(_is_certain, units)) else None


def _is_certain(unit: str) -> bool:
    """Tell whether a text is a unit and hardly anything else, such as the A of the seat 12A."""
    if len(unit) == 1 and unit.isalpha() and unit.isupper():
        return False
    return unit in _KNOWN or unit in _CURRENCY_SIGNS or unit in ("%", "‰", "none")


def is_unit(text: str) -> bool:
    """Tell whether a text is a known unit."""
    return text in _KNOWN or text in _CURRENCY_SIGNS or text in ("%", "‰")
