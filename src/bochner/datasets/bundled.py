"""The bundled tables: life expectancy, weather of Seattle, carbon dioxide at Mauna Loa."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np

from bochner._base.arrays import Array, decimal_years

_TARGETS = {"gapminder": "lifeExp", "mauna_loa_co2_weekly": "co2", "seattle_weather": "temp_max"}
_TEXT = ("country", "continent", "weather")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of d inputs and one target, with n rows.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d)
        Dates are decimal years, and levels of text are codes ``0, 1, …``.
    y : ndarray of shape (n,)
        NaN where no value was recorded.
    feature_names : tuple of d str
    target_name : str
    levels : mapping from a feature's name to a tuple of str, default={}
        Text of the codes ``0, 1, …`` of a feature.
    """

    name: str
    X: Array
    y: Array
    feature_names: tuple[str, ...]
    target_name: str
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}, {n} x {d})"


def available() -> tuple[str, ...]:
    """Return the names of the bundled tables."""
    return tuple(_TARGETS)


def table_file(name: str) -> Traversable:
    """Return the CSV file of a bundled table.

    Parameters
    ----------
    name : {"gapminder", "mauna_loa_co2_weekly", "seattle_weather"}

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> from bochner import datasets, read_table
    >>> read_table(datasets.table_file("gapminder")).shape
    (1704, 6)
    """
    if name not in _TARGETS:
        raise ValueError(
            f"There is no bundled table {name!r}: expected {' or '.join(map(repr, _TARGETS))}. "
            f"sklearn.datasets and sklearn.datasets.fetch_openml have others."
        )
    return files("bochner.datasets") / "data" / f"{name}.csv"


def load(name: str) -> Dataset:
    """Return a bundled table as arrays, by its name as in :func:`table_file`.

    Examples
    --------
    >>> from bochner import datasets
    >>> datasets.load("mauna_loa_co2_weekly")
    Dataset('mauna_loa_co2_weekly', 2284 x 1)
    """
    with table_file(name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns: dict[str, Array] = {}
    levels: dict[str, tuple[str, ...]] = {}
    for column in rows[0]:
        texts = [row[column] for row in rows]
        if column == "date":
            columns["decimal_year"] = decimal_years(np.array(texts, dtype="M8[D]"))
        elif column in _TEXT:
            names, codes = np.unique(texts, return_inverse=True)
            columns[column] = codes.astype(np.float64)
            levels[column] = tuple(names.tolist())
        else:
            columns[column] = np.array([float(text or "nan") for text in texts])
    y = columns.pop(_TARGETS[name])
    X = np.column_stack(list(columns.values()))
    return Dataset(name, X, y, tuple(columns), _TARGETS[name], levels)
