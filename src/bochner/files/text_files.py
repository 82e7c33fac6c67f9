"""Text files of tables: compression, encoding, delimiter and the texts of each column."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bochner._base.file_writing import absence
from bochner._base.names import looks_like_numbers, refuse_repeated
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BINARY_ENDINGS = (
    ".parquet", ".feather", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".sqlite", ".sqlite3", ".db",
)  # fmt: skip
_ALL = (*TEXT_ENDINGS, *BINARY_ENDINGS)
_STANDARD_INPUT = "-"

_MOST_LISTED = 5
"""Files of a directory or of an archive that an error message lists."""

_DELIMITERS = (",", ";", "\t", "|")
"""Candidate delimiters; the first of two delimiters is used if both fit equally well."""

_SAMPLE_LENGTH = 1 << 16
"""Bytes of the file, or a few more, in which the delimiter is counted: hundreds of lines."""

_SAMPLE_RECORDS = 200
"""Number of first records in which the delimiter and the column names are searched."""

_BLOCK_SIZE = 1 << 24
"""Bytes that Arrow parses at once, which bounds the length of a row: 16 MiB."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_FILLED = re.compile(rb"\S")

_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file", "rename it to .parquet"),
    (b"ARROW1", "a Feather file", "rename it to .feather"),
    (b"SQLite format 3\0", "an SQLite file", "rename it to .sqlite"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "rename it, or save it as CSV"),
    (b"\x1f\x8b", "gzip-compressed", "decompress it, or rename it to .csv.gz"),
    (b"BZh", "bzip2-compressed", "decompress it, or rename it to .csv.bz2"),
    (b"\xfd7zXZ", "xz-compressed", "decompress it, or rename it to .csv.xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed", "decompress it, or rename it to .csv.zst"),
)
"""First bytes of binary formats, their names, and the advice for such a file."""

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the beginning of a file; UTF-32 comes first, since its mark begins as one of UTF-16."""

_EXCEL_HINT = re.compile(rb"\s*\"?sep=(.)\"?\r?\n")
"""A first line that names the delimiter, which Excel reads."""


def find(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file and the ending of its format, ".csv" for standard input.

    Raises FileNotFoundError, IsADirectoryError, and InputError for an unknown ending.
    """
    path = Path(path)
    if str(path) == _STANDARD_INPUT:
        return path, ".csv"
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _is_known(child))
        listed = f"; it holds {', '.join(files[:_MOST_LISTED])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a file of a table{listed}.")
    if not path.exists():
        raise FileNotFoundError(absence(path))
    if not path.is_file():
        raise InputError(f"{path} is not an ordinary file: pass - and pipe the table as CSV.")
    if not _is_known(path):
        raise InputError(
            f"{path} has the ending {''.join(path.suffixes[-2:])!r}: expected one of "
            f"{', '.join(_ALL)}, or text compressed as {', '.join(_OPENERS)}. Convert the file, or "
            "rename it if it is one of these."
        )
    return path, _ending(path)


def _is_known(path: Path) -> bool:
    return _ending(path) in (TEXT_ENDINGS if path.suffix.lower() in _OPENERS else _ALL)


def _ending(path: Path) -> str:
    """Return the file ending before a compression suffix; "data.gz" counts as text."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() or ".csv" if suffix in _OPENERS else suffix


def place(path: Path) -> Path:
    """Return the path as shown in messages."""
    return Path("standard input") if str(path) == _STANDARD_INPUT else path


def content_of(path: Path) -> bytes:
    """Return the decompressed content of a text file, or of standard input.

    Raises InputError if an archive is damaged, encrypted, or has several files.
    """
    if str(path) == _STANDARD_INPUT:
        if sys.stdin is None:
            raise OSError("Standard input is closed: pipe a table into the command.")
        return sys.stdin.buffer.read()
    compression = path.suffix.lower()
    if compression not in _OPENERS:
        return path.read_bytes()
    try:
        return _OPENERS[compression](path)
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception as error:  # The exception type depends on the format and the damage
        raise InputError(
            f"{path} is not a whole {_NAMES[compression]} file ({error}): copy it again, or "
            "decompress it first."
        ) from error


def _open_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        # macOS adds an extra folder to archives.
        names = [name for name in archive.namelist()
                 if not (name.endswith("/") or name.startswith("__MACOSX/"))]  # fmt: skip
        if len(names) != 1:
            listed = ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)
            raise InputError(
                f"{path} holds {len(names)} files{f' ({listed})' if names else ''}: expected one "
                "table. Unpack it, and give the file of the table."
            )
        return archive.read(names[0])


def _open_zstandard(path: Path) -> bytes:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="zstd") as file:
        return cast(bytes, file.read())


def _open_by(module: str, path: Path) -> bytes:
    """Decompress a file with a Python module that some builds of Python lack."""
    with import_module(module).open(path) as file:
        return cast(bytes, file.read())


_OPENERS: Mapping[str, Callable[[Path], bytes]] = {
    ".gz": partial(_open_by, "gzip"),
    ".bz2": partial(_open_by, "bz2"),
    ".xz": partial(_open_by, "lzma"),
    ".zst": _open_zstandard,
    ".zip": _open_zip,
}
COMPRESSIONS = tuple(_OPENERS)
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard", ".zip": "zip"}


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """A UTF-8 text, its delimiter, and its column names, some of which may be empty.

    Rows begin after ``start`` bytes, or ``n_head`` records, ``n_names`` of them with names.
    """

    content: bytes
    delimiter: str
    names: list[str]
    notes: tuple[str, ...]
    start: int
    n_head: int
    n_names: int = 1


def find_layout(path: Path, content: bytes, preferred: str, options: ReadOptions) -> DelimitedText:
    """Find the delimiter and header of a text file; ``preferred`` wins unless another fits better.

    Raises InputError if the content is empty, not text, or of another format.
    """
    from bochner.files.headings import find_heading  # Imports NumPy, which --help does not need

    for mark, format_name, advice in _OTHER_FORMATS:
        if content.startswith(mark):
            raise InputError(f"{path} is {format_name}: {advice}.")
    text, notes = _utf8(path, content)
    if hint := _EXCEL_HINT.match(text):
        text = text[hint.end() :]
    if options.skip:
        ends = [match.end() for match in islice(_LINE_END.finditer(text), options.skip)]
        text = text[ends[-1] :] if len(ends) == options.skip else b""
    if _FILLED.search(text) is None:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    end = text.find(b"\n", _SAMPLE_LENGTH) + 1
    sample = (text[:end] if end else text).decode()
    delimiter = hint[1].decode() if hint else _delimiter(sample, preferred)
    rows, lines = _first_records(sample, delimiter)
    n_titles = None if options.skip is None else 0
    heading = find_heading(
        rows, n_titles=n_titles, n_names=options.header, is_recorded=options.recorded
    )
    n_head = heading.n_titles + heading.n_names
    if n_head > len(lines):
        raise InputError(
            f"{path} has {len(lines)} lines before its rows end, and {n_head} are to be above the "
            "rows: give a smaller header (--header)."
        )
    names = [name.strip() for name in heading.names]
    if names != heading.names:
        notes += ("White space around names of columns is removed.",)
    n_lines = lines[n_head - 1] if n_head else 0
    ends = [match.end() for match in islice(_LINE_END.finditer(text), n_lines)]
    start = (ends[-1] if len(ends) == n_lines else len(text)) if n_lines else 0
    notes = (*notes, *heading.notes)
    return DelimitedText(text, delimiter, names, notes, start, n_head, heading.n_names)


def _first_records(sample: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first records, stripped, and for each the number of lines up to its end."""
    rows: list[list[str]] = []
    lines: list[int] = []
    reading = _reader(sample, delimiter)
    try:
        for row in _records(reading):
            rows.append([cell.strip() for cell in row] if rows else row)
            lines.append(reading.line_num)
            if len(rows) > _SAMPLE_RECORDS:
                break
    except csv.Error:  # `_checked_rows` reports the line
        pass
    return rows, lines


def _records(rows: Iterable[list[str]], width: int = 0) -> Iterator[list[str]]:
    """Yield the records of a CSV reader without blank lines, as pandas does.

    In a file of one column, a blank line below the first one is a row without an entry.
    """
    is_begun = False
    for row in rows:
        if len(row) > 1 or any(field.strip() for field in row):
            is_begun = True
            yield row
        elif width == 1 and is_begun:
            yield [""]


def _reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _utf8(path: Path, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return content as UTF-8 without a byte order mark, and notes on its encoding."""
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
    if (zero := content.find(b"\0")) >= 0:
        raise InputError(
            f"{path} is not text: a zero byte at offset {zero}. Expected a table of text; export "
            "it again."
        )
    for encoding in ("utf-8", "cp1252", "latin-1"):
        with suppress(UnicodeDecodeError):
            text = content.decode(encoding)
            break
    note = "The file is not UTF-8: read as Windows-1252."
    return text.encode(), () if encoding == "utf-8" else (note,)


def _delimiter(sample: str, preferred: str) -> str:
    """Return the delimiter for which most lines have the same number of fields.

    If several do, it is the preferred one, or the one with more fields.
    """
    best, best_score = preferred, (0.0, False, 0)
    for delimiter in _DELIMITERS:
        try:
            some = islice(_records(_reader(sample, delimiter)), _SAMPLE_RECORDS)
            sizes = [len(record) for record in some]
        except csv.Error:  # A field is too long
            continue
        # Titles above the names have other numbers of fields.
        counts = Counter(sizes)
        size = max(counts, key=lambda size: (counts[size], size == sizes[0]), default=0)
        score = (counts[size] / max(len(sizes), 1), delimiter == preferred, size)
        if size > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def read_columns(path: Path, layout: DelimitedText) -> dict[str, pa.Array]:
    """Return the texts of each column, null where missing, by name.

    Empty names become "Unnamed: 0" and so on by position, as in pandas. Raises InputError for rows
    of other lengths than the header, an open quotation mark, or no rows, and ValueError for
    duplicate names.
    """
    named = [name for name in layout.names if name]
    refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))
    names = [name or _unnamed(i, named) for i, name in enumerate(layout.names)]
    columns = _parse(layout, len(names))
    if columns is None:  # Arrow refuses the text, or may misread it
        import pyarrow as pa

        rows = list(_checked_rows(path, layout, len(names)))
        columns = [
            pa.chunked_array([pa.array([row[i] or None for row in rows], pa.string())])
            for i in range(len(names))
        ]
    if not len(columns[0]):
        raise InputError(f"{path} has a header but no rows: expected at least one below it.")
    return dict(zip(names, columns, strict=True))


def _unnamed(position: int, names: Sequence[str]) -> str:
    name = f"Unnamed: {position}"
    while name in names:  # The table was saved with its index before
        name += ".1"
    return name


def _parse(layout: DelimitedText, width: int) -> list[pa.Array] | None:
    """Return the columns below the header, or None if the text needs the slower parser."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content, start, end = layout.content, layout.start, len(layout.content)
    n_quotes = content.count(b'"', start, end)
    if n_quotes % 2 or content.count(b'"', 0, start) % 2:  # A quotation mark may be unclosed
        return None
    if _FILLED.search(content, start, end) is None:
        return None
    body = pa.py_buffer(content).slice(start, end - start)
    if width == 1:  # Blank lines at the end are no rows
        body = content[start:end].rstrip(b"\r\n\t ") + b"\n"
    names = [f"f{i}" for i in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_SIZE),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=n_quotes > 0,
                ignore_empty_lines=width > 1,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return list(table.columns)


def _checked_rows(path: Path, layout: DelimitedText, width: int) -> Iterator[list[str]]:
    """Yield the rows of a text that Arrow refuses, or raise an error that names the line."""
    # With the extra line end, a field that ends with a line end has an unclosed quotation mark.
    text = layout.content.decode()
    rows = _reader((text.rstrip() if width == 1 else text) + "\n", layout.delimiter)
    row: list[str] = []
    try:
        for number, row in enumerate(_records(rows, width)):
            if number < layout.n_head:
                continue
            if len(row) != width:
                raise InputError(
                    f"{path}, line {rows.line_num}: {len(row)} field{'s' * (len(row) > 1)} where "
                    f"the header has {width}. Complete or delete the row, or put quotation marks "
                    "around a field that contains the delimiter; comments are not read."
                )
            yield row
    except csv.Error as error:
        raise InputError(
            f"{path}, line {rows.line_num}: {error}. Is a quotation mark left open before it?"
        ) from error
    if layout.content.count(b'"') % 2 and row and row[-1].endswith("\n"):
        raise InputError(
            f"{path} ends within a field that begins with {row[-1][:20].strip()!r}: "
            "close its quotation mark."
        )
