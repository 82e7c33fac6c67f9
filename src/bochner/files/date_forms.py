"""Forms of dates by example, names of months and days, and rewriting to these forms."""

# ruff: noqa: RUF001 (letters of other scripts are meant)

from __future__ import annotations

import re
import unicodedata
from calendar import day_name, month_name
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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


_LETTER = r"[^\s0-9.,/:;'()\[\]_+-]"  # A letter of any script, in classes without digits and marks
_YEAR = "(?P<year>[0-9]{4})"
_SHORT_YEAR = "'?(?P<year>[0-9]{2})"
_ANY_YEAR = "'?(?P<year>[0-9]{4}|[0-9]{2})"
_NEXT_YEAR = "(?P<next>[0-9]{4}|[0-9]{2})"
_MONTH = "(?P<month>[0-9]{1,2})"
_DAY = "(?P<day>[0-9]{1,2})"
_NAME = rf"(?P<name>{_LETTER}{{2,}}\.?)"
_MARKS = "(?P<mark>[-/.]) ?", "(?P<mark_2>[-/.]) ?"
_QUARTER = "[QqTtKk](?P<quarter>[1-4])"
_HALF = "[HhSs](?P<half_year>[12])"
_WEEK = "[Ww](?P<week>[0-9]{1,2})"

_ERA = r"(?P<era>令和|平成|昭和|[RHS])\.?(?P<year>[0-9]{1,2})"
_DAYS = {
    "2021-12-31": rf"{_YEAR}{_MARKS[0]}{_MONTH}{_MARKS[1]}{_DAY}\.?",
    "20211231": rf"{_YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})",
    "31/12/2021": rf"{_DAY}{_MARKS[0]}{_MONTH}{_MARKS[1]}{_YEAR}\.?",
    "31/12/21": rf"{_DAY}(?P<mark>/){_MONTH}(?P<mark_2>/){_SHORT_YEAR}",
    # Versions such as 1.2.10 are no dates.
    "31.12.21": r"(?P<day>[0-9]{2})(?P<mark>[-.])(?P<month>[0-9]{2})(?P<mark_2>[-.])" + _SHORT_YEAR,
    "31 Dec 2021": rf"{_DAY}[ .,/-]*{_NAME}[ ,/-]*{_YEAR}",
    "31-Dec-21": rf"{_DAY}[ .,/-]*{_NAME}[ ,/-]*{_SHORT_YEAR}",
    "Dec 31, 2021": rf"{_NAME}[ /-]*{_DAY}[ .,/-]+{_YEAR}",
    "2021 Dec 31": rf"{_YEAR}[ .,/-]*{_NAME}[ /-]*{_DAY}\.?",
    "R3.12.31": rf"{_ERA}[年./-]{_MONTH}[月./-]{_DAY}日?",
    "2021-365": rf"{_YEAR}[-/](?P<ordinal>[0-9]{{3}})",
}
_SPANS = {
    "2021-12": ("month", rf"{_YEAR}(?:-(?P<month>[0-9]{{2}}))"),
    "2021/12": ("month", rf"{_YEAR} ?[/.] ?{_MONTH}\.?"),
    "2021M12": ("month", rf"{_YEAR}[ :-]?[Mm] ?{_MONTH}"),
    "R3年12月": ("month", rf"{_ERA}年{_MONTH}月"),
    "12/2021": ("month", rf"{_MONTH} ?[-/.] ?{_YEAR}"),
    "FY2021": ("fiscal year", rf"FY[ -]?{_ANY_YEAR}"),
    "Dec 2021": ("month", rf"{_NAME}[ ,/-]*{_YEAR}"),
    "2021 Dec": ("month", rf"{_YEAR}[ .,/-]*{_NAME}"),
    "Dec-21": ("month", rf"{_NAME}[-/ ]*{_SHORT_YEAR}"),
    "2021Q1": ("quarter", rf"{_YEAR}[ :/-]*{_QUARTER}"),
    "2021-1Q": ("quarter", rf"{_YEAR}[ :/-]*(?P<quarter>[1-4])[Qq]"),
    "Q1 2021": ("quarter", rf"{_QUARTER}[ .,/-]*{_ANY_YEAR}"),
    "1Q 2021": ("quarter", rf"(?P<quarter>[1-4])[Qq][ .,/-]*{_ANY_YEAR}"),
    "2021H1": ("half year", rf"{_YEAR}[ :/-]*{_HALF}"),
    "H1 2021": ("half year", rf"{_HALF}[ .,/-]*{_ANY_YEAR}"),
    "2021-W01": ("week", rf"{_YEAR}[ :/-]*{_WEEK}(?:-?(?P<week_day>[1-7]))?"),
    "W01 2021": ("week", rf"{_WEEK}[ .,/-]*{_YEAR}"),
    "2020-21": ("fiscal year", rf"(?:FY ?)?{_YEAR} ?[-/–] ?{_NEXT_YEAR}"),
}
"""Regular expressions of days, and of spans of days, by example; groups are parts of dates."""

_ZONE = "Z|[A-Z]{0,4} ?[+-][0-9]{1,2}(?::?[0-9]{2})?(?: [A-Z]{3,4})?|[A-Z]{3,4}"
_CLOCK = (
    r"(?P<hour>[0-9]{1,2})(?:[:.h](?P<minute>[0-9]{1,2})"
    r"(?:[:.m](?P<second>[0-9]{1,2})(?:[.,:](?P<fraction>[0-9]{1,9}))?)?)? ?h?"
    rf"(?: ?(?P<half>[AaPp])\.? ?[Mm]\.?)?(?: ?(?P<zone>{_ZONE}))?"
)
_COMPACT_CLOCK = (
    r"(?P<hour>[0-9]{2})-?(?P<minute>[0-9]{2})"
    r"(?:-?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    rf"(?: ?(?P<zone>{_ZONE}))?"
)
_JOIN = r"(?:[T_:, ]| - )+"
_WEEKDAY = rf"(?:(?P<weekday>{_LETTER}{{2,}}(?:-{_LETTER}+)?)[ .,]+)?"
_AFTER = rf"(?:[ ,]+(?P<after>{_LETTER}{{2,}}(?:-{_LETTER}+)?))?"

_LAYOUTS = (
    rf"^{_WEEKDAY}DATE{_AFTER}(?:{_JOIN}{_CLOCK})?$",
    rf"^{_CLOCK}[ ,-]+{_WEEKDAY}DATE$",
    rf"^{_WEEKDAY}DATE(?:[T_ -]?{_COMPACT_CLOCK})?$",
)
"""Places of the time of day: after the date, before it, or after it without colons."""

_WEEK_WORDS = "(?i:kalenderwoche|woche|week|wk|kw|cw|semaine|semana|settimana|vecka|uge|uke|viikko)"
_QUARTER_WORDS = r"(?i:quartal|quarter|trimestre|kwartaal|kwartał|kvartal|квартал|кв)"

_REWRITES = (
    ("[\u00a0\u2009\u202f\u3000]", " "),
    ("[\u200e\u200f]", ""),  # Directions of Arabic text
    ("元年", "1年"),
    (r"(?:星期|[周週])[一二三四五六日天]|[월화수목금토일]요일|[月火水木金土日]曜日?", ""),
    (r"\s*[(\[（][^0-9)\]）]{1,16}[)\]）]", ""),  # A weekday, a flag
    (r"^\[(.*)\]$", r"\1"),
    # Tue Jan 05 13:00:00 CET 2021, of C and of `date`
    (rf"^({_LETTER}+ {_LETTER}+) +([0-9]+) ([0-9:]+(?: [A-Z]+)?) ([0-9]{{4}})$", r"\1 \2 \4 \3"),
    (r"([0-9]{4}) ?[年년] ?第? ?([1-4]) ?(?:四半期|季度|분기)", r"\1Q\2"),
    (r"([0-9]{4}) ?年 ?第? ?([0-9]{1,2}) ?[週周]", r"\1W\2"),
    (r"([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日号일]", r"\1-\2-\3 "),
    (r"([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월]", r"\1/\2"),
    (r"([0-9]{1,2}) ?[時时点시] ?([0-9]{1,2}) ?[分분] ?([0-9]{1,2}) ?[秒초]", r"\1:\2:\3"),
    (r"([0-9]{1,2}) ?[時时点시] ?([0-9]{1,2}) ?[分분]", r"\1:\2"),
    (r"([0-9]{1,2}) ?[時时点시]", r"\1:00"),
    (r"(?:午前|上午|오전) ?", " AM "),
    (r"(?:午後|下午|오후) ?", " PM "),
    (r"(^|[ ,])([AaPp][Mm]) *([0-9]{1,2}(?::[0-9:.,]+|$))", r"\1\3 \2"),
    (
        r"^(?:[^0-9]+, )?(?:ngày )?([0-9]{1,2}) tháng ([0-9]{1,2}),? (?:năm )?([0-9]{4})",
        r"\3-\2-\1",
    ),
    (r" ?(?:Uhr|uhr|hrs?|klo)\.?$", ""),
    (r",? (?:at|um|à|kl\.?|klo|a las|às|alle|om|в|о|@) ([0-9])", r" \1"),
    (r"([0-9]{4}),? ?(?:года|року|г\.?|р\.|r\.|m\.)( |,|$)", r"\1\2"),
    (r" d\.(,|$)", r"\1"),  # Lithuanian for day
    (r"([^0-9][0-9]{4})\.( |,|$)", r"\1\2"),
    (r" (?:de|del|of|di|do|da) ", " "),
    (r" d['’]", " "),
    (r"(^| )(?:den|el|le|il|the|am) ([0-9])", r"\1\2"),
    (r"([0-9])(?:st|nd|rd|th|er|e|\.?[ºª°]|:e)([ ,.-]|$)", r"\1\2"),
    (rf"^([1-4])\.? ?{_QUARTER_WORDS}[ .,/]+", r"Q\1 "),
    (rf"{_QUARTER_WORDS} ?([1-4])", r"Q\1"),
    (r"^([12])\.? ?(?i:halbjahr|half|semestre|semester)[ ,/]*", r"H\1 "),
    (rf"(^|[0-9 /-]){_WEEK_WORDS}[ .]*([0-9]{{1,2}})", r"\1W\2"),
)
"""Regular expressions and replacements in their order: words around dates, and other scripts."""

_LONGEST, _FEWEST_DIGITS = 64, 2
"""Characters of the longest date with its time, and digits of the shortest one."""

_FEW = 8  # Texts that are tested first: most columns of other text fail with a few entries


@dataclass(frozen=True, slots=True)
class DateForm:
    """A form of dates: an example, the span ("" for days), and the expression of a whole text.

    The form of most of some texts has the ``matches`` of these texts, and the ``rewrites`` of texts
    before they are matched.
    """

    example: str
    span: str
    regex: str
    matches: Sequence[re.Match[str]] = ()
    rewrites: Sequence[tuple[str, str]] = ()

    @property
    def is_named(self) -> bool:
        """Whether months have names."""
        return "Dec" in self.example

    @property
    def is_ordered(self) -> bool:
        """Whether the first of two numbers is the day or the month."""
        return self.example[:3] in ("31/", "31.")


ISO = DateForm("2021-12-31", "", "")
"""The form of ISO 8601, which Arrow reads."""

_FORMS = (
    *(DateForm(example, "", _LAYOUTS[0].replace("DATE", date)) for example, date in _DAYS.items()),
    *(DateForm(example, span, f"^{date}$") for example, (span, date) in _SPANS.items()),
    *(
        DateForm(example, "", layout.replace("DATE", date))
        for layout in _LAYOUTS[1:]
        for example, date in _DAYS.items()
    ),
)
"""All forms, those with the time of day after the date first."""

_LIKE_FISCAL_YEARS = ("2021-12", "2021/12")  # Forms of months whose texts may be fiscal years


def find_form(texts: Sequence[str], *, only_iso: bool) -> DateForm | None:
    """Return the form that most of some texts have, or None; ``only_iso`` excludes local forms."""
    few = texts[:: 1 + len(texts) // _FEW]
    return _form_of(few, only_iso) and _form_of(texts, only_iso)


def _form_of(texts: Sequence[str], only_iso: bool) -> DateForm | None:
    is_likely = [
        len(text) <= _LONGEST and sum(map(str.isdigit, text)) >= _FEWEST_DIGITS for text in texts
    ]
    if 2 * sum(is_likely) <= len(texts):
        return None
    needed = []
    for pattern, replacement in _REWRITES:
        again = [re.sub(pattern, replacement, text).strip() for text in texts]
        if again != texts:
            needed.append((pattern, replacement))
            texts = again
    excluded = _LIKE_FISCAL_YEARS if _are_fiscal_years(texts) else ()
    best = ISO
    for form in _FORMS:
        if form.example in excluded or (only_iso and (form.is_named or form.is_ordered)):
            continue
        matches = [match for match in (re.match(form.regex, text) for text in texts) if match]
        if len(matches) > max(len(best.matches), len(texts) // 2):
            best = replace(form, matches=matches, rewrites=needed)
    return best if best.matches else None


def _are_fiscal_years(texts: Sequence[str]) -> bool:
    """Return whether texts such as 2000-01 are two consecutive years, and not all the same."""
    years = (re.fullmatch(_SPANS["2020-21"][1], text) for text in texts)
    pairs = {(int(match["year"]), int(match["next"])) for match in years if match}
    return len(pairs) > 1 and all((year + 1 - after) % 100 == 0 for year, after in pairs)
