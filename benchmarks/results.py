"""Tidy results: rows of a CSV file, and Markdown tables made from them."""

import csv
import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

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


Groups = Mapping[tuple[Scalar, ...], Mapping[str, Sequence[float]]]
"""Values over the seeds, by the columns that name a line of a table, and then by column."""

Show = Callable[[Sequence[float]], str]


def grouped(
    rows: Iterable[Row],
    metric: str,
    index: Sequence[str] = ("dataset",),
    columns: str = "method",
    **where: Scalar,
) -> dict[tuple[Scalar, ...], dict[str, list[float]]]:
    """Return the values of a metric over the seeds, in the order of the rows.

    Parameters
    ----------
    rows : iterable of rows
    metric : str
    index : sequence of str, default=("dataset",)
        Columns that name a line of a table.
    columns : str, default="method"
        The column whose values become the table's columns.
    **where : str, int or float
        Values that other columns must have.

    Examples
    --------
    >>> rows = [{"dataset": "iris", "method": "ridge", "metric": "mse", "value": s} for s in (1, 2)]
    >>> grouped(rows, "mse")
    {('iris',): {'ridge': [1.0, 2.0]}}
    """
    found: dict[tuple[Scalar, ...], dict[str, list[float]]] = {}
    for row in rows:
        if row["metric"] == metric and all(row[name] == value for name, value in where.items()):
            line = found.setdefault(tuple(row[name] for name in index), {})
            line.setdefault(str(row[columns]), []).append(float(row["value"]))
    return found


def group_table(
    groups: Groups,
    columns: Sequence[str],
    show: Show | Callable[[Mapping[str, Sequence[float]]], Mapping[str, str]],
    *,
    header: Sequence[str] = ("data set",),
    label: Callable[..., Sequence[str] | str] = lambda *key: list(map(str, key)),
    below: Callable[..., tuple[str, Mapping[str, str]] | None] = lambda *key: None,
    whole_line: bool = False,
) -> str:
    """Return a Markdown table with a line for each group, and a dash for what is missing.

    Parameters
    ----------
    groups : mapping
    columns : sequence of str
        In this order; those without any value are left out.
    show : callable
        From the values of one entry to text, or with ``whole_line`` from those of all entries of a
        line, by column, to texts by column.
    header : sequence of str, default=("data set",)
        Names of the columns that name a line.
    label : callable, default: the key
        From the key of a group, as arguments, to the entries that name the line.
    below : callable, default: nothing
        From the key to name and entries of a second line, such as published figures.
    whole_line : bool, default=False
    """
    used = [name for name in columns if any(name in line for line in groups.values())]
    body = []
    for key, line in groups.items():
        texts: Any = show(line) if whole_line else {k: show(v) for k, v in line.items()}  # type: ignore[arg-type]
        name = label(*key)
        body.append([*([name] if isinstance(name, str) else name),
                     *(texts.get(column, "–") for column in used)])  # fmt: skip
        if published := below(*key):
            body.append([published[0], *(published[1].get(column, "–") for column in used)])
    return markdown_table((*header, *used), body)


def median_groups(groups: Groups) -> dict[tuple[Any, ...], dict[str, float]]:
    """Return the median of every entry."""
    return {
        key: {name: float(np.median(values)) for name, values in line.items()}
        for key, line in groups.items()
    }


def mean_error(digits: int = 3) -> Show:
    """Return a function that shows a mean and, of several values, its standard error."""

    def show(values: Sequence[float]) -> str:
        mean = f"{float(np.mean(values)):.{digits}g}"
        if len(values) == 1:
            return mean
        deviation = f"{np.std(values, ddof=1) / np.sqrt(len(values)):.1g}"
        return f"{mean} ± {float(deviation):g}"

    return show


def median_text(digits: int = 3) -> Show:
    """Return a function that shows a median."""
    return lambda values: f"{np.median(values):.{digits}g}"


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
