"""Names of months and weekdays in the languages of the world, from babel's data of CLDR."""

from __future__ import annotations

import unicodedata
from calendar import day_name, month_name
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

_FIRST_LANGUAGES = (
    "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "cs", "sk", "hu", "ro", "bg", "hr", "sl",
    "sr", "el", "tr", "sv", "da", "nb", "fi", "et", "lv", "lt", "ca", "eu", "id", "ar", "fa", "he",
)  # fmt: skip
"""Languages that are tried first, because most files with names of months have them. Where months
of two languages have the same name, as in Czech and Croatian, the first one is taken."""

_OTHER_NAMES: Mapping[str, Mapping[str, int]] = {"de": {"mrz": 3, "janner": 1, "feber": 2}}
"""Names of months that CLDR lacks: those of Excel, and those of Austria."""

_SHORTEST_MONTH, _SHORTEST_DAY = 3, 2  # Fewest letters of a shortened name: Jan, Mo
_MOST_NAMES = 60
"""Most names of months in a column, in several cases and lengths; more words are other text."""


@dataclass(frozen=True, slots=True)
class DateWords:
    """Names of months (from 1) and weekdays (from 0, Monday) of a language."""

    language: str
    months: Mapping[str, int]
    days: Mapping[str, int]

    def month(self, word: str) -> int:
        """Return the number of the month with a name, shortened or not; 0 for another word."""
        return _number(word, self.months, _SHORTEST_MONTH)

    def explains(self, names: Collection[str], days: Collection[str]) -> bool:
        """Return whether all names are months and all days are weekdays."""
        return all(map(self.month, names)) and all(
            _number(day, self.days, _SHORTEST_DAY) for day in days
        )


def _key(word: str) -> str:
    """Return a word in lower case, without points and accents."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    return "".join(each for each in letters if each != "." and not unicodedata.combining(each))


def _number(word: str, names: Mapping[str, int], shortest: int) -> int:
    """Return the number of the only name that a word begins; 0 if there is none or several."""
    key = _key(word)
    if key in names:
        return names[key]
    begun = {number for name, number in names.items() if name.startswith(key)}
    return begun.pop() if len(begun) == 1 and len(key) >= shortest else 0


ENGLISH = DateWords(
    "English",
    {name.casefold(): number for number, name in enumerate(month_name) if name},
    {name.casefold(): number + 1 for number, name in enumerate(day_name)},
)
"""Names that need no library."""


@cache
def _of_language(code: str) -> DateWords:
    """Return the names of a language by its code in CLDR."""
    from babel import Locale

    def numbers(table: Any, first: int) -> dict[str, int]:
        return {
            _key(name): number + first
            for context in ("stand-alone", "format")
            for width in ("short", "abbreviated", "wide")  # The last of equal names counts
            for number, name in table[context].get(width, {}).items()
        }

    locale = Locale.parse(code)
    months = {**numbers(locale.months, 0), **_OTHER_NAMES.get(code, {})}
    return DateWords(str(locale.english_name), months, numbers(locale.days, 1))


def _codes() -> Iterable[str]:
    """Return the codes of languages, with scripts and without countries."""
    from babel.localedata import locale_identifiers

    codes = sorted(locale_identifiers())
    others = (code for code in codes if all(map(str.istitle, code.split("_")[1:])))
    return dict.fromkeys((*_FIRST_LANGUAGES, *others))


def find_words(names: Collection[str], days: Collection[str]) -> DateWords | None:
    """Return the names of the first language that has all these months and weekdays, or None."""
    if ENGLISH.explains(names, days):
        return ENGLISH
    is_short = any(len(name) < _SHORTEST_MONTH and name.isascii() for name in names)
    if is_short or max(len(names), len(days)) > _MOST_NAMES:
        return None
    keys = set(map(_key, names))
    with suppress(ImportError):  # Without babel only English is known
        for code in _codes():
            words = _of_language(code)
            # A single word begins like a month of some language.
            is_sure = code in _FIRST_LANGUAGES or len(keys) > 1 or keys <= words.months.keys()
            if is_sure and words.explains(names, days):
                return words
    return None
