"""Memory of a fit that learns its kernel, and a gradient next to its own matrix products."""

from collections.abc import Mapping, Sequence

from benchmarks.bank.speed import gradient_seconds
from benchmarks.results import Row
from benchmarks.speed.part import DOUBLE, SINGLE, Place, by_method, seconds_and_peak, speed_part
from benchmarks.speed.ridge import ridge_rows
from bochner._base.arrays import Array
from bochner.learned import Chains
from bochner.learned.learned_kernel_regressor import LearnedKernelRegressor

FIT, GRADIENT, PRODUCTS = "one trajectory", "gradient", "its products alone"


def bank_metrics(method: str, n: int, d: int, p: int, dtype: str, seed: int) -> Mapping[str, float]:
    """Return seconds, and of a fit the megabytes at its peak, above the rows."""
    if method == FIT:
        seconds, peak = seconds_and_peak(_prepared, _fit, n, d, p, dtype, seed)
        return {"bank_seconds": seconds, "bank_megabytes": peak}
    X, y, *_ = ridge_rows(n, d)
    gradient, products = gradient_seconds(X.astype(dtype), y, p // 2, seed)
    return {"gradient_seconds": gradient if method == GRADIENT else products}


def _prepared(
    n: int, d: int, p: int, dtype: str, seed: int
) -> tuple[LearnedKernelRegressor, Array, Array]:
    X, y, *_ = ridge_rows(n, d)
    model = LearnedKernelRegressor(
        p // 2,
        "dense",
        "hmc",
        random_state=seed,
        chains=Chains(n_burn_in=0, n_samples=1, n_chains=1, thin=1, dtype=dtype),
    )
    # What is loaded and compiled once is no part of a fit.
    model.fit(X[:200], y[:200])
    return model, X, y


def _fit(prepared: tuple[LearnedKernelRegressor, Array, Array]) -> None:
    model, X, y = prepared
    model.fit(X, y)


def _places(quick: bool) -> Sequence[Place]:
    n, d, p = (2_000, 3, 16) if quick else (500_000, 20, 512)
    return [
        Place(method, n, d, p, dtype, repetitions=1 if quick else 2)
        for dtype in (DOUBLE, SINGLE)
        for method in (FIT, GRADIENT, PRODUCTS)
    ]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**A learned kernel on many rows**, of p/2 frequencies: the seconds of a fit of a single "
        "trajectory of eight gradients, and the megabytes at its peak, above the rows;",
        by_method(rows, "bank_seconds"),
        by_method(rows, "bank_megabytes"),
        "and the seconds of one step, its sums and its gradient, and of its matrix products alone.",
        by_method(rows, "gradient_seconds", GRADIENT),
    )


BANK = speed_part("bank", _places, bank_metrics, _page)
