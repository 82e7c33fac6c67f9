"""The posterior on features against the exact one with the same parameters."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from benchmarks.evidence import design
from benchmarks.evidence.training import Split, ours, split
from benchmarks.harness import Cell, Options, Part, grid
from benchmarks.pictures import Picture
from benchmarks.predictions import log_density
from benchmarks.results import Row, median_table, medians
from bochner import FourierFeatures, KreinRidge
from bochner._base.arrays import Array
from bochner.kernels import Kernel


def exact_posterior(
    kernel: Kernel, alpha: float, X: Array, y: Array, X_test: Array
) -> tuple[Array, Array]:
    """Return means and standard deviations (n2,) of new targets, by n by n matrices.

    The variance of the noise is its maximum-likelihood value, as in :class:`bochner.KreinRidge`.
    """
    lower = cholesky(kernel(X) / alpha + np.eye(len(X)), lower=True)
    solved = cho_solve((lower, True), y)
    cross = kernel(X_test, X) / alpha
    explained = np.sum(solve_triangular(lower, cross.T, lower=True) ** 2, axis=0)
    variance = float(y @ solved) / len(y) * (1.0 + 1.0 / alpha - explained)
    return cross @ solved, np.sqrt(variance)


def _cells(options: Options) -> list[Cell]:
    if not options.from_folder:
        counts = design.QUICK_APPROXIMATIONS
        return grid(("diabetes",), design.SCHEMES, 1, p=counts, n=(0,))
    return [
        Cell(name, scheme, seed, {"p": p, "n": 0})
        for seed in design.SPLITS
        for name in design.SETS
        for p in design.APPROXIMATIONS
        for scheme in design.SCHEMES
    ]


@lru_cache(maxsize=1)
def _reference(
    dataset: str, seed: int, options: Options
) -> tuple[Split, Kernel, float, Array, Array]:
    """Return rows, the kernel and alpha learned by 1,024 features, and the exact predictions."""
    (X, y, X_test, y_test), _ = split(Cell(dataset, "", seed), options)
    chosen = np.random.default_rng(seed).permutation(len(y))[: design.EXACT_ROWS]
    X, y = X[chosen], y[chosen]
    p = design.QUICK_FEATURES[0] if options.quick else design.FEATURES[0]
    learned = ours(p, seed).fit(X, y)
    kernel = learned.kernel_
    assert isinstance(kernel, Kernel)
    exact = exact_posterior(kernel, learned.alpha_, X, y, X_test)
    return (X, y, X_test, y_test), kernel, learned.alpha_, *exact


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    (X, y, X_test, y_test), kernel, alpha, mean, std = _reference(cell.dataset, cell.seed, options)
    p = int(cell.settings["p"])
    model = KreinRidge(
        alpha=alpha,
        features=FourierFeatures(kernel, p, scheme=cell.method, length_scale="auto"),
        random_state=cell.seed,
    ).fit(X, y)
    approximate_mean, spread = model.predict(X_test, return_std=True)
    densities = log_density(y_test - mean, std) - log_density(y_test - approximate_mean, spread)
    rmse, exact = (
        float(np.sqrt(np.mean((prediction - y_test) ** 2)))
        for prediction in (approximate_mean, mean)
    )
    return {
        "mean_error": float(np.sqrt(np.mean((approximate_mean - mean) ** 2))) / float(np.mean(std)),
        "std_error": float(np.sqrt(np.mean((spread / std - 1.0) ** 2))),
        "rmse_ratio": rmse / exact,
        "nlpd_gap": float(np.mean(densities)),
    }


_TITLES = {
    "mean_error": "**Means**: root mean square difference, in exact standard deviations.",
    "std_error": "**Standard deviations**: root mean square relative difference.",
    "rmse_ratio": "**Root mean square error** on test rows, relative to that of the exact one.",
    "nlpd_gap": "**Negative log predictive density** on test rows, less that of the exact one.",
}


def _page(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Approximation.** The posterior on p features against the exact one with the same length "
        f"scales, noise and signal, on at most {design.EXACT_ROWS:,} training rows: what differs "
        "is approximation alone."
    )
    for metric, title in _TITLES.items():
        yield title
        yield median_table(rows, index=["dataset", "method"], columns="p", metric=metric)


def _picture(metric: str, caption: str, ylabel: str) -> Picture:
    values = partial(medians, by=("dataset", "method", "p"), metric=metric)
    return Picture(metric.replace("_", "-"), caption, "features p", ylabel, values)


APPROXIMATION = Part(
    "approximation",
    _cells,
    _run,
    _page,
    (
        _picture(
            "mean_error",
            "Difference of the posterior mean from the exact one, by the number of features.",
            "difference of means",
        ),
        _picture(
            "std_error",
            "Relative difference of standard deviations from the exact ones.",
            "difference of deviations",
        ),
    ),
)
