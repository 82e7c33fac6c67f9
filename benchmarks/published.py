"""Test errors, log densities and intervals on published splits of tables, with default settings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, median_table
from bochner import TableRegressor, datasets

_SETS = ("yacht", "energy", "wine_red", "boston", "concrete", "kin8nm", "power_plant", "naval")
_SPLITS = 5  # The first of the 20 that are published


def _catboost(seed: int) -> Any:
    from catboost import CatBoostRegressor

    settings = {"verbose": False, "thread_count": 2, "allow_writing_files": False}
    return CatBoostRegressor(random_seed=seed, **settings)


_METHODS: Mapping[str, Callable[[int], Any]] = {
    "bochner": lambda seed: TableRegressor(n_jobs=2, random_state=seed),
    "bochner, quick": lambda seed: TableRegressor(effort="quick", n_jobs=2, random_state=seed),
    "bochner, fixed": lambda seed: TableRegressor(method="fixed", random_state=seed),
    "boosted trees": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "CatBoost": _catboost,
}


def _cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid(("diabetes",), ("bochner, quick", "boosted trees"), 1)
    return grid(_SETS, _METHODS, _SPLITS)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    if options.data and options.from_folder:
        file = np.load(options.data / "published_splits" / f"{cell.dataset}.npz")
        X, y, is_test = file["X"], file["y"], file["is_test"][cell.seed]
    else:
        X, y = datasets.load(cell.dataset).X, datasets.load(cell.dataset).y
        is_test = np.random.default_rng(cell.seed).random(len(y)) < 0.1
    start = perf_counter()
    model = _METHODS[cell.method](cell.seed).fit(X[~is_test], y[~is_test])
    seconds = perf_counter() - start
    y, new = y[is_test], X[is_test]
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
    for metric, title in (
        ("rmse", "Root mean square error on test rows."),
        ("nlpd", "Mean negative log density of test rows."),
        ("coverage", "Share of test rows in their 90 % intervals."),
        ("fit_seconds", "Seconds to fit, on two cores."),
    ):
        yield title
        yield median_table(rows, index=["dataset"], columns="method", metric=metric)


PUBLISHED = Benchmark(
    name="published",
    settings=(),
    introduction="Eight tables of the literature on Bayesian regression with their published "
    "splits, nine tenths of the rows to fit; all methods at their defaults. Medians over splits.",
    parts=(Part("error", _cells, _run, _tables),),
)
