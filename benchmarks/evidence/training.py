"""Errors, densities and seconds after all parameters were learned."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import datasets
from benchmarks.evidence import design
from benchmarks.harness import Cell, Options, Part
from benchmarks.predictions import log_density
from benchmarks.results import Row, group_table, grouped, mean_error
from bochner import FourierFeatures, KreinRidge
from bochner._base.arrays import Array

_TEST_SHARE = 0.1  # Share of the rows in the small design, as in the published splits
Split = tuple[Array, Array, Array, Array]
"""Standardised training rows (n, d) and targets (n,), and those for testing."""


def split(cell: Cell, options: Options) -> tuple[Split, float]:
    """Return a split, standardised by its training rows, and the target's deviation."""
    if options.from_folder and options.data:
        file = np.load(options.data / "published_splits" / f"{cell.dataset}.npz")
        X, y, is_test = file["X"], file["y"], file["is_test"][cell.seed]
    else:
        X, y = datasets.load(cell.dataset).X, datasets.load(cell.dataset).y
        is_test = np.random.default_rng(cell.seed).random(len(y)) < _TEST_SHARE
    return standardised(X, y, is_test)


def standardised(X: Array, y: Array, is_test: NDArray[np.bool_]) -> tuple[Split, float]:
    """Return training and test rows of mean zero and variance one, and the target's deviation."""
    train, std = ~is_test, float(np.std(y[~is_test]))
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    y = (y - y[train].mean()) / std
    return (X[train], y[train], X[is_test], y[is_test]), std


def ours(p: int, seed: int, landmarks: int | None = None) -> KreinRidge:
    """Return a process on features that learns all its parameters."""
    return KreinRidge(
        alpha="evidence",
        features=FourierFeatures("gaussian", p, length_scale="evidence"),
        fit_intercept=True,
        residual=landmarks,
        random_state=seed,
    )


def _cells(options: Options) -> list[Cell]:
    if not options.from_folder:
        return [Cell("diabetes", method, 0, {"p": 0, "n": 0}) for method in design.ours(True)]
    methods = list(design.ours(False))
    slow = [design.EXACT, design.SPARSE] if find_spec("gpytorch") else []
    left_out = {(name, design.EXACT) for name in design.SETS if name not in design.EXACT_SETS}
    return [
        Cell(name, method, seed, {"p": 0, "n": 0})
        for seed in design.SPLITS
        for name in design.SETS
        for method in (*methods, *slow)
        if (name, method) not in left_out
    ]


def _process(method: str, seed: int) -> Any:
    """Return a Gaussian process in GPyTorch."""
    from benchmarks.published.processes import ExactProcess, SparseProcess

    if method == design.SPARSE:
        return SparseProcess(seed, is_gaussian=True)
    return ExactProcess(seed, is_gaussian=True)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    (X, y, X_test, y_test), scale = split(cell, options)
    p, landmarks = (design.ours(False) | design.ours(True)).get(cell.method, (0, None))
    model = ours(p, cell.seed, landmarks) if p else _process(cell.method, cell.seed)
    with threadpool_limits(design.THREADS):
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        mean, std = model.predict(X_test, return_std=True)
    return {
        "rmse": scale * float(np.sqrt(np.mean((mean - y_test) ** 2))),
        "nlpd": float(np.log(scale) - np.mean(log_density(y_test - mean, std))),
        "fit_seconds": seconds,
    }


_TITLES = {
    "rmse": "**Root mean square error** on test rows.",
    "nlpd": "**Negative log predictive density**, mean over test rows.",
    "fit_seconds": "**Seconds** to learn all parameters and fit.",
}


def _page(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Training.** One length scale per input, noise and signal by marginal likelihood, on "
        f"split {design.SPLITS[0]} of those that are published. Kernels are Gaussian."
    )
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    for metric, title in _TITLES.items():
        yield title
        show = mean_error() if metric != "fit_seconds" else _mean
        yield group_table(grouped(rows, metric), methods, show)


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3g}"


TRAINING = Part("training", _cells, _run, _page)
