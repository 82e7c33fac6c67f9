"""Numbers that are written with text: 6.37 kg, 1.5k, (1200), <0.5, 1,00,000 and 1.0D+03."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner.files.local_numbers import (
    CURRENCIES,
    SHARE_READ,
    SPACES,
    LocalNumbers,
    find_numbers,
    numbers_among,
    present_sample,
)
from bochner.files.number_units import is_certain, is_currency, read_suffix
from bochner.files.times_of_day import find_times

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_UNITS = 8
"""Most units of a column of quantities; the words after house numbers are more."""

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
    texts: pa.Array, decimals: Sequence[str], *, is_recorded: bool = False
) -> Quantities | MixedUnits | None:
    """Return texts (n,), null where missing, as quantities if the rules read nearly all of them.

    A column that ``is_recorded`` held quantities in an earlier file.
    """
    sample = present_sample(texts)
    if not len(sample) or not _reads(sample):
        return None
    if quantities := _with_one_unit(texts, sample, decimals):
        return quantities
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
    if is_currency(main):
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


def _with_one_unit(texts: pa.Array, sample: pa.Array, decimals: Sequence[str]) -> Quantities | None:
    """Return plain numbers before the same unit in every row: the parts of each cost much more."""
    import pyarrow.compute as pc

    back = _Parts.of(sample.slice(0, 1)).back[0].as_py()
    suffix = read_suffix(back)
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
    """Return whether texts are numbers with a unit, or times of day, as `read_table` reads them."""
    try:
        import pyarrow as pa
    except ImportError:  # An extra, without which no file is read either
        return False
    try:
        entries = pa.array(texts, pa.string())
    except UnicodeEncodeError:  # A lone surrogate, which no file of text has
        return False
    are_times = find_times(entries) is not None
    return are_times or isinstance(find_quantities(entries, (".", ",")), Quantities)


def _reads(texts: pa.Array) -> bool:
    """Return whether nearly all texts (k,) have the pattern of a quantity."""
    import pyarrow.compute as pc

    matched = pc.match_substring_regex(_typed(texts), _PATTERN)
    return bool((pc.sum(matched).as_py() or 0) >= SHARE_READ * len(texts))


def _typed(texts: pa.Array) -> pa.Array:
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
    def of(cls, texts: pa.Array) -> _Parts:
        import pyarrow.compute as pc

        parts = pc.extract_regex(_typed(texts), _PATTERN)
        names = ("limit", "open", "sign", "front", "body", "plus", "back", "mark", "close")
        fields = {name: pc.struct_field(parts, i).fill_null("") for i, name in enumerate(names)}
        array = {name: _objects(fields[name]) for name in names if name not in ("body", "back")}
        brackets = array["open"] != "", array["close"] != ""
        matched = np.array(parts.is_valid()) & (brackets[0] == brackets[1])
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


def _objects(texts: pa.Array) -> NDArray[np.object_]:
    """Return texts (n,) as objects, each distinct one made once."""
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(texts.combine_chunks() if hasattr(texts, "chunks") else texts)
    levels = np.array(encoded.dictionary.to_pylist(), dtype=object)
    return levels[np.asarray(encoded.indices)] if len(levels) else np.empty(0, dtype=object)


def _suffixes(back: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.generic]] | None:
    """Return powers of ten and units (n,), None for other suffixes, or None if there are many."""
    import pyarrow.compute as pc

    levels = pc.unique(back).to_pylist()
    suffixes = {level: read_suffix(level) for level in levels}
    units = {unit for _, unit in filter(None, suffixes.values())}
    if len(units) > _MOST_UNITS:
        return None
    if units == {"", "m"} and any(power for power, _ in filter(None, suffixes.values())):
        suffixes |= {level: (6, "") for level, some in suffixes.items() if some == (0, "m")}
    singular = {f"{unit}s": unit for unit in units if f"{unit}s" in units and unit}
    texts = _objects(back)
    table = {level: (0, None) if some is None else (some[0], singular.get(some[1], some[1]))
             for level, some in suffixes.items()}  # fmt: skip
    powers = np.array([table[text][0] for text in texts], dtype=np.int64)
    return powers, np.array([table[text][1] for text in texts], dtype=object)


def _bodies(
    parts: _Parts, powers: NDArray[np.int64], rows: NDArray[np.bool_]
) -> tuple[pa.Array, dict[str, int]]:
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


def _are_classes(texts: pa.Array, parts: _Parts, rows: NDArray[np.bool_]) -> bool:
    """Return whether signs distinguish entries that would be equal or reversed as numbers.

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


def _mixed(mixed: Mapping[str, int], main: object, row: int) -> MixedUnits | None:
    """Return the units of a column if all are known; the words after house numbers are not."""
    units = {str(main) or "none": row, **mixed}
    return MixedUnits(units) if all(map(is_certain, units)) else None
