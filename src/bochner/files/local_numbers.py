"""Numbers as people write them: decimal commas, thousands, currencies, units and magnitudes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

MARKS = {".": "points", ",": "commas"}
"""Decimal marks, and how notes call them."""

_THOUSANDS = {".": ",", ",": "."}
"""Separator of thousands by decimal mark."""

SPACES = " \u00a0\u2009\u202f'\u2019"
"""Other separators of thousands: spaces of several widths, and apostrophes."""

_CURRENCIES = "[$€£¥₹₽₩₺₪]|(?:US|R|A|C)[$]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|Fr|kr|zł"
_PER_CENT = "%"

LARGEST_EXACT = 2**53
"""Whole number up to which all are exact in float64, in which tables are encoded."""

SHARE_READ = 0.9
"""Share of the present entries of a column of text from which they are numbers or dates with a few
other entries among them, not text."""

_SAMPLE_SIZE = 1000
"""Entries that are looked at first: columns of other text fail within them at little cost."""


def _pattern(decimal: str) -> str:
    mark, comma = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    groups = "|".join(f"[1-9][0-9]{{0,2}}(?:{some}[0-9]{{3}})+" for some in (comma, f"[{SPACES}]"))
    return rf"^[+-]?(?:(?:[0-9]+|{groups})(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?$"


_PATTERNS = {decimal: _pattern(decimal) for decimal in _THOUSANDS}
"""Patterns of numbers by decimal mark, for `re` and for Arrow."""

_BARE_EXPONENT = "^[0-9]+E[0-9]+$"
"""A code such as 1E3 or 7E10; programs write numbers with a point, a sign or a small e."""

_UNIT = f"{_CURRENCIES}|{_PER_CENT}"
_WITH_UNIT = (
    rf"^(?P<sign>[+-]?)(?P<front>(?:{_UNIT})?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eE][+-]?[0-9]+)?)"
    rf"[{SPACES}]?(?P<back>(?:{_UNIT})?)$"
)


@dataclass(frozen=True, slots=True)
class LocalNumbers:
    """Texts (n,) of numbers, without their unit, and the decimal marks that read all of them.

    With two marks, the numbers depend on the choice of the decimal mark; without marks, no text has
    one. ``rows`` has the first row with a point and the first row with a comma, where they exist.
    """

    texts: Any
    unit: str
    decimals: tuple[str, ...]
    rows: Mapping[str, int]

    def read(self, decimal: str) -> pa.Array:
        """Return the numbers (n,) as an Arrow array, null where the texts are."""
        import pyarrow.compute as pc

        texts, mark = self.texts, _THOUSANDS[decimal]
        texts = pc.replace_substring(texts, mark, "") if mark in self.rows else texts
        texts = pc.replace_substring(texts, ",", ".") if decimal == "," else texts
        numbers = plain_numbers(texts)
        if numbers is None:
            numbers = plain_numbers(pc.replace_substring_regex(texts, f"[{SPACES}]", ""))
        assert numbers is not None  # The patterns of `find_numbers` accept nothing else
        return numbers


def present_sample(texts: pa.Array) -> pa.Array:
    """Return the first present texts (k,), without a copy of all rows unless many are missing."""
    head = texts.slice(0, 10 * _SAMPLE_SIZE).drop_null()
    return (head if len(head) else texts.drop_null()).slice(0, _SAMPLE_SIZE)


def plain_numbers(texts: pa.Array) -> pa.Array | None:
    """Return texts (n,) as whole numbers or floats, if each is a number as programs write it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    for kind in (pa.int64(), pa.float64()):
        try:
            pc.cast(sample, kind)  # which may fail, and then in a short time
            numbers = pc.cast(texts, kind)
        except pa.ArrowInvalid:
            continue
        # Arrow also reads hexadecimal numbers, which are codes.
        is_code = pa.types.is_integer(kind) and pc.any(pc.match_substring(texts, "x")).as_py()
        return None if is_code else numbers
    return None


_FEWEST_WIDE_CODES = 3
"""Digits from which numbers of one width with leading zeros are codes: 01 to 12 are months."""


def code_rule(texts: pa.Array, numbers: pa.Array) -> tuple[str, int] | None:
    """Return why plain numbers (n,) are codes, and the first such row, or None.

    The rule is "zeros" for leading zeros that tell entries apart, "padded" for two digits with a
    leading zero, which numbers lose without harm, and "exponents" if all entries are such as 7E10.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(numbers.type):
        return ("exponents", 0) if _all_match(texts, _BARE_EXPONENT) else None
    lengths = pc.binary_length(texts)
    has_zero = pc.and_(pc.starts_with(texts, "0"), pc.greater(lengths, 1)).fill_null(False)
    row = pc.index(has_zero, True).as_py()
    if row < 0:
        return None
    ends = pc.min_max(lengths).as_py()
    is_padded = ends["min"] == ends["max"] < _FEWEST_WIDE_CODES
    return ("padded" if is_padded else "zeros"), row


def has_mark(texts: pa.Array, mark: str = ".") -> bool:
    """Return whether one of the texts (n,) has a decimal mark."""
    import pyarrow.compute as pc

    return pc.any(pc.match_substring(texts, mark)).as_py() is True


def loses_digits(texts: pa.Array, numbers: pa.Array) -> bool:
    """Return whether texts are integers, some of them too large for exact float64."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(numbers.type) and not _all_match(texts, "^[+-]?[0-9]+$"):
        return False
    ends = pc.min_max(numbers).as_py()
    return ends["min"] is not None and max(-ends["min"], ends["max"]) > LARGEST_EXACT


def find_numbers(texts: pa.Array, decimals: Sequence[str]) -> LocalNumbers | None:
    """Return texts (n,) as numbers, if one of the decimal marks reads all of them."""
    import pyarrow.compute as pc

    for bodies, unit in _bodies(texts):
        possible = tuple(decimal for decimal in decimals if _all_match(bodies, _PATTERNS[decimal]))
        if possible:
            contained = {mark: pc.match_substring(bodies, mark) for mark in _THOUSANDS}
            rows = {mark: pc.index(mask, True).as_py() for mark, mask in contained.items()}
            rows = {mark: row for mark, row in rows.items() if row >= 0}
            return LocalNumbers(bodies, unit, possible if rows else (), rows)
    return None


def numbers_among(texts: pa.Array, decimals: Sequence[str] = (".", ",")) -> NDArray[np.bool_]:
    """Return a mask of numbers in texts (n,), null or not, by the decimal mark that fits most."""
    import pyarrow.compute as pc

    masks = [pc.match_substring_regex(texts, _PATTERNS[decimal]) for decimal in decimals]
    return max((np.array(mask.fill_null(False)) for mask in masks), key=np.count_nonzero)


def may_hold_numbers(texts: pa.Array) -> bool:
    """Return whether one of the texts (k,) might be a number, with or without a unit."""
    import pyarrow.compute as pc

    plain = pc.replace_substring(texts, "\u2212", "-")
    infinite = pc.match_substring_regex(plain, "^[+-]?(?i:inf(?:inity)?)$")
    return pc.any(pc.or_(infinite, pc.match_substring_regex(plain, _WITH_UNIT))).as_py() is True


def written_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of numbers among texts (n,), by the decimal mark that fits most texts."""
    patterns = map(re.compile, _PATTERNS.values())
    masks = [[pattern.match(text) is not None for text in texts] for pattern in patterns]
    return np.array(max(masks, key=sum), dtype=bool)


def are_decimals(texts: Sequence[str]) -> bool:
    """Return whether texts are numbers with the same decimal mark, and not only integers."""
    return not all(map(str.isdigit, texts)) and bool(written_numbers(texts).all())


def _all_match(texts: pa.Array, pattern: str) -> bool:
    import pyarrow.compute as pc

    sample = texts.slice(0, _SAMPLE_SIZE)
    parts = (sample, texts) if len(texts) > _SAMPLE_SIZE else (sample,)
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False
               for part in parts)  # fmt: skip


def _bodies(texts: pa.Array) -> Iterator[tuple[pa.Array, str]]:
    """Yield texts unchanged, and then without their unit if all texts with a unit share it."""
    import pyarrow.compute as pc

    yield texts, ""
    for some in (texts.slice(0, _SAMPLE_SIZE), texts):
        plain = pc.replace_substring(some, "\u2212", "-")  # the sign of typeset numbers
        if not _all_match(plain, _WITH_UNIT):
            return
    parts = pc.extract_regex(plain, _WITH_UNIT)
    sign, front, body, back = (pc.struct_field(parts, i) for i in range(4))
    units = pc.binary_join_element_wise(front, back, "")
    counts = {some["values"]: some["counts"] for some in pc.value_counts(units).to_pylist()}
    named = [unit for unit in counts if unit]
    if len(named) > 1 or (_PER_CENT in named and "" in counts):
        return  # quantities that differ by more than their number
    yield pc.binary_join_element_wise(sign, body, ""), named[0] if named else ""


_DIMENSIONS = (
    "mm cm dm m km in ft yd mi nm µm μm mm2 cm2 m2 km2 mm² cm² m² km² sqm sqft sq ha acre acres "
    "ml cl dl l hl ML L mL m3 cm3 m³ cm³ gal oz floz pt qt ng µg μg mcg mg g kg t lb lbs st "
    "ns µs μs ms s sec secs min mins h hr hrs d day days week weeks wk wks month months mo mos "
    "mths year years yr yrs Hz kHz MHz GHz V mV kV A mA W kW MW GW kWh MWh Wh J kJ MJ cal kcal "
    "N kN Nm Pa hPa kPa MPa GPa bar mbar psi atm K C F °C °F ° deg rad dB mol mmol M mM µM nM ppm "
    "ppb lx lm cd Ω ohm ohms kΩ km/h kmh kph mph m/s ft/s kn rpm bpm g/l mg/l mg/dl mg/dL mmol/l "
    "mmol/L g/dl g/dL g/L mg/L µg/l µg/L µg/m3 µg/m³ mg/kg kg/m2 kg/m² kg/m3 kg/m³ t/ha kg/ha "
    "l/100km mpg kmpl km/l km/kg bhp hp PS cc ccm CC room rooms pcs px mmHg "
    "B kB KB MB GB TB PB bit Mbit Gbit Mbps Gbps pct percent bp bps x"
)
"""Units that are known even without a space before them. Letters such as the A of 12A are units
only if nearly all entries have the same one."""

_KNOWN = frozenset((*_DIMENSIONS.split(), "%", "‰"))
_MONEY = frozenset((
    "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "US$", "R$", "A$", "C$", "USD", "EUR", "GBP",
    "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "Fr", "kr", "zł",
))  # fmt: skip
"""Units of money, as `_CURRENCIES` matches them, which amounts may lack."""

_MAGNITUDES: Mapping[str, int] = {
    "k": 3, "K": 3, "thousand": 3, "Tsd": 3, "M": 6, "mn": 6, "mln": 6, "Mio": 6, "million": 6,
    "B": 9, "bn": 9, "Mrd": 9, "billion": 9, "tn": 12, "trillion": 12,
}  # fmt: skip
"""Powers of ten that are written as a word or a letter."""

_NO_UNITS = frozenset(("st", "nd", "rd", "th", "am", "pm", "a.m.", "p.m.", "AM", "PM", "bc", "ad"))
"""Words after a number that make it an order, a time or a year."""

_MOST_UNITS = 8
"""Most units of a column of quantities; the words after house numbers are more."""

_QUANTITY = (
    rf"^(?P<limit>(?:[<>≤≥~≈]=?)?)[{SPACES}]?(?P<open>\(?)[{SPACES}]?(?P<sign>[+-]?)"
    rf"(?P<front>(?:{_CURRENCIES})?)[{SPACES}]?"
    rf"(?P<body>[+-]?[0-9.,][0-9.,{SPACES}]*?(?:[eE][+-]?[0-9]+)?)"
    r"(?P<plus>(?:\+| or more| or less)?)"
    rf"(?P<back>(?:[{SPACES}]*[\p{{L}}°%‰€£¥₹₽₩₺₪$][^\s()<>+]{{0,19}})?)"
    r"(?P<mark>\+?)(?P<close>\)?)$"
)
"""A number in parentheses, with a limit, a currency, a magnitude and a unit, for Arrow."""


def is_currency(unit: str) -> bool:
    """Return whether a unit is one of money, which amounts may lack."""
    return unit in _MONEY


def is_unit(text: str) -> bool:
    """Return whether a text is a known unit."""
    return text in _KNOWN or text in _MONEY


def _is_certain(unit: str) -> bool:
    """Return whether a text is a unit and hardly anything else, such as the A of the seat 12A."""
    is_letter = len(unit) == 1 and unit.isalpha() and unit.isupper()
    return not is_letter and (is_unit(unit) or unit == "none")


def _suffix(text: str) -> tuple[int, str] | None:
    """Return the power of ten and the unit of what stands after a number, or None."""
    word = text.strip(SPACES)
    is_apart = word != text
    if not word or word in _NO_UNITS:
        return None if word else (0, "")
    power = _MAGNITUDES.get(word.removesuffix("."))
    if power is not None and not (is_apart and len(word) == 1):  # 5 K is a temperature
        return power, ""
    if is_unit(word):
        return 0, word
    if word[1:] in _MONEY and word[0] in _MAGNITUDES:  # k€
        return _MAGNITUDES[word[0]], word[1:]
    return (0, word) if is_apart else None


@dataclass(frozen=True, slots=True, eq=False)
class Quantities:
    """Numbers (n,) with a unit, and a mask (n,) of entries that the rules do not read.

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
    texts: pa.Array, decimals: Sequence[str], *, is_recorded: bool = False
) -> Quantities | MixedUnits | None:
    """Return texts (n,), null where missing, as quantities if the rules read nearly all of them.

    A column that ``is_recorded`` held quantities in an earlier file.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    sample = present_sample(texts)
    if not (len(sample) and _are_quantities(sample) and _are_quantities(texts.drop_null())):
        return None
    fields = pc.extract_regex(_typed(texts), _QUANTITY)
    names = ("limit", "open", "sign", "front", "body", "plus", "back", "mark", "close")
    parts = {name: pc.struct_field(fields, i).fill_null("") for i, name in enumerate(names)}
    has = {name: np.array(pc.not_equal(parts[name], "")) for name in names}
    is_bracketed = has["open"] & has["close"]
    suffixes = _suffixes(parts["back"])
    if suffixes is None:
        return None
    powers, units = suffixes
    units = np.where(has["front"], _objects(parts["front"]), units)
    is_known = np.array([unit is not None for unit in units], dtype=bool)
    matched = np.array(fields.is_valid()) & (has["open"] == has["close"]) & is_known
    counts = {unit: int(np.sum(units[matched] == unit)) for unit in set(units[matched])}
    main = max(counts, key=lambda unit: (unit != "", counts[unit]), default="")
    is_main = matched & ((units == main) | ((units == "") & is_currency(main)))
    is_limit = has["limit"] | has["plus"] | has["mark"]
    if not is_recorded and _are_classes(texts, is_limit, is_bracketed, is_main):
        return None
    negative = pa.array(is_bracketed | np.array(pc.equal(parts["sign"], "-")))
    minus = pc.binary_join_element_wise("-", parts["body"], "")
    bodies = pc.if_else(negative, minus, parts["body"])
    if np.any(powers):
        exponents = pa.array([f"e{power}" if power else "" for power in powers])
        bodies = pc.binary_join_element_wise(bodies, exponents, "")
    is_number = matched & numbers_among(bodies, tuple(decimals))
    if np.sum(is_number) < SHARE_READ * (len(texts) - texts.null_count):
        return None
    others = {unit or "none": int(np.argmax(is_number & (units == unit))) for unit in counts
              if np.any(is_number & ~is_main & (units == unit))}  # fmt: skip
    if others:  # The words after house numbers are no units
        rows = {str(main) or "none": int(np.argmax(is_number & is_main)), **others}
        return MixedUnits(rows) if all(map(_is_certain, rows)) else None
    rules = {
        words: int(np.argmax(where & is_main))
        for words, where in (
            ("negative numbers in parentheses", is_bracketed),
            ("limits, which are read as the number", is_limit),
            ("magnitudes", powers != 0),
        )
        if np.any(where & is_main)
    }
    is_read = is_number & is_main
    numbers = find_numbers(pc.if_else(pa.array(is_read), bodies, pa.scalar(None, pa.string())),
                           decimals) if main or rules else None  # fmt: skip
    unread = np.array(texts.is_valid()) & ~is_read
    return None if numbers is None else Quantities(numbers, str(main), rules, unread)


def _are_quantities(texts: pa.Array) -> bool:
    """Return whether nearly all texts (k,) have the pattern of a quantity."""
    import pyarrow.compute as pc

    matched = pc.match_substring_regex(_typed(texts), _QUANTITY)
    return bool((pc.sum(matched).as_py() or 0) >= SHARE_READ * len(texts))


def _typed(texts: pa.Array) -> pa.Array:
    """Return texts with the minus sign of keyboards."""
    import pyarrow.compute as pc

    return pc.replace_substring(texts, "\u2212", "-")


def _objects(texts: pa.Array) -> NDArray[np.object_]:
    """Return texts (n,) as objects, each distinct one made once."""
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(texts.combine_chunks() if hasattr(texts, "chunks") else texts)
    levels = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return levels[np.asarray(encoded.indices)] if len(levels) else np.empty(0, dtype=object)


def _suffixes(back: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.generic]] | None:
    """Return powers of ten and units (n,), None for other suffixes, or None if there are many."""
    import pyarrow.compute as pc

    levels = pc.unique(back)
    suffixes = [_suffix(level) for level in levels.to_pylist()]
    units = {unit for _, unit in filter(None, suffixes)}
    if len(units) > _MOST_UNITS:
        return None
    if units == {"", "m"} and any(power for power, _ in filter(None, suffixes)):
        suffixes = [(6, "") if some == (0, "m") else some for some in suffixes]
    singular = {f"{unit}s": unit for unit in units if f"{unit}s" in units and unit}
    powers = np.array([0 if some is None else some[0] for some in suffixes], dtype=np.int64)
    names = [None if some is None else singular.get(some[1], some[1]) for some in suffixes]
    codes = np.asarray(pc.index_in(back, value_set=levels))
    return powers[codes], np.array(names, dtype=object)[codes]


def _are_classes(
    texts: pa.Array,
    is_limit: NDArray[np.bool_],
    is_bracketed: NDArray[np.bool_],
    rows: NDArray[np.bool_],
) -> bool:
    """Return whether signs tell entries apart, as in the classes <38 and >=38, or (1) and (2)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = [len(pc.unique(texts.filter(pa.array(rows & some)))) for some in (is_limit, ~is_limit)]
    return counts[0] > counts[1] or bool(np.all(is_bracketed[rows]))
