"""Tables from CSV, tab-separated and Parquet files."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bochner.tables.refusals import InputError, nearest, refuse_repeated
from bochner.tables.text_files import text_layout

if TYPE_CHECKING:
    import pandas as pd

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?"
)
_MOST_FILES = 5
"""Files of a directory that an error message lists."""

_SHORTEST_PARQUET = 12
"""Bytes of the smallest Parquet file: the mark PAR1 twice, and the length of the footer."""


def read_table(path: str | os.PathLike[str], text: Collection[str] = ()) -> pd.DataFrame:
    """Read a CSV (.csv, .csv.gz), tab-separated (.tsv, .tsv.gz) or Parquet (.parquet) file.

    Text columns become datetime64 if every entry is an ISO 8601 date or time; times with a zone
    are converted to UTC. Empty entries are missing. Columns named in ``text`` are read as text
    even if their entries look like numbers or dates, such as the code 007.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file; the message suggests a similar name.
    InputError
        If the ending is unknown, or the file is empty, damaged, not UTF-8, has no rows,
        duplicate column names, or rows of different lengths.
    """
    path = Path(path)
    _check_file(path)
    frame = _READERS[_ending(path)](path, text)
    if frame.empty:
        raise InputError(f"{path} has no rows or no columns: expected at least one of each.")
    for name in set(text_columns(frame)).difference(text):
        frame[name] = _as_dates(frame[name])
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
        layout = text_layout(path, delimiter)
        return pd.read_csv(
            path,
            sep=layout.delimiter,
            index_col=False,
            low_memory=False,
            dtype={name: str for name in text if name in layout.names},
        )
    except (gzip.BadGzipFile, EOFError) as error:
        raise InputError(
            f"{path} is not a whole gzip file ({error}): copy it again, or decompress it first."
        ) from error
    except (pd.errors.ParserError, OverflowError) as error:
        raise InputError(
            f"{path} cannot be parsed as a table ({_one_line(error)}): is a quotation mark left "
            "open?"
        ) from error


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
    """Raise an error that says what is wrong, where pyarrow's message would not."""
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


_READERS: Mapping[str, Callable[[Path, Collection[str]], pd.DataFrame]] = MappingProxyType(
    {
        ".csv": partial(_read_text, delimiter=None),
        ".csv.gz": partial(_read_text, delimiter=None),
        ".tsv": partial(_read_text, delimiter="\t"),
        ".tsv.gz": partial(_read_text, delimiter="\t"),
        ".parquet": _read_parquet,
    }
)


def _as_dates(series: pd.Series) -> pd.Series:
    import pandas as pd

    if not all(map(_ISO_DATE.fullmatch, series.dropna().unique())):
        return series
    try:
        return pd.to_datetime(series, format="ISO8601", utc=True).dt.tz_localize(None)
    except ValueError:  # a date that does not exist, such as 2021-02-30: the column stays text
        return series
