"""Common methods for tables, and their metrics on a split into training and test rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from math import ceil
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.tables.encoder import TableEncoder
from bochner.tables.refusals import InputError

if TYPE_CHECKING:
    import pandas as pd

OURS = "bochner"
LINEAR = "linear model"
RBF_SAMPLER = "RBFSampler + RidgeCV"
RBF_SAMPLER_DEFAULT = "RBFSampler + default RidgeCV"
TREES = "gradient-boosted trees"

_ALPHAS: tuple[float, ...] = tuple(np.logspace(-3, 3, 13).tolist())
"""Ridge penalties to choose from: two per decade, from 0.001 to 1,000."""

_DEFAULT_ALPHAS = (0.1, 1.0, 10.0)
"""Penalties that scikit-learn's RidgeCV tries by default."""

_INTERVAL = 0.9
"""Probability of the central prediction intervals whose coverage is measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and test rows of a table, and the task: ``"regression"`` or ``"classification"``."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    task: str


def split_rows(
    features: "pd.DataFrame", target: "pd.Series", task: str, test_size: float, seed: int
) -> Split:
    """Split rows at random into training and test rows; classes have equal shares in both.

    Raises InputError if a part has too few rows or lacks a class, or the training target is
    constant.
    """
    if not 0.0 < test_size < 1.0:
        raise InputError(f"--test-size must lie between 0 and 1, got {test_size}.")
    n_rows, n_classes = len(target), target.nunique() if task == "classification" else 1
    n_test = ceil(test_size * n_rows)
    n_fit, fewest = n_rows - n_test, max(2, n_classes)
    if n_fit < fewest or n_test < n_classes:
        classes = f", for {n_classes} classes" if n_classes > 1 else ""
        raise InputError(
            f"--test-size {test_size:g} of {n_rows} rows leaves {n_fit} to fit and {n_test} to "
            f"test: expected at least {fewest} and {n_classes}{classes}. Choose another "
            "--test-size, or add rows."
        )
    X, X_test, y, y_test = train_test_split(
        features,
        target.to_numpy(),
        test_size=test_size,
        random_state=seed,
        stratify=target if task == "classification" else None,
    )
    if len(set(y)) == 1:
        raise InputError(
            f"The rows to fit all have the target {y[0]}: choose another --seed or --test-size, "
            "or add rows."
        )
    return Split(X, y, X_test, y_test, task)


Contender = Callable[[str, int, int], BaseEstimator]


def _ours(task: str, n_components: int, seed: int) -> BaseEstimator:
    model = TableRegressor if task == "regression" else TableClassifier
    return model(n_components=n_components, random_state=seed)


def _linear(task: str, n_components: int, seed: int) -> BaseEstimator:
    head = RidgeCV(_ALPHAS) if task == "regression" else LogisticRegression(max_iter=1000)
    return make_pipeline(_encoder(), head)


def _rbf_sampler(
    task: str, n_components: int, seed: int, alphas: Sequence[float] = _ALPHAS
) -> BaseEstimator:
    head = RidgeCV(alphas) if task == "regression" else RidgeClassifierCV(alphas)
    features = RBFSampler(gamma="scale", n_components=n_components, random_state=seed)
    return make_pipeline(_encoder(), StandardScaler(), features, head)


def _trees(task: str, n_components: int, seed: int) -> BaseEstimator:
    is_regression = task == "regression"
    trees = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier
    return make_pipeline(_encoder(), trees(random_state=seed))


def _encoder() -> TableEncoder:
    # Standardised, one-hot encoded and imputed. No value is clipped below 10⁸ rows: none of n rows
    # lies more than √n standard deviations out. Larger values would lose digits in sums.
    return TableEncoder(numeric="standardize", clip=1e4)


CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {OURS: _ours, LINEAR: _linear, RBF_SAMPLER: _rbf_sampler, TREES: _trees}
)

MORE_CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {**CONTENDERS, RBF_SAMPLER_DEFAULT: partial(_rbf_sampler, alphas=_DEFAULT_ALPHAS)}
)
"""The methods with a further one: RidgeCV with its default penalties."""


def measure(model: BaseEstimator, split: Split, **fit_options: Any) -> dict[str, float]:
    """Fit ``model`` to the training rows and return its metrics on the test rows.

    ``error`` is the mean square error over the variance of the training target, or the share of
    wrong classes; ``rmse`` (regression) is in the units of the target; ``coverage`` (regressors
    with ``return_std``) is the share of targets in their central 90 % interval.

    Fits run on one OpenMP thread: these threads spin, and where other work shares the cores,
    trees take a hundred times longer with two of them.
    """
    start = perf_counter()
    with threadpool_limits(1, user_api="openmp"):
        model.fit(split.X, split.y, **fit_options)
    seconds = perf_counter() - start
    return {**evaluate(model, split), "fit_seconds": seconds}


def evaluate(model: Any, split: Split) -> dict[str, float]:
    """Return the metrics of a fitted model on the test rows; see :func:`measure`."""
    if split.task == "classification":
        return {"error": float(np.mean(model.predict(split.X_test) != split.y_test))}
    if "return_std" not in signature(model.predict).parameters:
        return _regression_errors(model.predict(split.X_test), split)
    mean, std = model.predict(split.X_test, return_std=True)
    half_width = ndtri(0.5 + _INTERVAL / 2.0) * std
    inside = np.abs(split.y_test - mean) <= half_width
    return {**_regression_errors(mean, split), "coverage": float(np.mean(inside))}


def _regression_errors(prediction: NDArray[Any], split: Split) -> dict[str, float]:
    square = float(np.mean((prediction - split.y_test) ** 2))
    return {"error": square / float(np.var(split.y)), "rmse": float(np.sqrt(square))}
