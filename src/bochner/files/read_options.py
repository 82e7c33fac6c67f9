"""Options for reading a file: given by a user, or decided by an earlier reading."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from bochner._base.file_writing import as_path
from bochner._base.names import nearest
from bochner.files.errors import InputError

DECIMALS = ("auto", ".", ",")
DATES = ("auto", "iso", "dayfirst", "monthfirst", "none")
NUMBER_KINDS: Mapping[str, str | None] = {
    "number": None, "decimal point": ".", "decimal comma": ",",
}  # fmt: skip
"""Kinds of numbers, with a decimal mark if it overrides the decimal mark of the file."""

DATE_KINDS: Mapping[str, str | None] = {
    "date": None, "dayfirst": "dayfirst", "monthfirst": "monthfirst",
}  # fmt: skip
"""Kinds of dates, with an order if it overrides the order of the file."""

_MOST_LINES = 100
"""Most lines of titles or of names; the lines that are looked at are somewhat more."""

KINDS = (*NUMBER_KINDS, *DATE_KINDS, "text", "ignore")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Formats of the numbers and dates of a file, and the kinds of its columns.

    Parameters
    ----------
    decimal, dates, types, table, missing, skip, header
        As in :func:`bochner.read_table`.
    units : mapping of str to str, default={}
        Units of columns of quantities in a recorded layout, "" without a unit.
    words : mapping of str to sequence of str, default={}
        Entries that are missing in a column of a recorded layout, because nearly all other entries
        were numbers or dates.
    delimiter : str or None, default=None
        Delimiter of the file in a recorded layout.
    recorded : bool, default=False
        Whether the options are the decisions of an earlier reading. If so, columns in ``types`` may
        be missing, and no column is left out because its entries seem to be identifiers.
    """

    decimal: str = "auto"
    dates: str = "auto"
    types: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    recorded: bool = False
    missing: Sequence[str] = ()
    skip: int | None = None
    header: int | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    delimiter: str | None = None

    def __post_init__(self) -> None:
        """Refuse other values, and copy the types."""
        for name, choices in (("decimal", DECIMALS), ("dates", DATES)):
            value = getattr(self, name)
            if value not in choices:
                listed = ", ".join(map(repr, choices))
                raise InputError(f"{name} must be one of {listed}, got {value!r}.")
        if not isinstance(self.types, Mapping):
            raise TypeError(
                f'types must be a mapping of columns to kinds, such as {{"zip": "text"}}, got '
                f"{self.types!r}."
            )
        if not isinstance(self.table, str | None):
            raise TypeError(f"table must be the name of a table or sheet, got {self.table!r}.")
        if isinstance(self.missing, str):
            raise TypeError(f"missing must be a list of entries, got {self.missing!r}.")
        for name, count in (("skip", self.skip), ("header", self.header)):
            is_count = isinstance(count, int) and 0 <= count <= _MOST_LINES
            if count is not None and not is_count:
                raise InputError(
                    f"{name} must be a number of lines from 0 to {_MOST_LINES}, got {count}."
                )
        for column, kind in self.types.items():
            check_kind(kind, f"types of column {column!r}")
        object.__setattr__(self, "types", dict(self.types))
        object.__setattr__(self, "missing", tuple(map(str, self.missing)))
        object.__setattr__(self, "units", dict(self.units))
        object.__setattr__(self, "words", {name: tuple(some) for name, some in self.words.items()})

    def to_record(self) -> dict[str, object]:
        """Return the options as plain JSON."""
        record = {each.name: getattr(self, each.name) for each in fields(self)}
        del record["recorded"]
        words = {name: list(some) for name, some in self.words.items()}
        return {**record, "missing": list(self.missing), "words": words}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the layout of a record by `to_record`."""
        return cls(**record, recorded=True)


def check_kind(kind: str, place: str) -> None:
    """Raise InputError unless the kind of a column is valid."""
    if kind not in KINDS:
        near = nearest(str(kind), KINDS)
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(f"{place}: expected one of {', '.join(KINDS)}, got {kind!r}.{hint}")


def check_names(types: Mapping[str, str], names: Collection[str]) -> None:
    """Raise InputError if there are types of columns that a table does not have."""
    for name in types:
        if name not in names:
            near = nearest(name, names)
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(f"A type is given for {name!r}, which is no column.{hint}")


def read_types(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Return the kinds of columns that a small file lists.

    The file is CSV with the lines "column,type", or a JSON object, in UTF-8. If there is no such
    file, a text such as "zip,text;size,number" lists them.

    >>> read_types("zip,text;size,number")
    {'zip': 'text', 'size': 'number'}
    """
    path = as_path(path)
    if not path.is_file():
        if path.exists():
            raise InputError(f"{path} is not an ordinary file: expected one with types of columns.")
        if "," not in str(path):
            raise FileNotFoundError(
                f"There is no file {path} of types. Check the name and the folder."
            )
    try:
        content = (
            path.read_text(encoding="utf-8-sig") if path.is_file() else str(path).replace(";", "\n")
        )
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8: expected the types of columns as text.") from None
    as_json = content.lstrip().startswith(("{", "["))
    pairs = _pairs_of_json(path, content) if as_json else _pairs_of_csv(path, content)
    types: dict[str, str] = {}
    for name, kind in pairs:
        if name in types:
            raise InputError(f"{path} has the column {name!r} twice: keep one type of it.")
        check_kind(kind, f"{path}, column {name!r}")
        types[name] = kind
    return types


def _pairs_of_json(path: Path, content: str) -> list[tuple[str, Any]]:
    expected = 'expected an object such as {"zip": "text"}'
    try:
        pairs = json.loads(content, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; {expected}.") from None
    except RecursionError:
        raise InputError(f"{path} has lists in too many lists: {expected}.") from None
    if content.lstrip().startswith("["):
        raise InputError(f"{path} holds a list: {expected}.")
    checked: list[tuple[str, Any]] = pairs
    return checked


def _pairs_of_csv(path: Path, content: str) -> list[tuple[str, str]]:
    rows = csv.reader(io.StringIO(content, newline=""), skipinitialspace=True)
    pairs = []
    for row in rows:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) != 2:
            raise InputError(
                f"{path}, line {rows.line_num}: {len(cells)} cells, expected two: a column and "
                "its type, such as zip,text."
            )
        pairs.append((cells[0], cells[1]))
    # The first line may be a heading.
    return pairs[1:] if pairs and pairs[0][1].casefold() in ("type", "kind") else pairs
