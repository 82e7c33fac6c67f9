"""Default settings on tables: errors, log densities, intervals and seconds, on splits and folds."""

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks import datasets
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.predictions import log_density
from benchmarks.published import design, page
from benchmarks.published.methods import CLASSIFIERS, REGRESSORS, installed

_LEAST_PROBABILITY = 1e-15  # What a log loss takes for a class that is said to be impossible
_QUICK_SHARE = 0.1  # Share of test rows in the small design, as in the published splits


def _cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid(("diabetes",), (design.QUICK, design.TREES), 1)
    cells = grid(design.SETS, installed(REGRESSORS), design.SPLITS)
    return _affordable(cells, design.SETS, (design.SPARSE,))


def _fold_cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid(("breast_cancer",), (design.OURS, design.TREES), 1)
    regressors = [name for name in installed(REGRESSORS) if name != design.QUICK]
    cells = grid(design.FOLD_REGRESSIONS, regressors, design.FOLDS)
    classes = grid(design.FOLD_CLASSES, installed(CLASSIFIERS), design.FOLDS)
    slow = design.SPARSE, design.XRFM
    return _affordable([*cells, *classes], design.FOLD_REGRESSIONS, slow)


def _affordable(cells: Iterable[Cell], rows: Mapping[str, int], slow: Sequence[str]) -> list[Cell]:
    """Leave out tables with too many rows for a method, and further splits of slow methods."""
    return [
        cell
        for cell in cells
        if (cell.method != design.EXACT or rows[cell.dataset] <= design.MOST_EXACT)
        and (cell.method not in slow or cell.seed < design.SLOW_SPLITS)
        and (cell.method != design.XRFM or cell.dataset not in design.BEYOND_MEMORY)
    ]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    if options.from_folder and options.data:
        file = np.load(options.data / "published_splits" / f"{cell.dataset}.npz")
        X, y, is_test = file["X"], file["y"], file["is_test"][cell.seed]
    else:
        X, y = datasets.load(cell.dataset).X, datasets.load(cell.dataset).y
        is_test = np.random.default_rng(cell.seed).random(len(y)) < _QUICK_SHARE
    return measured(REGRESSORS[cell.method](cell.seed, ()), X, y, is_test)


def _run_fold(cell: Cell, options: Options) -> Mapping[str, float]:
    dataset = datasets.load(cell.dataset, folder=options.data)
    is_numbers = dataset.task == "regression"
    kind = KFold if is_numbers else StratifiedKFold
    splits = kind(design.FOLDS, shuffle=True, random_state=0).split(dataset.X, dataset.y)
    is_test = np.zeros(len(dataset.y), dtype=bool)
    is_test[list(splits)[cell.seed][1]] = True
    model = (REGRESSORS if is_numbers else CLASSIFIERS)[cell.method](cell.seed, dataset.categorical)
    metrics = dict(measured(model, dataset.X, dataset.y, is_test))
    if is_numbers:
        metrics["error"] = metrics["rmse"] ** 2 / float(np.var(dataset.y[~is_test]))
    return metrics


def measured(
    model: Any, X: NDArray[Any], y: NDArray[Any], is_test: NDArray[np.bool_]
) -> Mapping[str, float]:
    """Return the metrics of a model on test rows after its fit to the others."""
    start = perf_counter()
    model.fit(X[~is_test], y[~is_test])
    seconds = perf_counter() - start
    y, new = y[is_test], X[is_test]
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(new)
        true_probability = probability[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return {
            "log_loss": -float(np.mean(np.log(np.maximum(true_probability, _LEAST_PROBABILITY)))),
            "error_rate": float(np.mean(np.ravel(model.predict(new)) != y)),
            "fit_seconds": seconds,
        }
    rmse = float(np.sqrt(np.mean((model.predict(new) - y) ** 2)))
    if not hasattr(model, "predict_interval"):
        return {"rmse": rmse, "fit_seconds": seconds}
    mean, std = model.predict(new, return_std=True)
    lower, upper = model.predict_interval(new, level=design.INTERVAL)
    return {
        "rmse": rmse,
        "nlpd": -float(np.mean(log_density(y - mean, std))),
        "coverage": float(np.mean((lower <= y) & (y <= upper))),
        "fit_seconds": seconds,
    }


PUBLISHED = Benchmark(
    name="published",
    settings=("part",),
    introduction=page.INTRODUCTION,
    parts=(
        Part("splits", _cells, _run, page.splits),
        Part("folds", _fold_cells, _run_fold, page.folds),
    ),
)
