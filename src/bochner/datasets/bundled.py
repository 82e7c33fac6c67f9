"""The bundled tables: weather of Seattle, and carbon dioxide at Mauna Loa."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, decimal_years

_NAMES = ("mauna_loa_co2_weekly", "seattle_weather")


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
    return _NAMES


def table_file(name: str) -> Traversable:
    """Return the CSV file of a bundled table.

    Parameters
    ----------
    name : {"mauna_loa_co2_weekly", "seattle_weather"}

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> from bochner import datasets, read_table
    >>> read_table(datasets.table_file("seattle_weather")).shape
    (1461, 6)
    """
    if name not in _NAMES:
        raise ValueError(
            f"There is no bundled table {name!r}: expected {' or '.join(map(repr, _NAMES))}. "
            f"sklearn.datasets and sklearn.datasets.fetch_openml have others."
        )
    return files("bochner.datasets") / "data" / f"{name}.csv"


def load(name: str) -> Dataset:
    """Return a bundled table as arrays.

    Parameters
    ----------
    name : {"mauna_loa_co2_weekly", "seattle_weather"}

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> from bochner import datasets
    >>> datasets.load("mauna_loa_co2_weekly")
    Dataset('mauna_loa_co2_weekly', 2284 x 1)
    """
    with table_file(name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    years = decimal_years(np.array([row["date"] for row in rows], dtype="M8[D]"))
    if name == "mauna_loa_co2_weekly":
        return Dataset(name, years[:, np.newaxis], _numbers(rows, "co2"), ("decimal_year",), "co2")
    kinds, codes = np.unique([row["weather"] for row in rows], return_inverse=True)
    numbers = ("precipitation", "temp_min", "wind")
    columns = (years, *(_numbers(rows, column) for column in numbers), codes)
    return Dataset(
        name,
        np.column_stack(columns).astype(np.float64),
        _numbers(rows, "temp_max"),
        ("decimal_year", *numbers, "weather"),
        "temp_max",
        {"weather": tuple(kinds.tolist())},
    )


def _numbers(rows: list[dict[str, str]], column: str) -> NDArray[np.float64]:
    return np.array([float(row[column] or "nan") for row in rows])
