"""The layout of a text file: its encoding and its delimiter."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bochner.tables.files import is_standard_input, place
from bochner.tables.refusals import InputError

DELIMITERS = (",", ";", "\t", "|")
"""Delimiters that are tried; the earlier one is taken if two fit equally well."""

_SAMPLE_LENGTH = 1 << 16
"""Bytes of the file, or a few more, in which the delimiter is counted: hundreds of lines."""

_SAMPLE_RECORDS = 200
"""Most records in which the delimiter is counted; a wrong one disagrees within a few."""

_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file", "rename it to .parquet", ""),
    (b"ARROW1", "a Feather file", "rename it to .feather", ""),
    (b"SQLite format 3\0", "an SQLite file", "rename it to .sqlite", ""),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "rename it, or save it as CSV", ""),
    (b"\x1f\x8b", "gzip-compressed", "rename it to .csv.gz", "gzip -dc"),
    (b"BZh", "bzip2-compressed", "rename it to .csv.bz2", "bzip2 -dc"),
    (b"\xfd7zXZ", "xz-compressed", "rename it to .csv.xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed", "rename it to .csv.zst", "zstd -dc"),
)
"""First bytes of binary formats, their names, the advice for such a file, and the command that
converts it to text in a pipe, or an empty text."""

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the beginning of a file; UTF-32 comes first, since its mark begins as one of UTF-16."""

_EXCEL_HINT = re.compile(rb"\s*\"?sep=(.)\"?\r?\n")
"""A first line that names the delimiter, which Excel reads."""

_ESCAPED = re.compile("[\udc80-\udcff]+")
"""Bytes that are not UTF-8, as ``errors="surrogateescape"`` decodes them."""


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """A text in UTF-8, its delimiter, and the names of its columns, which may be empty.

    Names have no white space around them.
    """

    content: bytes
    delimiter: str
    names: list[str]
    notes: tuple[str, ...]


def find_layout(path: Path, content: bytes, preferred: str = ",") -> DelimitedText:
    """Return the layout of a text file, or of standard input if ``path`` is "-".

    ``preferred`` is the delimiter unless lines agree better on another one. Raises InputError if
    the content is empty, not text, or of another format.
    """
    _refuse_other_formats(path, content)
    path = place(path)
    text, notes = _utf8(path, content)
    hint = _EXCEL_HINT.match(text)
    if hint:
        text = text[hint.end() :]
    if re.search(rb"\S", text) is None:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    end = text.find(b"\n", _SAMPLE_LENGTH) + 1
    sample = (text[:end] if end else text).decode()
    delimiter = hint[1].decode() if hint else _delimiter(sample, preferred)
    names = next(records(reader(sample, delimiter)), [])
    stripped = [name.strip() for name in names]
    if stripped != names:
        notes += ("White space around names of columns is removed.",)
    return DelimitedText(text, delimiter, stripped, notes)


def _refuse_other_formats(path: Path, content: bytes) -> None:
    for mark, format_name, advice, command in _OTHER_FORMATS:
        if not content.startswith(mark):
            continue
        if is_standard_input(path):  # It has no name that could be changed
            piped = f"decompress it ({command} FILE | bochner ...)" if command else "pipe it as CSV"
            advice = f"{piped}, or give the path of the file in place of {path}"
        raise InputError(f"{place(path)} is {format_name}: {advice}.")


def records(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the records of a reader, without lines of white space, as pandas does."""
    return (row for row in rows if len(row) > 1 or any(field.strip() for field in row))


def reader(text: str, delimiter: str) -> Any:
    """Return a reader of the fields of a text."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _utf8(path: Path, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return content as UTF-8 without a mark, and notes on its encoding."""
    for mark, encoding in _WIDE_MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding).encode(), ()
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path} is damaged {encoding.upper()} ({error.reason} at offset "
                    f"{error.start}): copy or export it again."
                ) from None
    content = content.removeprefix(codecs.BOM_UTF8)
    zero = content.find(b"\0")
    if zero >= 0:
        raise InputError(
            f"{path} is not text: a zero byte at offset {zero}. Expected a table of text; export "
            "it again."
        )
    if content.isascii():
        return content, ()
    text = content.decode("utf-8", errors="surrogateescape")
    n_escaped = sum(map(len, _ESCAPED.findall(text)))
    if not n_escaped:
        return content, ()
    n_encoded = sum(map(len, re.findall("[^\0-\x7f]+", text))) - n_escaped
    if n_encoded > n_escaped:
        text = _ESCAPED.sub(lambda some: _windows(some[0].encode("utf-8", "surrogateescape")), text)
        note = f"Bytes that are not UTF-8 ({n_escaped} of them) are read as Windows-1252."
    else:
        text = _windows(content)
        note = "The file is not UTF-8: read as Windows-1252."
    return text.encode(), (note,)


def _windows(content: bytes) -> str:
    """Decode text as Windows-1252, or as Latin-1 if a byte is undefined in Windows-1252."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _delimiter(sample: str, preferred: str) -> str:
    """Return the delimiter with which most lines have as many fields as the header.

    If several do, it is the preferred one, or the one with more fields.
    """
    best, best_score = preferred, (0.0, False, 0)
    for delimiter in DELIMITERS:
        try:
            some = islice(records(reader(sample, delimiter)), _SAMPLE_RECORDS)
            sizes = [len(record) for record in some]
        except csv.Error:  # a field that is too long
            continue
        if sizes and sizes[0] > 1:
            agreement = sum(size == sizes[0] for size in sizes) / len(sizes)
            score = (agreement, delimiter == preferred, sizes[0])
            if score > best_score:
                best, best_score = delimiter, score
    return best
