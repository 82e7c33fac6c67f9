"""Tidy results: rows of a CSV file, and Markdown tables made from them."""

import csv
import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

Scalar = str | int | float
Row = Mapping[str, Scalar]
_Item = TypeVar("_Item")

TEXT_COLUMNS = ("benchmark", "mode", "dataset", "method", "metric")
_NOT_SETTINGS = ("run", "seed", "metric", "value")


def read_rows(path: str | Path) -> list[dict[str, Scalar]]:
    """Return the rows of a benchmark's CSV.

    Parameters
    ----------
    path : path

    Returns
    -------
    rows : list of dict
        ``value`` is a float, ``seed`` and ``run`` are integers, and settings are numbers where
        they read as such.

    Raises
    ------
    ValueError
        If the file is not a benchmark's CSV, or a row does not fit its header.
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        header = reader.fieldnames or ()
        missing = [name for name in (*TEXT_COLUMNS, *_NOT_SETTINGS) if name not in header]
        if missing:
            raise ValueError(
                f"{path} is not a benchmark's CSV: it lacks the columns {', '.join(missing)}."
            )
        rows = []
        for raw in reader:
            if None in raw or None in raw.values():
                raise ValueError(
                    f"{path}, line {reader.line_num}: the row does not fit the header."
                )
            rows.append({name: _parse(name, text) for name, text in raw.items()})
    return rows


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, the columns after the first aligned to the right.

    Examples
    --------
    >>> print(markdown_table(["data", "error"], [["iris", "0.1"]]))
    | data | error |
    | --- | ---: |
    | iris | 0.1 |
    """
    rule = ["---", *["---:"] * (len(header) - 1)]
    body = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (body[0], rule, *body[1:]))


def medians(
    rows: Iterable[Row], *, by: Sequence[str], metric: str
) -> dict[tuple[Scalar, ...], float]:
    """Return the median of one metric over the seeds, for each combination of the columns ``by``.

    Parameters
    ----------
    rows : iterable of rows
    by : sequence of str
    metric : str

    Returns
    -------
    medians : dict from the values of ``by`` to float, in the order of the rows

    Raises
    ------
    ValueError
        If no row has the metric, a column is unknown, or a column not in ``by`` (other than the
        seed) varies within a group: a median over different settings would mean nothing.

    Examples
    --------
    >>> rows = [{"method": "ridge", "seed": s, "metric": "mse", "value": s} for s in (1, 2, 9)]
    >>> medians(rows, by=["method"], metric="mse")
    {('ridge',): 2.0}
    """
    every = list(rows)
    chosen = [row for row in every if row["metric"] == metric]
    if not chosen:
        found = sorted({str(row["metric"]) for row in every})
        raise ValueError(f"No row has the metric {metric!r}; the rows have {', '.join(found)}.")
    unknown = [name for name in by if name not in chosen[0]]
    if unknown:
        raise ValueError(
            f"There is no column {unknown[0]!r}; the columns are {', '.join(chosen[0])}."
        )
    groups: dict[tuple[Scalar, ...], list[Row]] = defaultdict(list)
    for row in chosen:
        groups[tuple(row[name] for name in by)].append(row)
    for key, members in groups.items():
        _check_group(key, members, by)
    return {
        key: float(np.median([float(row["value"]) for row in members]))
        for key, members in groups.items()
    }


def median_table(
    rows: Iterable[Row],
    *,
    index: str | Sequence[str],
    columns: str,
    metric: str,
    ratio_to: Scalar | None = None,
    digits: int = 3,
) -> str:
    """Return a Markdown table of medians over the seeds.

    Parameters
    ----------
    rows : iterable of rows
    index : str or sequence of str
        The columns that name a line of the table.
    columns : str
        The column whose values become the table's columns.
    metric : str
    ratio_to : str, int or float, default=None
        A value of ``columns``. The other cells then show, in brackets, their median divided by
        that column's median.
    digits : int, default=3
        Significant digits.

    Returns
    -------
    table : str
        A dash stands for what was not measured.

    Raises
    ------
    ValueError
        As :func:`medians`, or if ``ratio_to`` is not a value of ``columns``.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "iris", "method": method, "seed": 0, "metric": "error", "value": value}
    ...     for method, value in (("ours", 0.05), ("theirs", 0.1))
    ... ]
    >>> print(median_table(
    ...     rows, index="dataset", columns="method", metric="error", ratio_to="theirs"
    ... ))
    | dataset | ours | theirs |
    | --- | ---: | ---: |
    | iris | 0.05 (0.50) | 0.1 |
    """
    names = [index] if isinstance(index, str) else list(index)
    table = medians(rows, by=[*names, columns], metric=metric)
    labels = _ordered(key[-1] for key in table)
    if ratio_to is not None and ratio_to not in labels:
        nearest = difflib.get_close_matches(str(ratio_to), map(str, labels), n=1, cutoff=0.0)
        raise ValueError(
            f"ratio_to={ratio_to!r} is no value of {columns!r}; nearest: {nearest[0]!r}."
        )

    def cell(line: tuple[Scalar, ...], label: Scalar) -> str:
        value = table.get((*line, label))
        if value is None:
            return "–"
        text = f"{value:.{digits}g}"
        reference = None if ratio_to in (None, label) else table.get((*line, ratio_to))
        return f"{text} ({value / reference:.2f})" if reference else text

    lines = _ordered(key[:-1] for key in table)
    body = [[*map(str, line), *(cell(line, label) for label in labels)] for line in lines]
    return markdown_table([*names, *map(str, labels)], body)


def _ordered(items: Iterable[_Item]) -> list[_Item]:
    return list(dict.fromkeys(items))


def _check_group(key: tuple[Scalar, ...], members: Sequence[Row], by: Sequence[str]) -> None:
    for name in members[0]:
        if name in by or name in _NOT_SETTINGS:
            continue
        values = _ordered(row[name] for row in members)
        if len(values) > 1:
            raise ValueError(
                f"{name!r} takes the values {', '.join(map(str, values))} within "
                f"{', '.join(map(str, key))}; select one of them, or add {name!r} to the table."
            )


def _parse(name: str, text: str) -> Scalar:
    if name in TEXT_COLUMNS:
        return text
    if name == "value":
        return float(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
