"""Default settings on tables: errors, log densities, intervals and seconds, on splits and folds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, median_table
from bochner import TableClassifier, TableRegressor, datasets

_SETS = ("yacht", "energy", "wine_red", "boston", "concrete", "kin8nm", "power_plant", "naval")
_SPLITS = 5  # The first of the 20 that are published

_SMALL = (
    "airfoil",
    "concrete",
    "transfusion",
    "pima",
    "breast_cancer_wdbc",
    "german_credit",
    "debrecen",
    "kr_vs_kp",
    "spambase",
)
_LARGE = ("bike_hourly", "california_housing", "eeg_eye_state", "letter", "electricity")
_FOLDS = 5  # As many as in the papers that name a number
_SMALL_FOLDS = 2  # The first of them
_LARGE_FOLDS = 1  # Of more than 10,000 rows; two thousand test rows and more tell enough

_LEAST_PROBABILITY = 1e-15  # What a log loss takes for a class that is said to be impossible


def _catboost(seed: int) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_seed=seed, **_CATBOOST)


def _catboost_classes(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, **_CATBOOST)


_CATBOOST = {"verbose": False, "thread_count": 2, "allow_writing_files": False}
_METHODS: Mapping[str, Callable[[int], Any]] = {
    "bochner": lambda seed: TableRegressor(n_jobs=2, random_state=seed),
    "bochner, quick": lambda seed: TableRegressor(effort="quick", n_jobs=2, random_state=seed),
    "bochner, fixed": lambda seed: TableRegressor(method="fixed", random_state=seed),
    "boosted trees": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "CatBoost": _catboost,
}
_FOLD_METHODS = ("bochner", "boosted trees", "CatBoost")
_CLASSIFIERS: Mapping[str, Callable[[int], Any]] = {
    "bochner": lambda seed: TableClassifier(n_jobs=2, random_state=seed),
    "boosted trees": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "CatBoost": _catboost_classes,
}


def _cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid(("diabetes",), ("bochner, quick", "boosted trees"), 1)
    return grid(_SETS, _METHODS, _SPLITS)


def _fold_cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid(("breast_cancer",), ("bochner", "boosted trees"), 1)
    small = grid(_SMALL, _FOLD_METHODS, _SMALL_FOLDS)
    return [*small, *grid(_LARGE, _FOLD_METHODS, _LARGE_FOLDS)]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    if options.data and options.from_folder:
        file = np.load(options.data / "published_splits" / f"{cell.dataset}.npz")
        X, y, is_test = file["X"], file["y"], file["is_test"][cell.seed]
    else:
        X, y = datasets.load(cell.dataset).X, datasets.load(cell.dataset).y
        is_test = np.random.default_rng(cell.seed).random(len(y)) < 0.1
    return _measured(_METHODS[cell.method](cell.seed), X, y, is_test)


def _run_fold(cell: Cell, options: Options) -> Mapping[str, float]:
    dataset = datasets.load(cell.dataset, folder=options.data)
    is_numbers = dataset.task == "regression"
    kind = KFold if is_numbers else StratifiedKFold
    splits = kind(_FOLDS, shuffle=True, random_state=0).split(dataset.X, dataset.y)
    is_test = np.zeros(len(dataset.y), dtype=bool)
    is_test[list(splits)[cell.seed][1]] = True
    methods = _METHODS if is_numbers else _CLASSIFIERS
    metrics = dict(_measured(methods[cell.method](cell.seed), dataset.X, dataset.y, is_test))
    if is_numbers:
        metrics["error"] = metrics["rmse"] ** 2 / float(np.var(dataset.y[~is_test]))
    return metrics


def _measured(
    model: Any, X: NDArray[Any], y: NDArray[Any], is_test: NDArray[np.bool_]
) -> Mapping[str, float]:
    """Return the metrics of a model on test rows after its fit to the others."""
    start = perf_counter()
    model.fit(X[~is_test], y[~is_test])
    seconds = perf_counter() - start
    y, new = y[is_test], X[is_test]
    if is_classifier(model):
        probability = model.predict_proba(new)
        own = probability[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return {
            "log_loss": -float(np.mean(np.log(np.maximum(own, _LEAST_PROBABILITY)))),
            "error_rate": float(np.mean(np.ravel(model.predict(new)) != y)),
            "fit_seconds": seconds,
        }
    rmse = float(np.sqrt(np.mean((model.predict(new) - y) ** 2)))
    if not isinstance(model, TableRegressor):
        return {"rmse": rmse, "fit_seconds": seconds}
    mean, std = model.predict(new, return_std=True)
    lower, upper = model.predict_interval(new, level=0.9)
    density = 0.5 * np.log(2.0 * np.pi * std**2) + 0.5 * ((y - mean) / std) ** 2
    return {
        "rmse": rmse,
        "nlpd": float(np.mean(density)),
        "coverage": float(np.mean((lower <= y) & (y <= upper))),
        "fit_seconds": seconds,
    }


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    for metric, title in _TITLES.items():
        if any(row["metric"] == metric for row in rows):
            yield title
            yield median_table(rows, index=["dataset"], columns="method", metric=metric)


_TITLES = {
    "rmse": "Root mean square error on test rows.",
    "error": "Mean square error on test rows over the variance of the training target.",
    "log_loss": "Mean negative log probability of the classes of test rows.",
    "error_rate": "Share of test rows whose most probable class is wrong.",
    "nlpd": "Mean negative log density of test rows.",
    "coverage": "Share of test rows in their 90 % intervals.",
    "fit_seconds": "Seconds to fit, on two cores.",
}

PUBLISHED = Benchmark(
    name="published",
    settings=("part",),
    introduction="Eight tables of the literature on Bayesian regression with their published "
    "splits, nine tenths of the rows to fit; then the first two of five folds of nine tables, "
    "and the first of five larger ones. All methods at their defaults; medians over the splits.",
    parts=(
        Part("splits", _cells, _run, _tables),
        Part("folds", _fold_cells, _run_fold, _tables),
    ),
)
