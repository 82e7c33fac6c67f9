"""Reading of the columns of a file by rules and codes for missing entries, with remarks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import Remarks, brief
from bochner.files.date_rule import DateRule
from bochner.files.errors import InputError
from bochner.files.number_rule import NumberRule
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions
from bochner.files.rules import (
    MARKERS,
    MISSING,
    MIXED,
    SHARE_READ,
    TIMES,
    Decision,
    Notes,
    Rule,
    TextColumn,
    TextRule,
    TruthRule,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_FEW_WORDS = 2
"""Words that may be as many as half of the entries, such as "Varies with device"."""

_FEWEST_DISTINCT = 20
"""Fewest distinct whole numbers among which words are missing: 1, 2, 3 and X are codes."""

_MOST_LISTED, _MOST_RECORDED = 3, 20
"""Words that a note lists, so that it stays within a few lines, and that a decision keeps."""

RULES: tuple[Rule, ...] = (DateRule(), NumberRule(), TIMES, TruthRule(), TextRule())
"""The rules by which columns are read, in their order; the rule for text reads any column."""


@dataclass(slots=True, eq=False)
class ReadColumn:
    """A column of texts without markers, the rule and its decision on it, and its values (n,).

    ``is_mixed`` is for text that seems to hold numbers or dates with errors.
    """

    column: TextColumn
    rule: Rule
    decision: Decision
    is_mixed: bool = False
    values: pd.Series = field(init=False)

    def __post_init__(self) -> None:
        """Read the values with the first value of each choice."""
        first = {setting: values[0] for setting, values in self.decision.choices.items()}
        self.values = self.rule.read(self.column, {**self.decision.settings, **first})

    @property
    def record(self) -> dict[str, Any]:
        """The rule and its settings as one dictionary."""
        return {"rule": self.decision.rule, **self.decision.settings}

    @property
    def unread(self) -> NDArray[np.bool_]:
        """Mask (n,) of present entries that the rule could not read."""
        is_value = self.rule.name != "text"
        return self.values.isna().to_numpy() & self.column.present() & is_value

    def unread_words(self) -> list[str]:
        """Return the distinct present texts that could not be read."""
        import pyarrow as pa

        return list(map(str, self.column.texts.filter(pa.array(self.unread)).unique()))

    def is_enough(self) -> bool:
        """Return whether few words could not be read, and the others are no codes."""
        unread, words = self.unread, self.unread_words()
        share = unread.sum() / self.column.n_present
        are_words = not any(map(str.isdigit, "".join(words)))
        are_few = are_words and unread.sum() > len(words) <= _FEW_WORDS and share <= MIXED
        if share > 1.0 - SHARE_READ and not are_few:
            return False
        # V57 among numbers is a code, and all of them are.
        if any(any(map(str.isdigit, word)) and any(map(str.isalpha, word)) for word in words):
            return False
        distinct = self.values.dropna().unique()
        if distinct.dtype.kind not in "iuf" or len(distinct) >= _FEWEST_DISTINCT:
            return True
        return bool((distinct < 0).any() or (distinct != np.round(distinct)).any())


def read_by_rules(
    columns: dict[str, pa.Array],
    options: ReadOptions,
    rules: Sequence[Rule],
    remarks: Remarks,
    *,
    requested: Mapping[str, str],
    optional: Collection[str] = (),
    has_semicolons: bool,
) -> tuple[dict[str, ReadColumn], str | None, str | None]:
    """Read columns of texts (n,) by the first rule that does not decline, and drop the texts.

    Returns the columns, and the decimal mark and the order of dates of the file, None if no column
    shows them. ``requested`` are kinds of some columns. ``has_semicolons`` is True if semicolons
    separate the fields, as is usual in countries with decimal commas. Columns of ``optional`` that
    do not have the recorded kind are read as text. Raises InputError if a column does not have the
    requested kind, or not the kind that was recorded for it.
    """
    import pyarrow as pa

    by_name = {rule.name: rule for rule in rules}
    found, waiting = dict[str, ReadColumn](), dict[str, Any]()
    for name in list(columns):
        texts = columns.pop(name)
        pa.default_memory_pool().release_unused()  # Of the columns before
        column = TextColumn(name, texts, options, requested.get(name)).without(options.missing)
        try:
            found[name] = _read(column, by_name)
        except InputError:
            if name not in optional:
                raise
            found[name] = _read(replace(column, requested="text"), by_name)
        if found[name].decision.choices:
            waiting[name] = texts
        else:
            _finish(found[name], texts)
    decimal = _settle(found, "decimal", is_local=has_semicolons)
    order = _settle(found, "order", is_local=has_semicolons or decimal == ",")
    for name, texts in waiting.items():
        _finish(found[name], texts)
    for name, some in found.items():
        for note in some.decision.notes:
            remarks.add(name, *note)
    return found, decimal, order


def _finish(some: ReadColumn, texts: pa.Array) -> None:
    """Complete the decision on a column by words and notes on missing entries; drop its texts."""
    kept = [*some.decision.settings.get("words", ()), *some.unread_words()[:_MOST_RECORDED]]
    settings = {**some.decision.settings, **({"words": kept} if kept else {})}
    notes = (*some.decision.notes, *_notes_on_missing(some, texts))
    some.decision = Decision(some.decision.rule, settings, notes=notes)
    some.column = replace(some.column, texts=None)


def _read(column: TextColumn, rules: Mapping[str, Rule]) -> ReadColumn:
    """Return a column that is read by its recorded decision, or by the first rule that can."""
    record = column.options.decisions.get(column.name)
    if record is not None and column.requested is None:
        return _recorded(column, rules[record["rule"]], record)
    bare, attempts = column, []
    for is_last in (False, True) if column.requested != "text" else ():
        bare = column.bare() if is_last else column
        for name, rule in rules.items():
            decision = rule.decide(bare) if name != "text" and bare.is_for(name) else None
            if decision is None:
                continue
            of_rule = column if decision.rule == "text" else bare
            attempt = ReadColumn(of_rule, rules[decision.rule], decision)
            may_lack = is_last and column.requested is None
            if not attempt.unread.any() or (may_lack and attempt.is_enough()):
                return attempt
            attempts += [attempt] * is_last
    if column.requested not in (None, "text"):
        rule = rules["number" if column.is_for("number") else "date"]
        raise _refusal(bare, attempts[0].unread if attempts else bare.present(), rule, {})
    notes, is_category = _why_text(bare, rules, attempts)
    decision = rules["text"].decide(column) or Decision("text")
    decision = replace(decision, notes=[*notes, *decision.notes])
    some = ReadColumn(column, rules["text"], decision, bool(attempts or notes))
    if is_category or (column.requested and column.name in column.options.types):
        some.values = some.values.astype("category")  # A model does not read it otherwise
    return some


def _reads_all(column: TextColumn, rule: Rule) -> bool:
    """Return whether a rule reads all entries of a column."""
    decision = rule.decide(column)
    if decision is None or decision.rule != rule.name:
        return False
    return not ReadColumn(column, rule, decision).unread.any()


def are_values(texts: Sequence[str]) -> bool:
    """Return whether all texts (k,) are numbers with a mark or a unit, or dates."""
    import pyarrow as pa

    column = TextColumn("", pa.chunked_array([pa.array(texts, pa.string())]), ReadOptions())
    is_read = any(_reads_all(column, rule) for rule in (NumberRule(), DateRule()))
    return is_read and not all(map(str.isdigit, texts))


def _recorded(column: TextColumn, rule: Rule, record: Mapping[str, Any]) -> ReadColumn:
    """Return a column that is read by a recorded decision."""
    settings = {key: value for key, value in record.items() if key != "rule"}
    column = column if rule.name == "text" else column.bare(settings.get("words", ()))
    decision = Decision(rule.name, settings)
    if "decimal" in settings and column.options.decimal == "auto":  # Another kind of file
        fresh = rule.decide(replace(column, requested=rule.name)) or decision
        mark = {"decimal": fresh.settings.get("decimal", settings["decimal"])}
        decision = Decision(rule.name, {**settings, **mark}, fresh.choices)
    some = ReadColumn(column, rule, decision)
    if some.unread.sum() > (1.0 - SHARE_READ) * column.n_present:
        raise _refusal(column, some.unread, rule, decision.settings)
    return some


def _settle(found: Mapping[str, ReadColumn], setting: str, *, is_local: bool) -> str | None:
    """Settle the choices of a setting by the columns that decide it; return the usual value."""
    are_open = [some for some in found.values() if setting in some.decision.choices]
    decided = {
        name: str(some.decision.settings[setting])
        for name, some in found.items()
        if setting in some.decision.settings and some not in are_open
    }
    values = list(decided.values())
    for some in are_open:
        first = some.decision.choices[setting][0]
        some.decision = some.rule.settle(some.column, some.decision, decided, is_local=is_local)
        if some.decision.settings[setting] != first:
            some.values = some.rule.read(some.column, some.decision.settings)
        values += [] if decided else [some.decision.settings[setting]]
    counts = Counter(values)
    return max(sorted(counts, reverse=True), key=counts.__getitem__) if counts else None


def _why_text(
    column: TextColumn, rules: Mapping[str, Rule], attempts: Sequence[ReadColumn]
) -> tuple[Notes, bool]:
    """Return notes on a column that no rule reads, and whether its texts are levels for certain."""
    for some in attempts:
        unread, n_present = some.unread, some.column.n_present
        if unread.sum() <= MIXED * n_present:
            row = int(np.argmax(unread))
            words = f"is text, because {unread.sum()} of {n_present} entries are no"
            example = f"row {row + 1}: {some.column.entry(row)!r:.60}"
            return [(f"{words} {some.rule.noun}", example)], False
    options = column.options
    if column.requested is not None or (options.decimal, options.dates) == ("auto", "auto"):
        return [], False
    free = replace(column, options=ReadOptions())
    for name, option in (("number", "decimal"), ("date", "dates")):
        if _reads_all(free, rules[name]):
            what = f"{option}={getattr(options, option)!r:.60}"
            return [(f"is text, because {what} does not allow for its entries", free.entry())], True
    return [], False


def _notes_on_missing(some: ReadColumn, texts: pa.Array) -> Iterator[tuple[str, str]]:
    """Yield notes on entries that count as missing: unusual markers, and words among values."""
    import pyarrow.compute as pc

    length = len(texts)
    absent = pc.and_(texts.is_valid(), some.column.texts.is_null())
    usual = ("", *MISSING, *some.column.options.missing)
    for each in pc.value_counts(pc.utf8_trim_whitespace(texts.filter(absent))).to_pylist():
        marker, count = str(each["values"]), f"{each['counts']} of {length}"
        if marker.lower() in MARKERS and marker not in usual:
            yield f"has entries {marker!r}, which count as missing", count
    if words := some.unread_words():
        listed = ", ".join(repr(brief(word)) for word in words[:_MOST_LISTED])
        listed += ", ..." if len(words) > _MOST_LISTED else ""
        reason = f"which count as missing because the other entries are {some.rule.noun}"
        count = f"{some.unread.sum()} of {length}"
        advice = "a type text, types=, --types, keeps them"
        yield f"has entries {listed}, {reason}", f"{count}; {advice}"


def _refusal(
    column: TextColumn, is_bad: NDArray[np.bool_], rule: Rule, settings: Mapping[str, Any]
) -> InputError:
    """Return the error for entries that do not have the requested or recorded kind."""
    kind, options = column.requested, column.options
    words = [str(value) for value in settings.values() if value != "."]  # Points are usual
    advice = "or name them by missing= (--missing)"
    if kind is not None:
        option = options.decimal if rule.name == "number" else options.dates
        words = [NUMBER_KINDS.get(kind) or DATE_KINDS.get(kind) or option]
        advice = f"{advice[3:]}, or give the column another type (types=, --types)"
    expected = rule.noun + "".join(_EXPECTED.get(word, "") for word in words)
    if settings.get("unit"):
        expected = f"{rule.noun} with the unit {settings['unit']}, as at the fit"
    row = int(np.argmax(is_bad))
    return InputError(
        f"Column {column.name!r:.60} should hold {expected}, but {int(is_bad.sum())} of "
        f"{column.n_present} entries are something else (row {row + 1}: "
        f"{column.entry(row)!r:.60}). Correct them, leave unknown ones empty, {advice}."
    )


_EXPECTED = {
    ".": " with decimal points", ",": " with decimal commas",
    "dayfirst": " with days before months", "monthfirst": " with months before days",
}  # fmt: skip
"""What an error says of the decimal mark and the order of dates."""


_CODE = re.compile(r"-?(?:9{2,}|[789]{2,}|[1-9]00+)(?:\.9+|\.0)?|-[1-9](?:\.0)?")
"""Numbers for missing entries: repeated nines, sevens, eights, hundreds, small negative ones."""

_FEWEST_ROWS = 20
"""Fewest rows in which a code is looked for: two of ten rows may be equal by chance."""

_FEWEST_TIMES = 2  # Fewest rows with a code
_MOST_DISTINCT = 5
"""Distinct other values below which a column holds levels, of which one may well be apart."""


def missing_codes(columns: Mapping[str, pd.Series], remarks: Remarks) -> dict[str, float]:
    """Return the codes of columns for missing entries, with remarks on them and on possible codes.

    A code is the smallest or the largest number of a column, occurs more often than once, and is
    farther from all others than these are from each other, or the only one of its sign. It is
    certain if several columns share it and at least one of them has it far from its other numbers.
    """
    found: dict[float, dict[str, bool]] = defaultdict(dict)
    for name, series in columns.items():
        if series.dtype.kind in "iuf" and len(series) >= _FEWEST_ROWS:
            for code, is_far in _candidates(series.to_numpy()):
                found[code][name] = is_far
    certain: dict[str, float] = {}
    for code, names in found.items():
        if len(names) > 1 and any(names.values()):
            certain |= dict.fromkeys(names, code)
    for name, code in certain.items():
        words = f"has {code:g} far from all other numbers, as other columns do: these are missing"
        count = f"{(columns[name] == code).sum()} of {len(columns[name])}"
        remarks.add(name, words, f"{count}; a type number, --types, keeps them")
    for code, names in found.items():
        words = f"has {code:g} far from all other numbers: if these are missing, name the code by"
        for name, is_far in names.items():
            if is_far and name not in certain:
                remarks.add(name, f"{words} missing= (--missing {code:g})")
    return certain


def _candidates(values: NDArray[np.generic]) -> list[tuple[float, bool]]:
    """Return numbers at either end that may be codes, and whether they are far from the others."""
    present = values[np.isfinite(values)]
    found = []
    for code in (present.min(), present.max()) if present.size else ():
        if not any(map(_CODE.fullmatch, (str(code), str(float(code))))):
            continue
        others = np.unique(present[present != code])
        if not others.size or np.count_nonzero(present == code) < _FEWEST_TIMES:
            continue
        code, low, high = float(code), float(others[0]), float(others[-1])
        is_far = max(low - code, code - high) > high - low and others.size >= _MOST_DISTINCT
        if is_far or code < 0.0 <= low:
            found.append((code, is_far))
    return found
