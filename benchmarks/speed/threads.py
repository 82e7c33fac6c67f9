"""Seconds of one and of two threads, for the work that threads share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from benchmarks.harness import Cell, Options, Part
from benchmarks.results import Row, median_table
from benchmarks.speed.ridge import ridge_model, ridge_rows
from bochner import Forecaster, FourierFeatures, LearnedKernelRegressor, TableRegressor
from bochner.kernels import Gaussian
from bochner.learned import Chains

ONE, TWO = "one thread", "two threads"
THREADS = {ONE: 1, TWO: 2}

_REPETITIONS = 3  # Medians of three differ by some per cent

_LENGTH = 100  # Values of a series, eight years of months


Work = Callable[[], object]


def _map(n: int, n_threads: int) -> Work:
    X = np.random.default_rng(0).normal(size=(n, 22)).astype(np.float32)
    features = FourierFeatures(Gaussian(1.2), 1024, random_state=0).fit(X[:100])
    return lambda: features.transform(X)


def _ridge(n: int, n_threads: int) -> Work:
    X, y, _, _ = ridge_rows(n, 20)
    return lambda: ridge_model(20, min(2_048, n), 0).fit(X, y)


def _table(n: int, n_threads: int) -> Work:
    X, y, _, _ = ridge_rows(n, 8)
    return lambda: TableRegressor(random_state=0).fit(X, y)


def _chains(n: int, n_threads: int) -> Work:
    X, y, _, _ = ridge_rows(n, 8)
    model = LearnedKernelRegressor(
        100, n_jobs=n_threads, random_state=0, chains=Chains(n_burn_in=20, n_samples=20, n_chains=4)
    )
    return lambda: model.fit(X, y)


def _series(n: int, n_threads: int) -> Work:
    rng, months = np.random.default_rng(0), np.arange(_LENGTH)
    waves = np.sin(2.0 * np.pi * months / 12.0)
    series = [waves + np.cumsum(0.1 * rng.normal(size=_LENGTH)) for _ in range(n)]
    model = Forecaster(periods=[12], n_jobs=1, random_state=0)
    return lambda: Parallel(n_threads)(delayed(clone(model).fit)(y) for y in series)


TASKS: Mapping[str, tuple[Callable[[int, int], Work], int, int]] = {
    "feature map, float32, 1,024 features": (_map, 200_000, 2_000),
    "ridge regression, 2,048 features": (_ridge, 100_000, 500),
    "table of 8 columns": (_table, 3_000, 200),
    "learned kernel, n_jobs of four chains": (_chains, 2_000, 100),
    "forecasts, a process for each thread": (_series, 100, 2),
}
"""By name: what prepares the work, and its rows (or series) in a full and in a quick run."""


def _cells(options: Options) -> Iterable[Cell]:
    for task, (_, full, quick) in TASKS.items():
        n = quick if options.quick else full
        for seed in range(1 if options.quick else _REPETITIONS):
            for method in THREADS:
                yield Cell(task, method, seed, {"dtype": "", "n": n, "d": 0, "p": 0})


def _measured(cell: Cell, options: Options) -> Mapping[str, float]:
    n_threads = THREADS[cell.method]
    work = TASKS[cell.dataset][0](int(cell.settings["n"]), n_threads)
    with threadpool_limits(n_threads):
        work()  # Loops are compiled, processes started, memory was used before
        start = perf_counter()
        work()
        return {"thread_seconds": perf_counter() - start}


def _page(rows: Sequence[Row]) -> Sequence[str]:
    chosen = [row for row in rows if row["metric"] == "thread_seconds"]
    table = median_table(
        chosen, index=("dataset", "n"), columns="method", metric="thread_seconds", ratio_to=TWO
    )
    return (
        "**One and two threads**, seconds and their ratio to those of two threads.",
        table.replace("| dataset |", "| work |", 1),
    )


SHARED = Part("threads", _cells, _measured, _page)
