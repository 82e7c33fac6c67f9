"""Patterns of dates by example, and rewriting of notations to those that the patterns read."""

# ruff: noqa: RUF001 (letters of other scripts are meant)

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

Family = Literal["iso", "month", "compact", "numeric", "named"]

_LETTER = r"[^\s0-9.,/:;'()\[\]_+-]"
"""A letter of any script, in classes without digits and marks."""

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

_PATTERNS: Mapping[str, tuple[Family, str, str]] = {
    "2021-12-31": ("iso", "", rf"{_YEAR}{_MARKS[0]}{_MONTH}{_MARKS[1]}{_DAY}\.?"),
    "20211231": ("compact", "", rf"{_YEAR}(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})"),
    "31/12/2021": ("numeric", "", rf"{_DAY}{_MARKS[0]}{_MONTH}{_MARKS[1]}{_YEAR}\.?"),
    "31/12/21": ("numeric", "", rf"{_DAY}/{_MONTH}/{_SHORT_YEAR}"),
    # Versions such as 1.2.10 are no dates.
    "31.12.21": (
        "numeric",
        "",
        r"(?P<day>[0-9]{2})(?P<mark>[-.])(?P<month>[0-9]{2})(?P<mark_2>[-.])" + _SHORT_YEAR,
    ),
    "31 Dec 2021": ("named", "", rf"{_DAY}[ .,/-]*{_NAME}[ ,/-]*{_YEAR}"),
    "31-Dec-21": ("named", "", rf"{_DAY}[ .,/-]*{_NAME}[ ,/-]*{_SHORT_YEAR}"),
    "Dec 31, 2021": ("named", "", rf"{_NAME}[ /-]*{_DAY}[ .,/-]+{_YEAR}"),
    "2021 Dec 31": ("named", "", rf"{_YEAR}[ .,/-]*{_NAME}[ /-]*{_DAY}\.?"),
    "2021-365": ("month", "", rf"{_YEAR}[-/](?P<ordinal>[0-9]{{3}})"),
    "2021-12": ("month", "month", rf"{_YEAR}(?:-(?P<month>[0-9]{{2}}))"),
    "2021/12": ("month", "month", rf"{_YEAR} ?[/.] ?{_MONTH}\.?"),
    "2021M12": ("month", "month", rf"{_YEAR}[ :-]?[Mm] ?{_MONTH}"),
    "12/2021": ("month", "month", rf"{_MONTH} ?[-/.] ?{_YEAR}"),
    "FY2021": ("month", "fiscal year", rf"FY[ -]?{_ANY_YEAR}"),
    "Dec 2021": ("named", "month", rf"{_NAME}[ ,/-]*{_YEAR}"),
    "2021 Dec": ("named", "month", rf"{_YEAR}[ .,/-]*{_NAME}"),
    "Dec-21": ("named", "month", rf"{_NAME}[-/ ]*{_SHORT_YEAR}"),
    "2021Q1": ("month", "quarter", rf"{_YEAR}[ :/-]*{_QUARTER}"),
    "2021-1Q": ("month", "quarter", rf"{_YEAR}[ :/-]*(?P<quarter>[1-4])[Qq]"),
    "Q1 2021": ("month", "quarter", rf"{_QUARTER}[ .,/-]*{_ANY_YEAR}"),
    "1Q 2021": ("month", "quarter", rf"(?P<quarter>[1-4])[Qq][ .,/-]*{_ANY_YEAR}"),
    "2021H1": ("month", "half year", rf"{_YEAR}[ :/-]*{_HALF}"),
    "H1 2021": ("month", "half year", rf"{_HALF}[ .,/-]*{_ANY_YEAR}"),
    "2021-W01": ("month", "week", rf"{_YEAR}[ :/-]*{_WEEK}(?:-?(?P<week_day>[1-7]))?"),
    "W01 2021": ("month", "week", rf"{_WEEK}[ .,/-]*{_YEAR}"),
    "2020-21": ("month", "fiscal year", rf"(?:FY ?)?{_YEAR} ?[-/–] ?{_NEXT_YEAR}"),
}  # fmt: skip
"""Family, span ("" for days) and regular expression of dates, by example. The first number of the
family "numeric" is the day or the month."""

_ZONE = "Z|[A-Z]{0,4} ?[+-][0-9]{1,2}(?::?[0-9]{2})?(?: [A-Z]{3,4})?|[A-Z]{3,4}"
_CLOCK = (
    r"(?:(?P<before>[AaPp])[Mm] *)?(?P<hour>[0-9]{1,2})(?:[:.h](?P<minute>[0-9]{1,2})"
    r"(?:[:.m](?P<second>[0-9]{1,2})(?:[.,:](?P<fraction>[0-9]{1,9}))?)?)? ?h?"
    rf"(?: ?(?P<half>[AaPp])\.? ?[Mm]\.?)?(?: ?(?P<zone>{_ZONE}))?"
)
_COMPACT_CLOCK = (
    r"(?P<hour>[0-9]{2})-?(?P<minute>[0-9]{2})"
    r"(?:-?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
    rf"(?: ?(?P<zone>{_ZONE}))?"
)
_JOIN = r"(?:[T_]| ?, ?| +- +|:| )+"
_WEEKDAY = rf"(?:(?P<weekday>{_LETTER}{{2,}}(?:-{_LETTER}+)?)[ .,]+)?"
_AFTER = rf"(?:[ ,]+(?P<after>(?![AaPp][Mm] ){_LETTER}{{2,}}(?:-{_LETTER}+)?))?"

_LAYOUTS = (
    rf"^{_WEEKDAY}DATE{_AFTER}(?:{_JOIN}{_CLOCK})?$",
    rf"^{_CLOCK}[ ,-]+{_WEEKDAY}DATE$",
    rf"^{_WEEKDAY}DATE(?:[T_ -]?{_COMPACT_CLOCK})?$",
)
"""Places of the time of day: after the date, before it, or after it without colons."""

_WEEK_WORDS = "(?i:kalenderwoche|woche|week|wk|kw|cw|semaine|semana|settimana|vecka|uge|uke|viikko)"
_QUARTER_WORDS = r"(?i:quartal|quarter|trimestre|kwartaal|kwartał|kvartal|квартал|кв)\b"

_REWRITES = (
    ("[\u00a0\u2009\u202f]", " "),
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
    (rf"^([1-4])\.? ?{_QUARTER_WORDS}[ .,/]*", r"Q\1 "),
    (rf"{_QUARTER_WORDS} ?([1-4])", r"Q\1"),
    (r"^([12])\.? ?(?i:halbjahr|half|semestre|semester)[ ,/]*", r"H\1 "),
    (rf"(^|[0-9 /-]){_WEEK_WORDS}[ .]*([0-9]{{1,2}})", r"\1W\2"),
)
"""Regular expressions and replacements in their order: words around dates, and other scripts."""

_LONGEST = 64
"""Characters of the longest date with its time. A date has two digits at least."""


@dataclass(frozen=True, slots=True)
class DatePattern:
    """A pattern of dates by an example, and the place of the time of day in `_LAYOUTS`."""

    example: str
    layout: int = 0

    @property
    def family(self) -> Family:
        """Family of the pattern."""
        return _PATTERNS[self.example][0]

    @property
    def span(self) -> str:
        """Span of a date without a day, such as "month"; "" for days."""
        return _PATTERNS[self.example][1]

    @property
    def regex(self) -> str:
        """Regular expression of a whole text, for Python and for Arrow."""
        _, span, date = _PATTERNS[self.example]
        return f"^{date}$" if span else _LAYOUTS[self.layout].replace("DATE", date)


@cache
def compiled(pattern: DatePattern) -> re.Pattern[str]:
    """Return the compiled regular expression of a pattern."""
    return re.compile(pattern.regex)


def patterns_of(families: Sequence[Family]) -> Iterable[DatePattern]:
    """Yield the patterns of some families, those with the time after the date first."""
    for layout in range(len(_LAYOUTS)):
        for example, (family, span, _) in _PATTERNS.items():
            if family in families and not (span and layout):
                yield DatePattern(example, layout)


def rewrites_for(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the regular expressions and replacements that change some texts, in their order."""
    needed = []
    for pattern, replacement in _REWRITES:
        again = [re.sub(pattern, replacement, text).strip() for text in texts]
        if again != list(texts):
            needed.append((pattern, replacement))
            texts = again
    return needed


def rewritten(texts: Iterable[str], rewrites: Sequence[tuple[str, str]]) -> list[str]:
    """Return texts after some rewriting."""
    for pattern, replacement in rewrites:
        texts = [re.sub(pattern, replacement, text).strip() for text in texts]
    return list(texts)


def best_pattern(texts: Sequence[str], families: Sequence[Family]) -> DatePattern | None:
    """Return the pattern that most texts match, or None unless most of them match one."""
    best, most = None, len(texts) // 2
    some = [text for text in texts if len(text) <= _LONGEST and sum(map(str.isdigit, text)) > 1]
    if len(some) <= most:
        return None
    for pattern in patterns_of(families):
        count = sum(map(bool, map(compiled(pattern).match, some)))
        if count > most:
            best, most = pattern, count
            if count == len(texts):
                break
    return best
