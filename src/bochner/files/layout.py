"""The layout of a text file: its encoding and its delimiter."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bochner.files.errors import InputError
from bochner.files.file_content import is_standard_input, place
from bochner.files.headings import LOOKED_AT, count_footers, find_heading, footer_note
from bochner.files.reading_options import ReadOptions

DELIMITERS = (",", ";", "\t", "|")
"""Delimiters that are tried; the earlier one is taken if two fit equally well."""

_SAMPLE_LENGTH = 1 << 16
"""Bytes of the file, or a few more, in which the delimiter is counted: hundreds of lines."""

_SAMPLE_RECORDS = 200
"""Most records in which the delimiter is counted; a wrong one disagrees within a few."""

_TAIL_LENGTH = 1 << 12
"""Bytes at the end of the file in which remarks below the table are looked for: dozens of lines."""

_LINE_END = re.compile(rb"\r\n|\n|\r")

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


_AUTOMATIC = ReadOptions()


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """A text in UTF-8, its delimiter, and the names of its columns, which may be empty.

    Names have no white space around them. Rows begin after ``start`` bytes, or ``n_head`` records,
    ``n_names`` of them with names, and end before the last ``n_foot`` records. ``first`` has the
    entries of the first row if the file has no names.
    """

    content: bytes
    delimiter: str
    names: list[str]
    notes: tuple[str, ...]
    start: int
    n_head: int
    n_names: int = 1
    n_foot: int = 0
    first: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Place of the first byte below the rows."""
        size = len(self.content)
        if not self.n_foot:
            return size
        first = max(self.start, size - _TAIL_LENGTH)
        tail = self.content[first:]
        ends = [match.end() for match in _LINE_END.finditer(tail.rstrip())]
        filled = [a for a, b in zip([0, *ends], [*ends, len(tail)], strict=True)
                  if tail[a:b].strip()]  # fmt: skip
        return first + filled[-self.n_foot]


def find_layout(
    path: Path, content: bytes, preferred: str = ",", options: ReadOptions = _AUTOMATIC
) -> DelimitedText:
    """Return the layout of a text file, or of standard input if ``path`` is "-".

    ``preferred`` is the delimiter unless lines agree better on another one. ``options`` may have
    the lines before the names, and those of names. Raises InputError if the content is empty, not
    text, or of another format.
    """
    _refuse_other_formats(path, content)
    path = place(path)
    text, notes = _utf8(path, content)
    hint = _EXCEL_HINT.match(text)
    if hint:
        text = text[hint.end() :]
    if options.skip:
        ends = [match.end() for match in islice(_LINE_END.finditer(text), options.skip)]
        text = text[ends[-1] :] if len(ends) == options.skip else b""
    if re.search(rb"\S", text) is None:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    end = text.find(b"\n", _SAMPLE_LENGTH) + 1
    sample = (text[:end] if end else text).decode()
    delimiter = hint[1].decode() if hint else _delimiter(sample, preferred)
    rows, lines = _first_records(sample, delimiter)
    n_titles = None if options.skip is None else 0
    heading = find_heading(
        rows, n_titles=n_titles, n_names=options.header, is_recorded=options.recorded
    )
    names = heading.names
    n_head = heading.n_titles + heading.n_names
    if n_head > len(lines):
        raise InputError(
            f"{path} has {len(lines)} lines before its rows end, and {n_head} are to be above the "
            "rows: give a smaller header (--header)."
        )
    stripped = [name.strip() for name in names]
    if stripped != names:
        notes += ("White space around names of columns is removed.",)
    n_lines = lines[n_head - 1] if n_head else 0
    ends = [match.end() for match in islice(_LINE_END.finditer(text), n_lines)]
    start = (ends[-1] if len(ends) == n_lines else len(text)) if n_lines else 0
    layout = DelimitedText(
        text,
        delimiter,
        stripped,
        (*notes, *heading.notes),
        start,
        n_head,
        heading.n_names,
        first=heading.first,
    )
    return layout if options.skip is not None else _without_footers(layout)


def _first_records(sample: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first records, stripped, and the number of lines up to the end of each."""
    rows: list[list[str]] = []
    lines: list[int] = []
    reading = reader(sample, delimiter)
    try:
        for row in records(reading):
            rows.append([cell.strip() for cell in row] if rows else row)
            lines.append(reading.line_num)
            if len(rows) > LOOKED_AT:
                break
    except csv.Error:  # The careful reader names the line
        pass
    return rows, lines


def _without_footers(layout: DelimitedText) -> DelimitedText:
    """Return a layout without the remarks below the table, with a note on them."""
    tail = layout.content[max(layout.start, len(layout.content) - _TAIL_LENGTH) :]
    if tail.count(b'"') % 2:
        return layout
    try:
        text = tail.decode("utf-8", errors="ignore")
        rows = list(records(reader(text, layout.delimiter)))
    except csv.Error:
        return layout
    n_foot = count_footers(rows, len(layout.names))
    if not n_foot:
        return layout
    notes = (*layout.notes, footer_note(rows[-n_foot:]))
    return replace(layout, n_foot=n_foot, notes=notes)


def _refuse_other_formats(path: Path, content: bytes) -> None:
    for mark, format_name, advice, command in _OTHER_FORMATS:
        if not content.startswith(mark):
            continue
        if is_standard_input(path):  # It has no name that could be changed
            piped = f"decompress it ({command} FILE | bochner ...)" if command else "pipe it as CSV"
            advice = f"{piped}, or give the path of the file in place of {path}"
        raise InputError(f"{place(path)} is {format_name}: {advice}.")


def records(rows: Iterable[list[str]], width: int = 0) -> Iterator[list[str]]:
    """Yield the records of a reader, without lines of white space, as pandas does.

    In a file of one column, a blank line below the first one is a row without an entry.
    """
    is_begun = False
    for row in rows:
        if len(row) > 1 or any(field.strip() for field in row):
            is_begun = True
            yield row
        elif width == 1 and is_begun:
            yield [""]


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
    """Return the delimiter with which most lines have equally many fields.

    If several do, it is the preferred one, or the one with more fields.
    """
    best, best_score = preferred, (0.0, False, 0)
    for delimiter in DELIMITERS:
        try:
            some = islice(records(reader(sample, delimiter)), _SAMPLE_RECORDS)
            sizes = [len(record) for record in some]
        except csv.Error:  # a field that is too long
            continue
        # Titles before the names, and remarks below the table, have other sizes.
        counts = Counter(sizes)
        size = max(counts, key=lambda size: (counts[size], size == sizes[0]), default=0)
        if size > 1:
            score = (counts[size] / len(sizes), delimiter == preferred, size)
            if score > best_score:
                best, best_score = delimiter, score
    return best
