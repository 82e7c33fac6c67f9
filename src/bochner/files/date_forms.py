"""Forms of dates by example, and rewriting of other notations to these forms."""

# ruff: noqa: RUF001 (letters of other scripts are meant)

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
