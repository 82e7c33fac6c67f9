"""Tables from CSV, tab-separated and Parquet files."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from bochner.tables.columns import read_column
from bochner.tables.refusals import InputError, nearest, refuse_repeated

if TYPE_CHECKING:
    import pandas as pd

_UTF16 = "text in UTF-16, not UTF-8: iconv -f utf-16 -t utf-8 OLD > NEW"
_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file: rename it to .parquet"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet: save it as CSV (UTF-8)"),
    (b"\x1f\x8b", "gzip-compressed: rename it to .csv.gz"),
    (codecs.BOM_UTF16_LE, _UTF16),
    (codecs.BOM_UTF16_BE, _UTF16),
)

_MOST_FILES = 5
"""Files of a directory that an error message lists."""

_SHORTEST_PARQUET = 12
"""Bytes of the smallest Parquet file: the mark PAR1 twice, and the length of the footer."""


def read_table(path: str | os.PathLike[str], text: Collection[str] = ()) -> pd.DataFrame:
    """Read a CSV (.csv, .csv.gz), tab-separated (.tsv, .tsv.gz) or Parquet (.parquet) file.

    Text columns become datetime64 if every entry is an ISO 8601 date or time; times with a zone
    are converted to UTC. Empty entries are missing. Columns named in ``text`` are read as text
    even if their entries look like numbers or dates, such as the code 007. Raises InputError for
    an unknown ending or an unusable file, and FileNotFoundError or IsADirectoryError.
    """
    path = Path(path)
    _check_file(path)
    frame = _READERS[_ending(path)](path, text)
    if frame.empty:
        raise InputError(f"{path} has no rows or no columns: expected at least one of each.")
    for name in set(text_columns(frame)).difference(text):
        column = read_column(name, frame[name])
        if column.kind == "date":
            frame[name] = column.raw
    return frame


def text_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns whose present entries are all text."""
    from pandas.api.types import infer_dtype

    present = {name: frame[name].dropna() for name in frame.columns}
    return [name for name, some in present.items() if some.size and infer_dtype(some) == "string"]


def _check_file(path: Path) -> None:
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _ending(child) in _READERS)
        listed = f"; it holds {', '.join(files[:_MOST_FILES])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a CSV or Parquet file{listed}.")
    if not path.exists():
        names = [child.name for child in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, names)
        hint = f"did you mean {path.parent / near}?" if near else "check the name and the folder."
        raise FileNotFoundError(f"No file {path}: {hint}")
    if _ending(path) not in _READERS:
        raise InputError(
            f"{path} has the ending {_ending(path)!r}: expected one of {', '.join(_READERS)}. "
            "Convert the file, or rename it if it has one of these formats."
        )


def _ending(path: Path) -> str:
    return "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else [path.suffix]).lower()


def _read_text(path: Path, text: Collection[str], *, delimiter: str | None) -> pd.DataFrame:
    import pandas as pd

    try:
        separator, names = _text_layout(path, delimiter)
        types = {name: str for name in text if name in names}
        return pd.read_csv(path, sep=separator, index_col=False, low_memory=False, dtype=types)
    except (gzip.BadGzipFile, EOFError) as error:
        raise InputError(
            f"{path} is not a whole gzip file ({error}): copy it again, or decompress it first."
        ) from error
    except (pd.errors.ParserError, OverflowError) as error:
        raise InputError(
            f"{path} cannot be parsed as a table ({_one_line(error)}): is a quotation mark left "
            "open?"
        ) from error


def _text_layout(path: Path, delimiter: str | None) -> tuple[str, list[str]]:
    """Check a delimited text file and return its delimiter and column names.

    The delimiter is by default a comma, or a semicolon if the header has semicolons and no comma.
    pandas would rename duplicate columns and fill short rows without a warning, and it does not
    give the position of an encoding error.
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


def _checked_rows(path: Path, text: IO[str], delimiter: str | None) -> tuple[str, list[str]]:
    first = next((line for line in text if line.strip()), "")
    if delimiter is None:
        delimiter = ";" if ";" in first and "," not in first else ","
    text.seek(0)
    rows = csv.reader(_lines(path, text), delimiter=delimiter)
    # pandas skips lines of white space, too.
    records = (row for row in rows if len(row) > 1 or any(field.strip() for field in row))
    try:
        names = next(records, [])
        if not names:
            raise InputError(f"{path} is empty: expected a line of column names, then rows.")
        named = [name for name in names if name]
        refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))
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
    return delimiter, names


def _lines(path: Path, text: IO[str]) -> Iterator[str]:
    for line in text:
        if "\0" in line:
            raise _encoding_error(path)
        yield line


def _read_parquet(path: Path, text: Collection[str]) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_parquet_marks(path)
    try:
        with path.open("rb") as file:
            frame: pd.DataFrame = pq.read_table(file).to_pandas()
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path} is a damaged Parquet file ({_one_line(error)}): copy or export it again."
        ) from error
    frame = frame.reset_index(drop=True).set_axis(list(map(str, frame.columns)), axis=1)
    refuse_repeated(list(frame.columns), str(path))
    return frame


def _check_parquet_marks(path: Path) -> None:
    """Raise an error that names the problem, where pyarrow's message would not."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(max(size - 4, 0))
        tail = file.read(4)
    if size == 0:
        raise InputError(f"{path} is empty: expected a Parquet file.")
    if head != b"PAR1":
        raise InputError(f"{path} is not a Parquet file: expected it to begin with PAR1.")
    if tail != b"PAR1" or size < _SHORTEST_PARQUET:
        raise InputError(
            f"{path} is a truncated Parquet file ({size} bytes, its end is missing): "
            "copy or export it again."
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


_READERS: Mapping[str, Callable[[Path, Collection[str]], pd.DataFrame]] = {
    ".csv": partial(_read_text, delimiter=None),
    ".csv.gz": partial(_read_text, delimiter=None),
    ".tsv": partial(_read_text, delimiter="\t"),
    ".tsv.gz": partial(_read_text, delimiter="\t"),
    ".parquet": _read_parquet,
}
