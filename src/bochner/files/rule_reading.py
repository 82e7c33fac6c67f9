"""Reading of the columns of a file by rules, with remarks on what was decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import Remarks, shown
from bochner.files.date_rule import DateRule
from bochner.files.errors import InputError
from bochner.files.number_rule import NumberRule
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions
from bochner.files.rules import (
    MARKED,
    MISSING,
    SHARE_READ,
    Conventions,
    Decision,
    Reading,
    Rule,
    TextColumn,
    bare_texts,
    without,
)
from bochner.files.word_rules import TextRule, TruthRule

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_MIXED = 0.5
"""Share of numbers or dates from which text is a column with errors, not an identifier."""

_FEW_WORDS = 2
"""Words that may be as many as half of the entries, such as "Varies with device"."""

_FEWEST_DISTINCT = 20
"""Fewest distinct whole numbers among which words are missing: 1, 2, 3 and X are codes."""

_MOST_LISTED, _MOST_RECORDED = 3, 20
"""Words that a note lists, so that it stays within a few lines, and that a decision keeps."""


RULES: tuple[Rule, ...] = (DateRule(), NumberRule(), TruthRule(), TextRule())
"""The rules by which columns are read, in their order."""


@dataclass(slots=True, eq=False)
class _Column:
    """A column, the decision on it, and its reading unless choices are open.

    ``texts`` are its texts before markers and words for missing entries were removed.
    """

    column: TextColumn
    decision: Decision
    reading: Reading | None
    texts: Any


@dataclass(frozen=True, slots=True, eq=False)
class TableByRules:
    """Columns that the rules have read, with the records of decisions and the names of mixed text.

    ``decimal`` and ``order`` are those of the file, None if no column shows them.
    """

    columns: dict[str, pd.Series]
    decisions: dict[str, dict[str, Any]]
    mixed: list[str]
    decimal: str | None
    order: str | None


def read_by_rules(
    columns: Mapping[str, pa.Array],
    options: ReadOptions,
    rules: Sequence[Rule],
    remarks: Remarks,
    *,
    requested: Mapping[str, str],
    optional: Collection[str] = (),
    has_semicolons: bool,
) -> TableByRules:
    """Read columns of texts (n,) by the first rule that does not decline; the last one reads all.

    ``requested`` are kinds of some columns. ``has_semicolons`` is True if semicolons separate the
    fields, as is usual in countries with decimal commas. Columns of ``optional`` that do not have
    the recorded kind are read as text. Raises InputError if a column does not
    have the requested kind, or not the kind that was recorded for it.
    """
    by_name = {rule.name: rule for rule in rules}
    found = {}
    for name, texts in columns.items():
        column = TextColumn(name, texts, options, requested.get(name))
        record = options.decisions.get(name) if column.requested is None else None
        try:
            found[name] = (
                _decided(column, rules) if record is None else _recorded(column, by_name, record)
            )
        except InputError:
            if name not in optional:
                raise
            found[name] = _decided(replace(column, requested=rules[-1].name), rules)
    decimal = _settle(found, by_name, "decimal", Conventions(has_semicolons, {}))
    order = _settle(found, by_name, "order", Conventions(has_semicolons, {}, decimal or "."))
    table = TableByRules({}, {}, [], decimal, order)
    for name, some in found.items():
        rule = by_name[some.decision.rule]
        reading = some.reading or rule.read(some.column, some.decision.settings)
        for note in (*some.decision.notes, *reading.notes):
            remarks.add(name, *note)
        words = _unread_words(some.column, reading)
        _remark_on_missing(some, reading, words, remarks, rule)
        settings = dict(some.decision.settings)
        kept = [*settings.pop("words", ()), *words[:_MOST_RECORDED]]
        table.columns[name] = reading.values
        table.decisions[name] = {"rule": rule.name, **settings, **({"words": kept} if kept else {})}
        table.mixed.extend([name] * reading.is_mixed)
    return table


def _decided(column: TextColumn, rules: Sequence[Rule]) -> _Column:
    """Return the decision on a column by the first rule that reads enough of it."""
    *others, last = rules
    column = replace(column, texts=without(column.texts, column.options.missing))
    bare, attempts = column, []
    if column.requested != last.name:
        for bare, is_last in _versions(column):
            for rule in others:
                attempt = _attempt(bare, rule, column.texts)
                if attempt is None:
                    continue
                reading = attempt.reading
                if reading is None or reading.unread is None:
                    return attempt
                if is_last and column.requested is None and _is_enough(bare, reading):
                    return attempt
                attempts += [attempt] * is_last
    if column.requested not in (None, last.name):
        rule = next(rule for rule in rules if column.is_for(rule.name))
        raise _refusal(bare, attempts[0].reading if attempts else None, rule)
    notes, is_category = _why_text(bare, others, attempts)
    is_category |= column.requested is not None and column.name in column.options.types
    reading = last.read(column, {"is_category": is_category})
    reading = replace(reading, is_mixed=bool(attempts) or bool(notes))
    return _Column(column, Decision(last.name, notes=notes), reading, column.texts)


def _versions(column: TextColumn) -> Iterator[tuple[TextColumn, bool]]:
    """Yield a column as it is, and with fewer and fewer entries, and whether this is the last.

    The last version has neither markers of missing entries nor white space around entries.
    """
    import pyarrow.compute as pc

    yield column, False
    sample = pc.unique(column.sample()).to_pylist()
    # Searching for few words takes a tenth of the time of searching for all markers.
    if words := [text for text in sample if text.strip().lower() in MARKED]:
        yield replace(column, texts=without(column.texts, words)), False
    yield replace(column, texts=bare_texts(column.texts)), True


def _attempt(column: TextColumn, rule: Rule, texts: Any) -> _Column | None:
    """Return the decision of a rule, and its reading with the first of each choice."""
    decision = rule.decide(column) if column.is_for(rule.name) else None
    if decision is None:
        return None
    reading = None
    if decision.rule == rule.name:
        first = {name: values[0] for name, values in decision.choices.items()}
        reading = rule.read(column, {**decision.settings, **first})
        is_unread = reading.unread is not None and bool(reading.unread.any())
        reading = reading if is_unread else replace(reading, unread=None)
    return _Column(column, decision, reading, texts)


def are_values(texts: Sequence[str]) -> bool:
    """Return whether all texts (k,) are numbers with a mark or a unit, or dates."""
    import pyarrow as pa

    column = TextColumn("", pa.chunked_array([pa.array(texts, pa.string())]), ReadOptions())
    attempts = (_attempt(column, rule, column.texts) for rule in (NumberRule(), DateRule()))
    readings = [some.reading for some in attempts if some is not None]
    is_read = any(some is not None and some.unread is None for some in readings)
    return is_read and not all(map(str.isdigit, texts))


def _is_enough(column: TextColumn, reading: Reading) -> bool:
    """Return whether the entries that could not be read are few words, and the others no codes."""
    assert reading.unread is not None
    n_unread, read = int(reading.unread.sum()), column.present() & ~reading.unread
    words = _unread_words(column, reading)
    share = n_unread / column.n_present
    are_words = not any(map(str.isdigit, "".join(words)))
    are_few = are_words and n_unread > len(words) <= _FEW_WORDS and share <= _MIXED
    if share > 1.0 - SHARE_READ and not are_few:
        return False
    # V57 among numbers is a code, and all of them are.
    if any(any(map(str.isdigit, word)) and any(map(str.isalpha, word)) for word in words):
        return False
    values = reading.values[read]
    if values.dtype.kind not in "iuf":
        return True
    distinct = values.unique()
    is_code = bool((distinct >= 0).all() and (distinct == np.round(distinct)).all())
    return len(distinct) >= _FEWEST_DISTINCT or not is_code


def _unread_words(column: TextColumn, reading: Reading) -> list[str]:
    """Return the distinct present texts that could not be read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if reading.unread is None:
        return []
    return [
        str(word) for word in pc.unique(column.texts.filter(pa.array(reading.unread))).to_pylist()
    ]


def _recorded(
    column: TextColumn, by_name: Mapping[str, Rule], record: Mapping[str, Any]
) -> _Column:
    """Return a column that is read by a recorded decision."""
    settings = {key: value for key, value in record.items() if key != "rule"}
    if record["rule"] not in by_name:
        raise InputError(
            f"Column {column.name!r} was read by the rule {record['rule']!r}, which is not among "
            f"{', '.join(by_name)}: read the file with the rules of the fit."
        )
    rule = by_name[record["rule"]]
    texts = without(column.texts, column.options.missing)
    column = replace(column, texts=texts)
    if rule is not list(by_name.values())[-1]:
        column = replace(column, texts=bare_texts(texts, settings.get("words", ())))
    decision = Decision(rule.name, settings)
    if "decimal" in settings and column.options.decimal == "auto":  # Another kind of file
        fresh = rule.decide(replace(column, requested=rule.name)) or decision
        mark = {key: value for key, value in fresh.settings.items() if key == "decimal"}
        decision = replace(decision, settings={**settings, **mark}, choices=fresh.choices)
    reading = rule.read(column, decision.settings)
    if reading.unread is not None and reading.unread.sum() > (1.0 - SHARE_READ) * column.n_present:
        raise _refusal(column, reading, rule, decision.settings)
    return _Column(column, decision, reading, texts)


def _settle(
    found: Mapping[str, _Column], by_name: Mapping[str, Rule], setting: str, file: Conventions
) -> str | None:
    """Settle the choices of a setting by the columns that decide it; return the usual value."""
    decided = {
        name: str(some.decision.settings[setting])
        for name, some in found.items()
        if setting in some.decision.settings and setting not in some.decision.choices
    }
    values = dict(decided)
    for name, some in found.items():
        if setting in some.decision.choices:
            rule = by_name[some.decision.rule]
            some.decision = rule.settle(some.column, some.decision, replace(file, decided=decided))
            some.reading = None
            values[name] = str(some.decision.settings[setting])
    counts = Counter(decided.values()) or Counter(values.values())
    return max(sorted(counts, reverse=True), key=counts.__getitem__) if counts else None


def _why_text(
    column: TextColumn, rules: Sequence[Rule], attempts: Sequence[_Column]
) -> tuple[list[tuple[str, str]], bool]:
    """Return notes on a column that no rule reads, and whether its texts are levels for certain."""
    nouns = {rule.name: rule.noun for rule in rules}
    for some in attempts:
        assert some.reading is not None
        assert some.reading.unread is not None
        n_bad, n_present = int(some.reading.unread.sum()), some.column.n_present
        if n_bad <= _MIXED * n_present:
            row = int(np.argmax(some.reading.unread))
            noun = nouns[some.decision.rule]
            words = f"is text, because {n_bad} of {n_present} entries are no {noun}"
            return [(words, f"row {row + 1}: {some.column.entry(row)!r}")], False
    options = column.options
    if column.requested is not None or (options.decimal, options.dates) == ("auto", "auto"):
        return [], False
    free = replace(column, options=ReadOptions())
    for rule in rules:
        attempt = _attempt(free, rule, free.texts)
        if attempt is not None and attempt.reading is not None and attempt.reading.unread is None:
            option = {"number": f"decimal={options.decimal!r}"}.get(
                rule.name, f"dates={options.dates!r}"
            )
            words = f"is text, because {option} does not allow for its entries"
            return [(words, column.entry())], True
    return [], False


def _remark_on_missing(
    some: _Column, reading: Reading, words: Sequence[str], remarks: Remarks, rule: Rule
) -> None:
    """Add remarks on entries that count as missing: unusual markers, and words among values."""
    import pyarrow.compute as pc

    length = len(some.texts)
    if some.column.texts is not some.texts:
        absent = pc.and_(some.texts.is_valid(), pc.invert(some.column.texts.is_valid()))
        for each in pc.value_counts(pc.utf8_trim_whitespace(some.texts.filter(absent))).to_pylist():
            marker = str(each["values"])
            if marker and marker not in MISSING and marker.lower() in MARKED:
                words_of = f"has entries {marker!r}, which count as missing"
                remarks.add(some.column.name, words_of, f"{each['counts']} of {length}")
    if words:
        listed = ", ".join(repr(shown(word)) for word in words[:_MOST_LISTED])
        listed += ", ..." if len(words) > _MOST_LISTED else ""
        assert reading.unread is not None
        remarks.add(
            some.column.name,
            f"has entries {listed}, which count as missing because the other entries are "
            f"{rule.noun}",
            f"{int(reading.unread.sum())} of {length}; a type text, types=, --types, keeps them",
        )


def _refusal(
    column: TextColumn,
    reading: Reading | None,
    rule: Rule,
    settings: Mapping[str, Any] | None = None,
) -> InputError:
    """Return the error for entries that do not have the requested kind of the column."""
    is_bad = column.present() if reading is None or reading.unread is None else reading.unread
    options, kind = column.options, column.requested or ""
    asked = {
        "number": NUMBER_KINDS.get(kind) or options.decimal,
        "date": DATE_KINDS.get(kind) or options.dates,
    }
    words = [asked.get(rule.name, "")]
    if settings is not None:  # Points are usual
        words = [str(value) for value in settings.values() if value != "."]
    expected = rule.noun + "".join(_EXPECTED.get(word, "") for word in words)
    if settings is not None and settings.get("unit"):
        expected = f"{rule.noun} with the unit {settings['unit']}, as at the fit"
    row = int(np.argmax(is_bad))
    advice = "or name them by missing= (--missing)"
    if settings is None:
        advice = f"{advice.removeprefix('or ')}, or give the column another type (types=, --types)"
    return InputError(
        f"Column {column.name!r} should hold {expected}, but {int(is_bad.sum())} of "
        f"{column.n_present} entries are something else (row {row + 1}: {column.entry(row)!r}). "
        f"Correct them, leave unknown ones empty, {advice}."
    )


_EXPECTED = {
    ".": " with decimal points", ",": " with decimal commas",
    "dayfirst": " with days before months", "monthfirst": " with months before days",
}  # fmt: skip
"""What an error says of the decimal mark and the order of dates."""
