"""Loading of a data set by its name, from the first place that has it; the bundled data sets."""

import csv
import difflib
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets

from bochner._base.arrays import decimal_years
from bochner.datasets.dataset import Dataset, Task, of_bunch
from bochner.datasets.npz import read_npz
from bochner.datasets.remote import cache_folder, downloadable, fetch, read_cached

_PLAIN_NAME = re.compile(r"\w[\w.-]*")


def load(name: str, folder: str | Path | None = None, *, download: bool = False) -> Dataset:
    """Return a data set by its name.

    The data set is searched for in ``folder``; in the folder in the environment variable
    ``BOCHNER_DATA``; among the data sets bundled with the library and with scikit-learn; in the
    cache of earlier downloads; and, if ``download`` is true, in the public sources.

    Parameters
    ----------
    name : str
        Name of the data set; a folder is searched for ``NAME.npz``.
    folder : path, default=None
    download : bool, default=False

    Raises
    ------
    ValueError
        If the name is unknown, a folder does not exist, or a file is damaged.
    OSError
        If a download fails.

    Examples
    --------
    >>> from bochner.datasets import load
    >>> co2 = load("mauna_loa_co2_weekly")
    >>> co2.X.shape, co2.target_name
    ((2284, 1), 'co2')
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}.")
    if not _PLAIN_NAME.fullmatch(name):
        raise ValueError(
            f"A data set's name has letters, digits, '_', '-' and '.' only, got {name!r}; "
            "give the folder of a file with folder=."
        )
    for place in _folders(folder):
        path = place / f"{name}.npz"
        if path.is_file():
            return read_npz(path)
    if name in BUNDLED:
        return BUNDLED[name]()
    if download and name in downloadable():
        return fetch(name)
    cached = read_cached(name)
    if cached is None:
        raise ValueError(_unknown(name, folder))
    return cached


def available(folder: str | Path | None = None) -> tuple[str, ...]:
    """Return the sorted names that :func:`load` finds without a download.

    ``folder`` is as in :func:`load`; a folder that does not exist raises ``ValueError``.

    Examples
    --------
    >>> from bochner import datasets
    >>> "iris" in datasets.available()
    True
    """
    places = [*_folders(folder), cache_folder()]
    file_names = (path.stem for place in places for path in place.glob("*.npz"))
    return tuple(sorted({*BUNDLED, *file_names}))


def _folders(folder: str | Path | None) -> list[Path]:
    environment = os.environ.get("BOCHNER_DATA")
    named = {"folder": folder, "the environment variable BOCHNER_DATA": environment}
    for source, place in named.items():
        if place and not Path(place).is_dir():
            raise ValueError(f"{source} must name an existing folder, got {str(place)!r}.")
    return [Path(place) for place in named.values() if place]


def _unknown(name: str, folder: str | Path | None) -> str:
    how_to_add = f"put {name}.npz into a folder and name that with folder= or BOCHNER_DATA."
    if name in downloadable():
        return (
            f"Data set {name!r} is not on this machine; download it with "
            f"load({name!r}, download=True), or {how_to_add}"
        )
    names = sorted({*available(folder), *downloadable()})
    nearest = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"known: {', '.join(names)}."
    if nearest:
        hint = f"did you mean {' or '.join(map(repr, nearest))}?"
    return f"There is no data set {name!r}; {hint} To use your own, {how_to_add}"


def load_co2() -> Dataset:
    """Return the weekly Mauna Loa record; ``y`` is NaN in the weeks without a value."""
    with table_file("mauna_loa_co2_weekly").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    dates = np.array([row["date"] for row in rows], dtype="M8[D]")
    return Dataset(
        "mauna_loa_co2_weekly",
        X=decimal_years(dates)[:, np.newaxis],
        y=np.array([float(row["co2"] or "nan") for row in rows]),
        task="regression",
        feature_names=("decimal_year",),
        target_name="co2",
        source="Keeling and Whorf (2004), Trends, CDIAC; copied from statsmodels 0.15.0",
        license="public domain",
        notes="weekly means in ppm, 1958-03-29 to 2001-12-29; 59 weeks have no value (NaN in y)",
    )


def load_seattle() -> Dataset:
    """Return the weather of Seattle by day; the date is a decimal year."""
    with table_file("seattle_weather").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    dates = np.array([row["date"] for row in rows], dtype="M8[D]")
    kinds, codes = np.unique([row["weather"] for row in rows], return_inverse=True)
    numbers = ("precipitation", "temp_min", "wind")
    columns = [[float(row[name]) for row in rows] for name in numbers]
    return Dataset(
        "seattle_weather",
        X=np.column_stack([decimal_years(dates), *columns, codes]).astype(np.float64),
        y=np.array([float(row["temp_max"]) for row in rows]),
        task="regression",
        feature_names=("decimal_year", *numbers, "weather"),
        target_name="temp_max",
        categorical=(False, False, False, False, True),
        levels={"weather": tuple(kinds.tolist())},
        source="National Oceanic and Atmospheric Administration; copied from vega_datasets 0.9.0",
        license="public domain",
        notes="1,461 days from 2012-01-01; precipitation in mm, temperatures in °C, wind in m/s",
    )


_TABLES = ("seattle_weather", "mauna_loa_co2_weekly")


def table_file(name: str) -> Traversable:
    """Return the CSV file of a bundled table, ``"seattle_weather"`` or ``"mauna_loa_co2_weekly"``.

    Unlike :func:`load`, dates and text are not converted. Raises ValueError for an unknown name.

    Examples
    --------
    >>> from bochner import datasets, read_table
    >>> read_table(datasets.table_file("seattle_weather")).shape
    (1461, 6)
    """
    if name not in _TABLES:
        raise ValueError(
            f"There is no bundled table {name!r}: expected {' or '.join(map(repr, _TABLES))}."
        )
    return files("bochner.datasets") / "data" / f"{name}.csv"


def _from_sklearn(name: str, task: Task, target_name: str, notes: str) -> Dataset:
    options = {"scaled": False} if name == "diabetes" else {}
    bunch = getattr(sklearn_datasets, f"load_{name}")(**options)
    classes = tuple(map(str, bunch.target_names)) if task == "classification" else ()
    return of_bunch(
        name,
        bunch,
        task,
        target_name=target_name,
        levels={target_name: classes} if classes else {},
        source=f"sklearn.datasets.load_{name}",
        license="BSD-3-Clause (scikit-learn's copy)",
        notes=notes,
    )


_SKLEARN: tuple[tuple[str, Task, str, str], ...] = (
    ("diabetes", "regression", "progression", "raw units"),
    ("breast_cancer", "classification", "diagnosis", "0 = malignant, 1 = benign"),
    ("wine", "classification", "cultivar", "rows sorted by class"),
    ("iris", "classification", "species", "rows sorted by class"),
    ("digits", "classification", "digit", "8 x 8 pixels, 0 to 16"),
)

BUNDLED: Mapping[str, Callable[[], Dataset]] = {
    "mauna_loa_co2_weekly": load_co2,
    "seattle_weather": load_seattle,
    **{row[0]: partial(_from_sklearn, *row) for row in _SKLEARN},
}
