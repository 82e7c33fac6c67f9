"""Reading of tables from files, with guesses of formats and column types."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import Remarks, refuse_repeated, shown
from bochner.files.columns import kind_of, labels
from bochner.files.delimited_text import RawColumns, read_texts
from bochner.files.errors import InputError
from bochner.files.extra_rows import fill_down, without_repeated_names, without_summaries
from bochner.files.identifiers import leave_out
from bochner.files.missing_codes import without_codes
from bochner.files.number_dates import number_dates
from bochner.files.plain_numbers import is_number
from bochner.files.read_options import DATE_KINDS, NUMBER_KINDS, ReadOptions, check_names
from bochner.files.rule_reading import RULES, TableByRules, read_by_rules
from bochner.files.rules import Rule
from bochner.files.stored_tables import SPREADSHEETS, WITH_TABLES, read_frame
from bochner.files.text_files import TEXT_ENDINGS, find, place

if TYPE_CHECKING:
    import pandas as pd

from bochner.files.word_rules import FunctionRule  # isort

_AUTOMATIC = ReadOptions()

_WITH_SUMMARIES = (*TEXT_ENDINGS, *SPREADSHEETS)
"""Endings of files that people write, with sums below the rows."""


@dataclass(frozen=True, slots=True, eq=False)
class TableRead:
    """A table read from a file, notes on guesses, and the layout for reading later files.

    ``left_out`` has the columns that seem to be identifiers and are not in the frame.
    """

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
    rules: Sequence[Rule] = RULES,
) -> TableRead:
    r"""Read a table from a file as `read_table` does, and return its notes and layout as well.

    ``path`` may also be "-", for CSV from standard input. ``options`` may be the layout of an
    earlier reading. Columns of ``keep``, such as the target, stay even if they seem to be
    identifiers. Columns of ``optional``, such as the target of rows to predict, become text where
    they cannot be read by the layout.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "houses.csv"
    ...     _ = path.write_text("size;sold\n52,5;31.01.2021\n110;28.02.2021\n")
    ...     table = read(path)
    >>> print(*table.notes, sep="\n")
    'size' has decimal commas (52,5 is read as 52.5).
    'sold' holds days before months (31.01.2021).
    >>> table.layout.decimal, table.layout.dates
    (',', 'dayfirst')
    """
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(
            "Tables are read by pandas and pyarrow: pip install 'bochner[cli]'."
        ) from None
    remarks, ending, source, index = Remarks(), "", "The table", None
    if isinstance(path, pd.DataFrame):
        index = path.index
        refuse_repeated(list(map(str, path.columns)))
        raw = RawColumns({str(n): series for n, series in path.reset_index(drop=True).items()})
        _refuse_broken_names(raw.columns)
    else:
        path, ending = find(path)
        source = str(place(path))
        raw = _load(path, ending, options)
    if not options.recorded:
        check_names(options.types, raw.columns)
    notes, columns = raw.notes, raw.columns
    if options.skip is None and ending in _WITH_SUMMARIES:
        columns, note = without_summaries(columns)
        notes = (*notes, note) if note else notes
    columns, gaps = fill_down(columns, options)
    notes += gaps
    table = _by_rules(raw, columns, options, text, rules, remarks, optional)
    decided = options.decisions if options.recorded else ()
    keep_names = {*text, *options.types, *table.mixed, *keep, *decided}
    left = leave_out(table.columns, keep_names, remarks, options.recorded)
    frame = pd.DataFrame({n: column for n, column in table.columns.items() if n not in left})
    if frame.empty:
        raise InputError(f"{source} has no rows or no columns: expected at least one of each.")
    if index is not None:
        frame.index = index
    decisions = {**options.decisions, **table.decisions}
    ignored = [name for name, kind in options.types.items() if kind == "ignore"]
    decisions |= {name: {"rule": "ignore"} for name in (*left, *ignored)}
    layout = replace(
        options,
        decimal=table.decimal or "." if options.decimal == "auto" else options.decimal,
        dates="none" if options.dates == "none" else table.order or "iso",
        types={},
        decisions=decisions,
        recorded=True,
        header=raw.n_names if options.header is None else options.header,
        delimiter=raw.delimiter or options.delimiter,
        encoding=raw.encoding or options.encoding,
    )
    identifiers = {name: table.columns[name] for name in left}
    return TableRead(frame, (*notes, *remarks.sentences()), layout, identifiers)


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


def _refuse_broken_names(names: Collection[str]) -> None:
    """Raise InputError for invalid Unicode in a column name, as after a wrong encoding."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"The name {name!a} is no Unicode: rename the column.") from None


def _load(path: Path, ending: str, options: ReadOptions) -> RawColumns:
    if options.table is not None and not options.recorded and ending not in WITH_TABLES:
        words = "holds one table: leave out table= (--table), which is for spreadsheets and SQLite."
        raise InputError(f"{place(path)} {words}")
    if ending not in TEXT_ENDINGS:
        return read_frame(path, ending, options)
    raw = read_texts(path, "\t" if ending == ".tsv" else ",", options)
    columns, notes = raw.columns, raw.notes
    if options.skip is None:
        columns, note = without_repeated_names(columns)
        notes = (*notes, note) if note else notes
    return replace(raw, columns=columns, notes=notes)


def _by_rules(
    raw: RawColumns,
    columns: Mapping[str, Any],
    options: ReadOptions,
    text: Collection[str],
    rules: Sequence[Rule],
    remarks: Remarks,
    optional: Collection[str],
) -> TableByRules:
    """Read the columns of a file by rules; columns of a typed table keep their types."""
    if options.recorded and raw.delimiter in {options.decimal, ";"} - {options.delimiter}:
        # Commas between fields exclude decimal commas; semicolons often accompany decimal commas.
        options = replace(options, decimal="auto")
    requested = {**dict.fromkeys(text, "text"), **options.types}
    kinds = {name: record["rule"] for name, record in options.decisions.items()} | requested
    prepared = {}
    for name, column in columns.items():
        if kinds.get(name) == "ignore":
            continue
        is_typed = hasattr(column, "iloc")
        prepared[name] = _prepared(name, column, kinds.get(name), options) if is_typed else column
    texts = {name: column for name, column in prepared.items() if not hasattr(column, "iloc")}
    has_semicolons = raw.delimiter == ";"
    table = read_by_rules(
        texts,
        options,
        rules,
        remarks,
        requested=requested,
        optional=optional,
        has_semicolons=has_semicolons,
    )
    for name, column in prepared.items():
        if name not in texts:
            kind = {**dict.fromkeys("iuf", "number"), "M": "date"}.get(column.dtype.kind)
            table.decisions.update({name: {"rule": kind}} if kind else {})
        elif hasattr(columns[name], "iloc") and name not in kinds:
            _remark_on_stored_text(name, columns[name], table, remarks)
    read_columns = {name: table.columns.get(name, prepared[name]) for name in prepared}
    numbers = [float(word) for word in options.missing if is_number(word)]
    for name, series in read_columns.items() if numbers else ():
        # A missing number may be written in several ways
        if series.dtype.kind in "iuf" and (is_missing := series.isin(numbers)).any():
            read_columns[name] = series.mask(is_missing)
    recorded = {n: some["code"] for n, some in options.decisions.items() if "code" in some}
    free = {n: s for n, s in read_columns.items() if n not in requested and not options.recorded}
    free |= {name: read_columns[name] for name in recorded if name in read_columns}
    without, codes = without_codes(free, recorded, remarks)
    for name, code in codes.items():
        table.decisions[name] = {**table.decisions.get(name, {"rule": "number"}), "code": code}
    return replace(table, columns={**read_columns, **without})


def _remark_on_stored_text(name: str, cells: Any, table: TableByRules, remarks: Remarks) -> None:
    """Add a remark on plain numbers that a spreadsheet or other typed table stores as text."""
    series, decision = table.columns[name], table.decisions[name]
    is_plain = decision["rule"] == "number" and decision.get("decimal", ".") == "."
    is_text = cells.map(lambda cell: isinstance(cell, str)).to_numpy(bool)
    rows = np.flatnonzero(is_text & series.notna().to_numpy())
    if is_plain and len(rows):
        words = "has numbers that are stored as text: read as numbers; a type text (types=)"
        remarks.add(name, f"{words} keeps them", shown(cells.iloc[rows[0]]))


def _prepared(name: str, series: pd.Series, kind: str | None, options: ReadOptions) -> Any:
    """Return a typed column (n,) converted to a kind, guessed if None; text as an Arrow array.

    Dates keep their zone. Numbers among text become text, because spreadsheets may hold both.
    Raises InputError if numbers are requested and the column holds dates.
    """
    is_date, is_number = series.dtype.kind == "M", series.dtype.kind in "iuf"
    if kind in NUMBER_KINDS and is_date:
        advice = "Convert them." if options.recorded else "Give it another type (types=, --types)."
        raise InputError(
            f"Column {name!r} should hold numbers, but holds dates (row 1: {series.iloc[0]}). "
            f"{advice}"
        )
    if (kind in NUMBER_KINDS and is_number) or (kind in DATE_KINDS and is_date):
        return series
    is_dates = False
    if kind is None and is_number:
        dates = number_dates(name, series.to_numpy(dtype=float, na_value=np.nan))
        is_dates = dates is not None and dates.is_sure
    if kind is None and not is_dates and (series.dtype.kind != "O" or series.dtype == "category"):
        return series
    kinds = {kind_of(entry) for entry in set(map(type, series[series.notna()]))}
    if not kinds <= {"text", "numeric", "date"} or not (kind or is_dates or "text" in kinds):
        return series
    import pyarrow as pa

    texts = labels(np.asarray(series, dtype=object), series.notna().to_numpy())
    try:
        return pa.chunked_array([pa.array(texts, pa.string())])
    except UnicodeEncodeError as error:
        raise InputError(
            f"Column {series.name!r} holds text that is no Unicode ({error.object!r}): read the "
            "file with its encoding, or replace the text."
        ) from None
