"""Data sets that come with the library or with scikit-learn."""

import csv
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from bochner.datasets.dataset import Dataset, Task, of_bunch


def decimal_year(dates: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return days as years: the year plus the fraction of it that has passed at midnight."""
    years = dates.astype("M8[Y]")
    start, end = years.astype("M8[D]"), (years + 1).astype("M8[D]")
    fraction: NDArray[np.float64] = (dates.astype("M8[D]") - start) / (end - start)
    return years.astype(np.int64) + 1970 + fraction


def load_co2() -> Dataset:
    """Return the weekly Mauna Loa record; ``y`` is NaN in the weeks without a value."""
    resource = files("bochner.datasets") / "data" / "mauna_loa_co2_weekly.csv"
    with resource.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    dates = np.array([row["date"] for row in rows], dtype="M8[D]")
    return Dataset(
        "mauna_loa_co2_weekly",
        X=decimal_year(dates)[:, np.newaxis],
        y=np.array([float(row["co2"] or "nan") for row in rows]),
        task="regression",
        feature_names=("decimal_year",),
        target_name="co2",
        source="Keeling and Whorf (2004), Trends, CDIAC; copied from statsmodels 0.15.0",
        license="public domain",
        notes="weekly means in ppm, 1958-03-29 to 2001-12-29; 59 weeks have no value (NaN in y)",
    )


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
    **{row[0]: partial(_from_sklearn, *row) for row in _SKLEARN},
}
