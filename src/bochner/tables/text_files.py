"""Checks of delimited text that pandas does not make: header, encoding, fields of every row."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, cast

from bochner.tables.refusals import InputError, refuse_repeated

_UTF16 = "text in UTF-16, not UTF-8: iconv -f utf-16 -t utf-8 OLD > NEW"
_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file: rename it to .parquet"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: save it as CSV (UTF-8)"),
    (b"\x1f\x8b", "gzip-compressed: rename it to .csv.gz"),
    (codecs.BOM_UTF16_LE, _UTF16),
    (codecs.BOM_UTF16_BE, _UTF16),
)


class TextLayout(NamedTuple):
    """Delimiter and column names of a text file."""

    delimiter: str
    names: tuple[str, ...]


def text_layout(path: Path, delimiter: str | None = None) -> TextLayout:
    """Check a delimited text file, compressed if its name ends in .gz, and return its layout.

    The delimiter is by default a comma, or a semicolon if the header has semicolons and no comma.
    pandas would rename duplicate columns and fill short rows without a warning, and it does not
    give the position of an encoding error. Raises InputError if the file is empty, not UTF-8
    text, has no rows, a duplicate name in the header, or a row with more or fewer fields.
    """
    with _opened(path) as file:
        start = file.read(4)
        for mark, what in _OTHER_FORMATS:
            if start.startswith(mark):
                raise InputError(f"{path} is {what}.")
    with _opened(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        try:
            return _checked_rows(path, text, delimiter)
        except UnicodeDecodeError:
            raise _encoding_error(path) from None


def looks_like_numbers(names: Sequence[str]) -> str:
    """Return a hint if every name of a header is a number, else an empty text."""
    plain = (name.replace(".", "", 1).lstrip("+-") for name in names)
    if not all(name.isdigit() for name in plain):
        return ""
    return " The first line holds numbers only: is the line of column names missing?"


def _opened(path: Path) -> IO[bytes]:
    compressed = path.suffix.lower() == ".gz"
    return cast(IO[bytes], gzip.open(path) if compressed else path.open("rb"))


def _encoding_error(path: Path) -> InputError:
    """Return the error for the first byte that is not UTF-8, or for the first zero byte."""
    with _opened(path) as file:
        content = file.read()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return InputError(
            f"{path} is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}. "
            f"Convert it, for instance from Latin-1: "
            f"iconv -f latin1 -t utf-8 {path.name} > utf8-{path.name}"
        )
    return InputError(
        f"{path} is not text: a zero byte at offset {content.index(0)}. "
        "Expected CSV in UTF-8; export the table again."
    )


def _checked_rows(path: Path, text: IO[str], delimiter: str | None) -> TextLayout:
    first = next((line for line in text if line.strip()), "")
    if delimiter is None:
        delimiter = ";" if ";" in first and "," not in first else ","
    text.seek(0)
    rows = csv.reader(_lines(path, text), delimiter=delimiter)
    # pandas skips lines of white space, too.
    records = (row for row in rows if len(row) > 1 or any(field.strip() for field in row))
    try:
        names = tuple(next(records, []))
        _check_header(path, names)
        has_rows = False
        for row in records:
            has_rows = True
            if len(row) != len(names):
                raise InputError(
                    f"{path}, line {rows.line_num}: {len(row)} field{'s' * (len(row) > 1)} where "
                    f"the header has {len(names)}. Complete or delete the row, or put quotation "
                    "marks around a field that contains the delimiter."
                )
    except csv.Error as error:
        raise InputError(
            f"{path}, line {rows.line_num}: {error}. Is a quotation mark left open before it?"
        ) from error
    if not has_rows:
        raise InputError(f"{path} has a header but no rows: expected at least one below it.")
    return TextLayout(delimiter, names)


def _lines(path: Path, text: IO[str]) -> Iterator[str]:
    for line in text:
        if "\0" in line:
            raise _encoding_error(path)
        yield line


def _check_header(path: Path, names: tuple[str, ...]) -> None:
    if not names:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    named = [name for name in names if name]
    refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))
