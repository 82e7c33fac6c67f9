"""Options for reading a file, set by a user or recorded from an earlier file."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from bochner._base.file_writing import as_path
from bochner._base.names import nearest, shown
from bochner.files.errors import InputError

_CHOICES: Mapping[str, Sequence[str]] = {
    "decimal": ("auto", ".", ","),
    "dates": ("auto", "iso", "dayfirst", "monthfirst", "none"),
    "bad_lines": ("error", "drop"),
}
NUMBER_KINDS: Mapping[str, str | None] = {
    "number": None, "decimal point": ".", "decimal comma": ",",
}  # fmt: skip
"""Kinds of numbers, with a decimal mark if it overrides the decimal mark of the file."""

DATE_KINDS: Mapping[str, str | None] = {
    "date": None, "dayfirst": "dayfirst", "monthfirst": "monthfirst",
}  # fmt: skip
"""Kinds of dates, with an order if it overrides the order of the file."""

_MOST_LINES = 100
"""Most lines of titles or of column names, fewer than the lines that are searched for them."""

KINDS = (*NUMBER_KINDS, *DATE_KINDS, "text", "ignore")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Formats of the numbers and dates of a file, and the kinds of its columns.

    Options are those of :func:`bochner.read_table`. A layout that is ``recorded`` by an earlier
    reading also has the delimiter, and for each column the rule that has read it, with its settings
    (``decisions``). Such columns may be missing, and none is left out as an identifier.
    """

    decimal: str = "auto"
    dates: str = "auto"
    types: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    recorded: bool = False
    missing: Sequence[str] = ()
    skip: int | None = None
    header: int | None = None
    decisions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    delimiter: str | None = None
    encoding: str | None = None
    fill_down: Sequence[str] = ()
    bad_lines: str = "error"

    def __post_init__(self) -> None:
        """Raise for invalid options, and copy the mapping of types."""
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                listed = ", ".join(map(repr, choices))
                raise InputError(f"{name} must be one of {listed}, got {shown(value)}.")
        for name in ("skip", "header"):
            if (count := getattr(self, name)) not in (None, *range(_MOST_LINES + 1)):
                words = f"{name} must be a number of lines from 0 to {_MOST_LINES}"
                raise InputError(f"{words}, got {shown(count)}.")
        for name, noun in (("missing", "entries"), ("fill_down", "columns")):
            if isinstance(texts := getattr(self, name), str):
                raise TypeError(f"{name} must be a list of {noun}, got {shown(texts)}.")
            object.__setattr__(self, name, tuple(map(str, texts)))
        if not isinstance(self.types, Mapping):
            raise TypeError(f'types must be a mapping as {{"a": "text"}}, got {shown(self.types)}.')
        for column, kind in self.types.items():
            check_kind(kind, f"types of column {shown(column)}")
        object.__setattr__(self, "types", dict(self.types))

    def to_record(self) -> dict[str, object]:
        """Return the options as plain JSON."""
        record = {each.name: getattr(self, each.name) for each in fields(self)}
        record |= {"missing": list(self.missing), "fill_down": list(self.fill_down)}
        del record["recorded"]
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the options stored in a record of `to_record`."""
        return cls(**record, recorded=True)


def check_kind(kind: str, place: str) -> None:
    """Raise InputError unless ``kind`` is a valid kind of column."""
    if kind not in KINDS:
        words = f"{place}: expected one of {', '.join(KINDS)}, got {shown(kind)}."
        raise InputError(words + _hint(str(kind), KINDS))


def check_names(types: Mapping[str, str], names: Collection[str]) -> None:
    """Raise InputError if ``types`` has names of columns that the table lacks."""
    for name in types:
        if name not in names:
            words = f"A type is given for {shown(name)}, which is no column."
            raise InputError(words + _hint(name, names))


def _hint(name: str, names: Collection[str]) -> str:
    near = nearest(name, names)
    return f" Did you mean {shown(near)}?" if near else ""


def read_types(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Return the kinds of columns listed in a small file, by column name.

    The file is CSV with the lines "column,type", or a JSON object, in UTF-8. If there is no such
    file, a text such as "zip=text;size=number" lists them.

    >>> read_types("zip=text;size=number")
    {'zip': 'text', 'size': 'number'}
    """
    path = as_path(path)
    is_file = path.exists()
    if not is_file and not re.search("[,=]", str(path)):
        raise FileNotFoundError(f"There is no file {path} of types. Check the name and the folder.")
    try:
        listed = re.sub("=(?=[^=;]*(;|$))", ",", str(path)).replace(";", "\n")
        text = path.read_text(encoding="utf-8-sig") if is_file else listed
        is_json = text.lstrip()[:1] in ("{", "[")
        rows = json.loads(text, object_pairs_hook=list) if is_json else _rows(text)
        pairs = [(name, kind) for name, kind in rows]
    except (ValueError, TypeError, OSError, RecursionError) as error:
        raise InputError(
            f"{path} has no types of columns ({error}): expected lines such as zip,text, or a JSON "
            'object such as {"zip": "text"}.'
        ) from None
    types: dict[str, str] = {}
    for name, kind in pairs:
        check_kind(kind, f"{path}, column {shown(name)}")
        if name in types:
            raise InputError(f"{path} has the column {shown(name)} twice: keep one type of it.")
        types[name] = kind
    return types


def _rows(text: str) -> list[list[str]]:
    """Return the rows of a CSV text without surrounding white space and without a header."""
    rows = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    filled = [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]
    return filled[1:] if filled and filled[0][-1].casefold() in ("type", "kind") else filled
