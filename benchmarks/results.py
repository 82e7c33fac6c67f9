"""Tidy results: rows of a CSV file, and Markdown tables made from them."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Scalar = str | int | float
Row = Mapping[str, Scalar]

TEXT_COLUMNS = ("benchmark", "mode", "dataset", "method", "metric")
_NOT_SETTINGS = ("run", "seed", "metric", "value")

Groups = Mapping[Any, Mapping[str, Any]]
"""Values over the seeds, by the columns that name a line of a table, and then by column."""

Show = Callable[[Any], str]


def read_rows(path: str | Path) -> list[dict[str, Scalar]]:
    """Return the rows of a benchmark's CSV, settings as numbers where they read as such.

    Raises ValueError if the file is not a benchmark's CSV, or a row does not fit its header.
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


def grouped(
    rows: Iterable[Row],
    metric: str,
    index: Sequence[str] = ("dataset",),
    columns: str = "method",
    **where: Scalar,
) -> dict[Any, dict[str, list[float]]]:
    """Return the values of a metric over the seeds, by the columns ``index`` and then ``columns``.

    Only rows count whose other columns have the values in ``where``. Keys are tuples of the index.
    """
    groups: dict[Any, dict[str, list[float]]] = {}
    for row in rows:
        if row["metric"] == metric and all(row[name] == value for name, value in where.items()):
            line = groups.setdefault(tuple(row[name] for name in index), {})
            line.setdefault(str(row[columns]), []).append(float(row["value"]))
    return groups


def name_at(what: str, place: float) -> str:
    """Return the name of the metric of a curve at a place."""
    return f"{what}_at_{place:g}"


def curve_metrics(
    curves: Mapping[str, Iterable[float]], places: Sequence[float]
) -> dict[str, float]:
    """Return curves at places as metrics."""
    return {
        name_at(name, place): float(value)
        for name, curve in curves.items()
        for place, value in zip(places, curve, strict=True)
    }


def first_trial(rows: Iterable[Row], dataset: str | None = None) -> dict[tuple[str, str], float]:
    """Return the values of the first trial, by method and metric."""
    return {
        (str(row["method"]), str(row["metric"])): float(row["value"])
        for row in rows
        if row["seed"] == 0 and dataset in (None, row["dataset"])
    }


def median_groups(groups: Groups) -> dict[tuple[Any, ...], dict[str, float]]:
    """Return the median of every entry."""
    return {
        key: {name: float(np.median(values)) for name, values in line.items()}
        for key, line in groups.items()
    }


def medians(
    rows: Iterable[Row], *, by: Sequence[str], metric: str
) -> dict[tuple[Scalar, ...], float]:
    """Return the median of one metric over the seeds, for each combination of the columns ``by``.

    Raises ``ValueError`` if no row has the metric, or a column not in ``by`` (other than the seed)
    varies within a group: a median over different settings would mean nothing.
    """
    groups: dict[tuple[Scalar, ...], list[Row]] = {}
    for row in rows:
        if row["metric"] == metric:
            groups.setdefault(tuple(row[name] for name in by), []).append(row)
    if not groups:
        raise ValueError(f"No row has the metric {metric!r}.")
    for key, members in groups.items():
        for name in members[0]:
            values = dict.fromkeys(row[name] for row in members)
            if name not in (*by, *_NOT_SETTINGS) and len(values) > 1:
                raise ValueError(
                    f"{name!r} takes the values {', '.join(map(str, values))} within "
                    f"{', '.join(map(str, key))}; select one of them, or add {name!r} to the table."
                )
    return {
        key: float(np.median([float(row["value"]) for row in members]))
        for key, members in groups.items()
    }


def median_table(
    rows: Iterable[Row],
    *,
    index: Sequence[str],
    columns: str = "method",
    metric: str,
    ratio_to: Scalar | None = None,
    digits: int = 3,
) -> str:
    """Return a table of medians over the seeds, a line for each combination of ``index``.

    With ``ratio_to``, a value of ``columns``, brackets show the ratio to that column's median.
    """
    lines: dict[Any, dict[str, float]] = {}
    for (*key, label), value in medians(rows, by=[*index, columns], metric=metric).items():
        lines.setdefault(tuple(key), {})[str(label)] = value

    def show(line: Mapping[str, float]) -> dict[str, str]:
        reference = line.get(str(ratio_to))
        texts = {label: f"{value:.{digits}g}" for label, value in line.items()}
        for label in line if reference else ():
            if label != str(ratio_to):
                texts[label] += f" ({line[label] / (reference or 1.0):.2f})"
        return texts

    labels = list(dict.fromkeys(label for line in lines.values() for label in line))
    return group_table(lines, labels, show, header=index, whole_line=True)


def group_table(
    groups: Groups,
    columns: Sequence[str],
    show: Show | Callable[[Any], Mapping[str, str]],
    *,
    header: Sequence[str] = ("data set",),
    label: Callable[..., Sequence[str] | str] = lambda *key: list(map(str, key)),
    below: Callable[..., tuple[str, Mapping[str, str]] | None] = lambda *key: None,
    whole_line: bool = False,
) -> str:
    """Return a Markdown table with a line for each group, and a dash for missing values.

    ``columns`` without any value are left out. ``show`` maps the values of one entry to text, or
    with ``whole_line`` those of all entries of a line, by column, to texts by column. ``header``
    names the columns that ``label`` makes of the key of a group. ``below`` maps the key to name and
    entries of a second line, such as published figures.
    """
    used = [name for name in columns if any(name in line for line in groups.values())]
    body = []
    for key, line in groups.items():
        texts: Any = show(line) if whole_line else {k: show(v) for k, v in line.items()}
        name = label(*key)
        entries = [texts.get(column, "–") for column in used]
        body.append([*([name] if isinstance(name, str) else name), *entries])
        if published := below(*key):
            body.append([published[0], *(published[1].get(column, "–") for column in used)])
    return markdown_table((*header, *used), body)


def published(
    figures: Mapping[str, Mapping[str, float]], names: Mapping[str, str], digits: int, name: str
) -> tuple[str, Mapping[str, str]] | None:
    """Return the second line of a data set in a table: a paper's name of it, and its figures."""
    if name not in figures:
        return None
    texts = {method: f"{value:.{digits}g}" for method, value in figures[name].items()}
    return f"paper, “{names[name]}”", texts


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
