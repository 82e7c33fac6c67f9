"""A delimited text file, checked before it is parsed: encoding, header, fields in every row."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from bochner.tables.refusals import refuse_repeated

_CHUNK = 1 << 20
_FOREIGN_STARTS = (
    (b"PAR1", "a Parquet file: rename it to .parquet"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: save it as CSV (UTF-8)"),
    (b"\x1f\x8b", "gzip-compressed: rename it to .csv.gz"),
    (codecs.BOM_UTF16_LE, "text in UTF-16, not UTF-8: iconv -f utf-16 -t utf-8 OLD > NEW"),
    (codecs.BOM_UTF16_BE, "text in UTF-16, not UTF-8: iconv -f utf-16 -t utf-8 OLD > NEW"),
)


class InputError(ValueError):
    """A file or a table that cannot be used; its message says what to do."""


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How a text file is laid out.

    Attributes
    ----------
    delimiter : str
        Between fields.
    names : tuple of str
        The header.
    """

    delimiter: str
    names: tuple[str, ...]


def text_layout(path: Path, delimiter: str | None = None) -> TextLayout:
    """Check a delimited text file and find its layout, one pass each for bytes and rows.

    Parameters
    ----------
    path : Path
        The file; compressed if its name ends in .gz.
    delimiter : str, optional
        Between fields; by default a comma, or a semicolon where the header has no comma.

    Returns
    -------
    TextLayout

    Raises
    ------
    InputError
        If it is empty, not UTF-8 text, has no rows, a duplicate name in the header, or a row
        with more or fewer fields than the header.
    """
    try:
        _check_bytes(path)
        with _text(path) as text:
            return _check_rows(path, text, delimiter)
    except (gzip.BadGzipFile, EOFError) as error:
        raise InputError(
            f"{path} is not a whole gzip file ({error}): copy it again, or decompress it first."
        ) from error


def looks_like_numbers(names: Sequence[str]) -> str:
    """Return a hint where every name of a header reads as a number, else an empty text."""
    plain = (name.replace(".", "", 1).lstrip("+-") for name in names)
    if not all(name.isdigit() for name in plain):
        return ""
    return " The first line holds numbers only: is the line of column names missing?"


@contextmanager
def _bytes(path: Path) -> Iterator[IO[bytes]]:
    compressed = path.suffix.lower() == ".gz"
    with cast(IO[bytes], gzip.open(path) if compressed else path.open("rb")) as file:
        yield file


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    with _bytes(path) as file:
        yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def _check_bytes(path: Path) -> None:
    with _bytes(path) as file:
        chunk = file.read(_CHUNK)
        for start, what in _FOREIGN_STARTS:
            if chunk.startswith(start):
                raise InputError(f"{path} is {what}.")
        _check_utf8(path, file, chunk)


def _check_utf8(path: Path, file: IO[bytes], chunk: bytes) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    while True:
        pending = len(decoder.getstate()[0])
        if b"\x00" in chunk:
            raise InputError(
                f"{path} is not text: a zero byte at offset {offset + chunk.index(0)}. "
                "Expected CSV in UTF-8; export the table again."
            )
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset "
                f"{offset - pending + error.start}. Convert it, for instance from Latin-1: "
                f"iconv -f latin1 -t utf-8 {path.name} > utf8-{path.name}"
            ) from error
        if not chunk:
            return
        offset += len(chunk)
        chunk = file.read(_CHUNK)


def _check_rows(path: Path, text: IO[str], delimiter: str | None) -> TextLayout:
    first = next((line for line in text if line.strip()), "")
    if delimiter is None:
        delimiter = ";" if ";" in first and "," not in first else ","
    text.seek(0)
    rows = csv.reader(text, delimiter=delimiter)
    try:
        records = (row for row in rows if _holds_fields(row))
        names = tuple(next(records, []))
        _check_header(path, names)
        header_only = True
        for row in records:
            header_only = False
            if len(row) != len(names):
                raise _ragged(path, rows.line_num, len(row), len(names))
    except csv.Error as error:
        raise InputError(
            f"{path}, line {rows.line_num}: {error}. Is a quotation mark left open before it?"
        ) from error
    if header_only:
        raise InputError(f"{path} has a header but no rows: expected at least one below it.")
    return TextLayout(delimiter, names)


def _holds_fields(row: list[str]) -> bool:
    """Whether a line is more than white space, which pandas passes over."""
    return len(row) > 1 or any(field.strip() for field in row)


def _check_header(path: Path, names: tuple[str, ...]) -> None:
    if not names:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    named = [name for name in names if name]
    refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))


def _ragged(path: Path, line: int, n_fields: int, n_names: int) -> InputError:
    return InputError(
        f"{path}, line {line}: {n_fields} field{'s' if n_fields > 1 else ''} where the header "
        f"has {n_names}. Complete or delete the row, or put quotation marks around a field that "
        "contains the delimiter."
    )
