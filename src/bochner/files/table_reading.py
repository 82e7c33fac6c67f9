"""Reading of tables from files, with guesses of formats and column types."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import Remarks, brief, refuse_repeated
from bochner.files.columns import kind_of, labels
from bochner.files.delimited_text import RawColumns, read_texts
from bochner.files.errors import InputError
from bochner.files.extra_rows import fill_down, without_extra_rows
from bochner.files.identifiers import leave_out
from bochner.files.local_dates import number_dates
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions, check_names
from bochner.files.rule_reading import RULES, ReadColumn, missing_codes, read_by_rules
from bochner.files.rules import LARGEST_EXACT, FunctionRule, Rule
from bochner.files.spreadsheets import chosen, listed, read_spreadsheet, typed
from bochner.files.text_files import TEXT_ENDINGS, find, place

if TYPE_CHECKING:
    import pandas as pd

SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
"""Endings of spreadsheets."""

_UNNAMED = re.compile(r"__index_level_\d+__")
"""Names of an index without a name, which pandas stores."""

_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
WITH_TABLES = (*SPREADSHEETS, ".sqlite", ".sqlite3", ".db")
"""Endings of files that may have several tables."""


def read_frame(path: Path, ending: str, options: ReadOptions) -> RawColumns:
    """Return the unconverted columns of a file that is no text."""
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: expected a table.")
    if ending in SPREADSHEETS:
        return read_spreadsheet(path, options)
    frame = _sqlite(path, options) if ending in WITH_TABLES else _arrow(path, ending)
    names = [str(name).strip() for name in frame.columns]
    refuse_repeated(names, str(path))
    return RawColumns({name: frame.iloc[:, i] for i, name in enumerate(names)})


def _arrow(path: Path, ending: str) -> pd.DataFrame:
    """Return a table read by Arrow, without an unnamed index, which only numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import feather, parquet

    try:
        with path.open("rb") as file:
            table = (parquet if ending == ".parquet" else feather).read_table(file)
        names = [name for name in table.column_names if not _UNNAMED.fullmatch(name)]
        table = table.select(names)
        for i, column in enumerate(table.columns):
            ends = pc.min_max(column).as_py().values() if pa.types.is_integer(column.type) else ()
            if any(abs(end or 0) > LARGEST_EXACT for end in ends):
                table = table.set_column(i, names[i], column.cast(pa.string()))
        # Without the metadata of pandas, an index with a name is a column like any other.
        frame: pd.DataFrame = table.to_pandas(date_as_object=False, ignore_metadata=True)
        return frame
    except (pa.ArrowException, OSError) as error:
        reason = f"{path} is a damaged {ending[1:].title()} file ({' '.join(str(error).split())})"
        raise InputError(f"{reason}: copy or export it again.") from error


def _sqlite(path: Path, options: ReadOptions) -> pd.DataFrame:
    """Return the chosen or only table or view of an SQLite file."""
    import sqlite3  # Some builds of Python lack sqlite3

    import pandas as pd

    try:
        # Read-only: the file is neither changed nor created.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            tables = [name for (name,) in connection.execute(_TABLES)]
            table = chosen(tables, path, "table", options) or ", ".join(tables)
            if table not in tables:
                held = f"{len(tables)} tables ({listed(tables)})" if tables else "no tables"
                raise InputError(f"{path} has {held}: expected one. Choose it by table= (--table).")
            quoted = table.replace('"', '""')
            cursor = connection.execute(f'SELECT * FROM "{quoted}"')
            rows, names = cursor.fetchall(), [str(column[0]) for column in cursor.description]
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as an SQLite file ({error}).") from error
    frame = pd.DataFrame(rows, columns=range(len(names)), dtype=object)
    # Integers that float64 would round become text.
    frame = frame.map(lambda x: str(x) if isinstance(x, int) and abs(x) > LARGEST_EXACT else x)
    return frame.set_axis(names, axis=1).infer_objects()


_AUTOMATIC = ReadOptions()

_WRITTEN = (*TEXT_ENDINGS, *SPREADSHEETS)
"""Endings of files that people write, with names, sums and remarks between the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class TableRead:
    """A table, notes on guesses, the layout for later files, and what seem to be identifiers."""

    frame: pd.DataFrame
    notes: tuple[str, ...]
    layout: ReadOptions
    left_out: Mapping[str, pd.Series] = field(default_factory=dict)


def read(
    path: str | os.PathLike[str] | pd.DataFrame,
    options: ReadOptions = _AUTOMATIC,
    text: Collection[str] = (),
    keep: Collection[str] = (),
    optional: Collection[str] = (),
    levels: Collection[str] = (),
    rules: Sequence[Rule] = RULES,
) -> TableRead:
    """Read a table from a file or "-" for standard input, with its notes and layout.

    ``options`` may be the layout of an earlier reading. Columns of ``keep``, such as the target,
    stay even if they seem to be identifiers. Columns of ``optional``, such as the target of rows to
    predict, become text where they cannot be read by the layout. Words among ``levels`` are entries
    of rows, not labels of sums or means.
    """
    try:
        import pandas as pd
        import pyarrow
    except ImportError:
        raise ImportError(
            "Tables are read by pandas and pyarrow: pip install pandas pyarrow."
        ) from None
    remarks, ending, source, index = Remarks(), "", "The table", None
    if isinstance(path, pd.DataFrame):
        raw, index = RawColumns(_columns_of(path)), path.index
    else:
        path, ending = find(path)
        source = str(place(path))
        if options.table is not None and not options.recorded and ending not in WITH_TABLES:
            raise InputError(
                f"{source} holds one table: leave out table= (--table), which is for spreadsheets "
                "and SQLite."
            )
        preferred = "\t" if ending == ".tsv" else ","
        is_text = ending in TEXT_ENDINGS
        try:
            raw = (read_texts(path, preferred, options) if is_text
                   else read_frame(path, ending, options))  # fmt: skip
        except MemoryError:
            raise MemoryError(f"{source} is larger than free memory: pass parts of it.") from None
    columns, notes = raw.columns, raw.notes
    raw = replace(raw, columns={})
    if not options.recorded:
        check_names(options.types, columns)
    if options.skip is None and ending in _WRITTEN:
        columns, extra = without_extra_rows(columns, levels)
        notes += extra
        if extra and ending in SPREADSHEETS:
            columns = {n: x if x.dtype != object else typed(x.where(x.notna(), "").to_numpy())
                       for n, x in columns.items()}  # fmt: skip
    columns, gaps = fill_down(columns, options)
    series, kept, found = _by_rules(columns, options, text, rules, remarks, optional, raw.delimiter)
    pyarrow.default_memory_pool().release_unused()
    left = leave_out(series, {*text, *options.types, *keep, *kept}, remarks, options.recorded)
    frame = pd.DataFrame({name: each for name, each in series.items() if name not in left})
    if frame.empty:
        raise InputError(f"{source} has no rows or no columns: expected at least one of each.")
    if index is not None:
        frame.index = index
    ignored = [name for name, kind in options.types.items() if kind == "ignore"]
    found["decisions"] |= {name: {"rule": "ignore"} for name in (*left, *ignored)}
    layout = replace(
        options,
        types={},
        recorded=True,
        header=raw.n_names if options.header is None else options.header,
        delimiter=raw.delimiter or options.delimiter,
        encoding=raw.encoding or options.encoding,
        **found,
    )
    gaps = gaps if ending in _WRITTEN else ()
    sentences = (*notes, *gaps, *remarks.sentences())
    return TableRead(frame, sentences, layout, {name: series[name] for name in left})


def read_table(
    path: str | os.PathLike[str] | pd.DataFrame,
    text: Collection[str] = (),
    *,
    decimal: str = "auto",
    dates: str = "auto",
    types: Mapping[str, str] | None = None,
    table: str | None = None,
    missing: Sequence[str] = (),
    skip: int | None = None,
    header: int | None = None,
    encoding: str | None = None,
    fill_down: Sequence[str] = (),
    bad_lines: str = "error",
    rules: Mapping[str, Callable[[Any], Any]] | None = None,
) -> pd.DataFrame:
    r"""Return the table of a file or data frame; a warning lists oddities and guesses.

    Delimited text may have any of the usual encodings, delimiters, decimal marks and dates, and
    may be compressed. Options that are not given are decided by all entries of the file. A
    saved index, columns that number the rows, and text that differs in nearly every row are left
    out, with a note.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bochner import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "houses.csv"
    ...     _ = path.write_text("size,sold\n52.5,2021-01-31\n110,2021-02-28\n")
    ...     read_table(path)
        size       sold
    0   52.5 2021-01-31
    1  110.0 2021-02-28

    Parameters
    ----------
    path : path-like or pandas.DataFrame
        A file of text (.csv, .tsv, .txt, perhaps with .gz, .bz2, .xz, .zst or .zip), or a
        .parquet, .feather, .xlsx, .xlsm, .xls, .xlsb, .ods, .sqlite, .sqlite3 or .db file; or a
        data frame, whose text is read by the same rules.
    text : collection of str, default=()
        Columns that are text even if their entries look like numbers or dates, such as the code
        007. Other names are ignored.
    decimal : {"auto", ".", ","}, default="auto"
        Decimal mark.
    dates : {"auto", "iso", "dayfirst", "monthfirst", "none"}, default="auto"
        Dates that are recognised. "iso" reads 2021-12-31 only; "dayfirst" and "monthfirst" also
        read names of months, and 31/12/2021 or 12/31/2021; "none" leaves dates as text.
    types : mapping of str to str, default=None
        Kind of some columns, in place of the guessed kind: "number", "text", "date" or "ignore",
        which leaves the column out. "decimal point", "decimal comma", "dayfirst" and "monthfirst"
        are for columns that differ from the rest of the file.
    table : str, default=None
        Table of an SQLite file; sheet of a spreadsheet by name or number, or the first cell of a
        table, as in "Data!F3". None means the largest table of the first sheet with numbers.
    missing : sequence of str, default=()
        Entries that are missing in every column, such as "NA" among text, or "-99".
    skip : int, default=None
        Lines to leave out before the names. With a number, no line is left out because it seems to
        be a title or a total. None finds such lines.
    header : int, default=None
        Lines of column names: 0 if the first line is data, 2 for two lines. None finds them.
    encoding : str, default=None
        Encoding of a text file, such as "shift-jis" or "cp1251". None recognises it.
    fill_down : sequence of str, default=()
        Columns of labels that only the first row of each block has: gaps have the entry above.
    bad_lines : {"error", "drop"}, default="error"
        What is done with rows of another length than the names.
    rules : mapping of str to callable, default=None
        Rules of your own by name, tried before the others. Each is a function that takes the texts
        of a column as a pandas Series and returns a Series of values, missing where it cannot read
        an entry, or None to decline the column.

    Returns
    -------
    pandas.DataFrame of shape (n, d)
        Numbers, truth values, text, and dates as datetime64, with a zone if the file has one offset
        from UTC. Dates with several offsets are timestamps with an offset each.

    Raises
    ------
    InputError
        If the file has an unknown ending, is damaged or empty, has rows of other lengths than the
        header, or does not agree with the options.
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    """
    options = ReadOptions(
        decimal, dates, types or {}, table, missing=missing, skip=skip, header=header,
        encoding=encoding, fill_down=fill_down, bad_lines=bad_lines,
    )  # fmt: skip
    own = [FunctionRule(name, function) for name, function in (rules or {}).items()]
    table_read = read(path, options, text, rules=(*own, *RULES))
    if table_read.notes:
        source = "the table" if hasattr(path, "columns") else path
        warnings.warn(f"Read {source}: {' '.join(table_read.notes)}", stacklevel=2)
    return table_read.frame


def _columns_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of a data frame; raise InputError for invalid Unicode in a name."""
    refuse_repeated(list(map(str, frame.columns)))
    for name in map(str, frame.columns):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"The name {name!a} is no Unicode: rename the column.") from None
    return {str(name): series for name, series in frame.reset_index(drop=True).items()}


def _by_rules(
    columns: dict[str, Any],
    options: ReadOptions,
    text: Collection[str],
    rules: Sequence[Rule],
    remarks: Remarks,
    optional: Collection[str],
    delimiter: str,
) -> tuple[dict[str, pd.Series], set[str], dict[str, Any]]:
    """Return columns read by rules, names that are no identifiers, and a part of the layout."""
    if options.recorded and delimiter in {options.decimal, ";"} - {options.delimiter}:
        # Commas between fields exclude decimal commas; semicolons often accompany decimal commas.
        options = replace(options, decimal="auto")
    requested = {**dict.fromkeys(text, "text"), **options.types}
    kinds = {name: record["rule"] for name, record in options.decisions.items()} | requested
    series, texts = dict[str, Any](), dict[str, Any]()
    for name in [name for name in columns if kinds.get(name) != "ignore"]:
        column = columns.pop(name)  # Texts take more memory than what is read from them
        if delimiter or _is_mixed(name, column, kinds.get(name)):
            texts[name] = _arrow_texts(name, column)
        series[name] = None if delimiter else column
    del column
    found, decimal, order = read_by_rules(
        texts, options, rules, remarks, requested=requested, optional=optional,
        has_semicolons=delimiter == ";",
    )  # fmt: skip
    decisions: dict[str, Any] = {**options.decisions}
    for name, column in series.items():
        if name in found:
            series[name], decisions[name] = found[name].values, found[name].record
            if not delimiter and name not in kinds:
                _remark_on_stored_text(column, found[name], remarks)
        elif kind := {**dict.fromkeys("iuf", "number"), "M": "date"}.get(column.dtype.kind):
            decisions[name] = {"rule": kind}
    codes = _without_codes(series, options, requested, remarks)
    for name, code in codes.items():
        decisions[name] = {**decisions[name], "code": code}
    kept = {*options.decisions, *(name for name, some in found.items() if some.is_mixed)}
    recorded = {
        "decisions": decisions,
        "decimal": decimal or "." if options.decimal == "auto" else options.decimal,
        "dates": "none" if options.dates == "none" else order or "iso",
    }
    return series, kept, recorded


def _without_codes(
    series: dict[str, pd.Series],
    options: ReadOptions,
    requested: Mapping[str, str],
    remarks: Remarks,
) -> dict[str, float]:
    """Remove numbers that stand for missing entries from columns, and return codes by column."""
    import pandas as pd

    codes = {n: some["code"] for n, some in options.decisions.items() if "code" in some}
    named = pd.to_numeric(list(options.missing), errors="coerce").tolist()
    numbers = {name: column for name, column in series.items() if column.dtype.kind in "iuf"}
    if not options.recorded:
        free = {name: column for name, column in numbers.items() if name not in requested}
        codes |= missing_codes({n: c.mask(c.isin(named)) for n, c in free.items()}, remarks)
    for name, column in numbers.items():
        is_missing = column.isin([*named, *([codes[name]] if name in codes else [])])
        series[name] = column.mask(is_missing) if is_missing.any() else column
    return codes


def _remark_on_stored_text(cells: pd.Series, some: ReadColumn, remarks: Remarks) -> None:
    """Add a remark on plain numbers that a spreadsheet or other typed table stores as text."""
    is_plain = some.record["rule"] == "number" and some.record.get("decimal", ".") == "."
    is_text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(bool)
    rows = np.flatnonzero(is_text & some.values.notna().to_numpy())
    if is_plain and len(rows):
        words = "has numbers that are stored as text: read as numbers; a type text (types=)"
        remarks.add(some.column.name, f"{words} keeps them", brief(cells.iloc[rows[0]]))


def _is_mixed(name: str, column: pd.Series, kind: str | None) -> bool:
    """Return whether a typed column lacks the kind that is asked for, or has several kinds."""
    is_date, is_number = column.dtype.kind == "M", column.dtype.kind in "iuf"
    if (kind in NUMBER_KINDS and is_number) or (kind in DATE_KINDS and is_date):
        return False
    is_wanted = kind is not None
    if kind is None and is_number:
        dates = number_dates(name, column.to_numpy(dtype=float, na_value=np.nan))
        is_wanted = dates is not None and dates.is_sure
    kinds = {kind_of(entry) for entry in set(map(type, column[column.notna()]))}
    is_wanted |= "text" in kinds and column.dtype.kind == "O" and column.dtype != "category"
    return is_wanted and kinds <= {"text", "numeric", "date"}


def _arrow_texts(name: str, column: pd.Series) -> Any:
    """Return the entries of a column as an Arrow array of texts (n,)."""
    import pandas as pd
    import pyarrow as pa

    if column.dtype == pd.ArrowDtype(pa.string()):
        return pa.array(column.array)
    try:
        texts = labels(np.asarray(column, dtype=object), column.notna().to_numpy())
        return pa.chunked_array([pa.array(texts, pa.string())])
    except UnicodeEncodeError as error:
        raise InputError(
            f"Column {name!r:.60} holds text that is no Unicode ({error.object!r:.60}): read the "
            "file with its encoding, or replace the text."
        ) from None
